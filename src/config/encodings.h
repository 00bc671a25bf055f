// The positional encodings: one row each, which tells what it is called, which keys matter to it, whether it trains by
// default, and how it is made. Rows stand in src/model/pe/registry.cpp, beside the encodings themselves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/pe_kind.h"

namespace locus {

struct PeConfig;
struct RunConfig;
struct PeContext;
class Encoding;

struct EncodingRow {
  PeKind kind;
  std::string_view summary;               // what `locus encodings` prints
  std::vector<std::string_view> fields;   // keys of section pe that matter to it
  bool trained = false;                   // with pe.trainable = auto
  bool adds_table = false;                // to a block's input
  std::string (*label)(const PeConfig&);  // in tables and reports, without its axes
  std::unique_ptr<Encoding> (*make)(const PeConfig&, const PeContext&);

  std::string_view name() const { return pe_kind_name(kind); }
  bool uses(std::string_view field) const;
  std::string field_list() const;  // "sigma, init, file"
};

const std::vector<EncodingRow>& encoding_rows();  // one for each kind, in order
const EncodingRow& encoding_row(PeKind kind);

// Whether the initial spread decides anything: the kind draws numbers and is not started from something else.
bool sigma_counts(const PeConfig& pe);

// The encoding of a run in words: "learned sigma 0.1", "sinusoidal 2-D", "none, causal".
std::string encoding_name(const RunConfig& config);

// A program may name variants of its own: `label` gives "" for configurations that are none of them.
void register_encoding_name(std::function<std::string(const RunConfig&)> label);

}  // namespace locus
