// What a sweep varies: read from a sweep file or from comma lists on the command line over a plain configuration.
// docs/sweeps.md describes the file.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/run_config.h"

namespace locus {

using KeyValue = std::pair<std::string, FieldValue>;

// Keys that are varied together: rows[i][k] is the value of keys[k].
struct SweepAxis {
  std::vector<std::string> keys;
  std::vector<std::vector<FieldValue>> rows;
};

// A key that means something only where each of `needs` has one of its values.
struct SweepCondition {
  std::string key;
  std::vector<std::pair<std::string, std::vector<FieldValue>>> needs;
};

// One base configuration and the axes whose product is run over it.
struct SweepCase {
  std::string name;
  RunConfig base;
  std::vector<SweepAxis> axes;
};

struct SweepSpec {
  std::string metric;  // watched while the sweep runs; "" when the file names none
  std::vector<SweepCase> cases;
  std::vector<SweepCondition> conditions;
  std::vector<std::vector<KeyValue>> skips;  // cells that match all values of one are left out
};

struct SweepSource {
  std::string file;                    // a sweep file or a configuration; may be empty
  std::vector<std::string> overrides;  // "key=value", "key=a,b,c", "key=0..14", "key=1e-4..1e-2:5:log"
  std::vector<std::string> when;       // "pe.sigma: pe.kind=learned"
};
SweepSpec load_sweep(const SweepSource& source);

// The values of "a,b", "0..14", "0.1..2:5" (linear) or "0.1..2:5:log" for a key; ConfigError for others.
std::vector<FieldValue> sweep_values(const std::string& key, std::string_view text, const std::string& where);

// As shown in tables: numbers shortest, texts without quotes.
std::string plain_text(const FieldValue& value);

}  // namespace locus
