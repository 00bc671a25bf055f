// What the oracle computes: the model of docs/model.md as one plain struct, a batch, and dropout masks given as arrays.
// Letters: B examples, T tokens (CLS included), F features, C width, H heads, D = C/H, M MLP width, O outputs, X axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/pe_kind.h"

namespace locus::reference {

using locus::PeKind;
enum class Readout { kToken, kGiven, kMean, kCls, kFlat, kEvery, kMasked };
enum class Task { kClassification, kRegression };

struct Spec {
  int tokens = 0;  // without a CLS token
  int features = 0;
  int outputs = 0;
  Task task = Task::kClassification;

  bool embed_linear = true;
  int width = 0;
  int layers = 0;
  int heads = 1;
  int mlp_width = 0;
  bool pre_norm = false;
  bool mlp_final_gelu = false;
  bool causal = false;
  bool attention_bias = true;
  bool attention_output = true;
  double logit_scale = 1.0;
  double position_logit_scale = 1.0;
  Readout readout = Readout::kToken;
  int readout_token = -1;
  int head_hidden = 0;
  double output_gain = 1.0;

  PeKind pe = PeKind::kNone;
  bool pe_input_only = false;  // placement = "input"
  bool pe_shared = false;
  std::vector<std::vector<double>> coordinates = {};  // one row a token, unscaled; empty: the index
  double coord_scale = 1.0;
  double base = 10000.0;
  double rotary_fraction = 1.0;
  int max_distance = 0;
  int buckets = 32;
  bool value_term = false;

  int length() const { return tokens + (readout == Readout::kCls ? 1 : 0); }
  int head_width() const { return width / heads; }
  // Where block l's encoding keeps its tensors.
  std::string pe_prefix(int layer) const {
    return pe_shared || pe_input_only ? "pe." : "blocks." + std::to_string(layer) + ".pe.";
  }
  PeKind pe_of_block(int layer) const { return pe_input_only && layer > 0 ? PeKind::kNone : pe; }
};

// Tensors by the names of docs/model.md, row-major. Optional ones (biases, mask_token) act when they are there.
template <class S>
using Params = std::map<std::string, std::vector<S>>;

struct Batch {
  int examples = 0;
  std::vector<double> features = {};          // (B, tokens, F), or
  std::vector<std::int64_t> ids = {};         // (B, tokens), -1 a blank
  std::vector<std::uint8_t> masked = {};      // (B, tokens) or empty
  std::vector<std::int64_t> read_token = {};  // (B), Readout::kGiven
  std::vector<std::int64_t> labels = {};      // (B), classification
  std::vector<double> targets = {};           // (B, O), or (B, tokens, O) for kEvery and kMasked
};

// Factors of one block in training: 0 or 1/(1-p) for dropout, +-1 for signs; an empty array means all ones.
struct BlockNoise {
  std::vector<double> input = {};      // (B, T, C), after adding a table
  std::vector<double> pattern = {};    // (B, H, T, T)
  std::vector<double> attention = {};  // (B, T, C)
  std::vector<double> mlp = {};        // (B, T, C)
  std::vector<double> signs = {};      // (k), Laplacian
};
using Noise = std::vector<BlockNoise>;  // one per block, or empty

template <class S>
const std::vector<S>& tensor(const Params<S>& params, const std::string& name) {
  const auto found = params.find(name);
  LOCUS_CHECK(found != params.end(), "the reference needs tensor " + name);
  return found->second;
}

// nullptr when the tensor is not there.
template <class S>
const std::vector<S>* optional_tensor(const Params<S>& params, const std::string& name) {
  const auto found = params.find(name);
  return found == params.end() ? nullptr : &found->second;
}

template <class S>
std::vector<S>* optional_tensor(Params<S>& params, const std::string& name) {
  const auto found = params.find(name);
  return found == params.end() ? nullptr : &found->second;
}

}  // namespace locus::reference
