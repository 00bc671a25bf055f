// Random parameters, batches and dropout masks for any Spec of the oracle, so that tests can sweep over models.
#pragma once

#include <cmath>
#include <string>

#include "core/rng.h"
#include "kernels/reference/encoding.h"

namespace locus::reference {

inline std::vector<double> random_values(Rng& rng, std::size_t count, double scale, double center = 0.0) {
  std::vector<double> values(count);
  for (double& v : values) v = center + scale * rng.normal();
  return values;
}

// The tensors of one encoding; 3 eigenvectors.
inline void add_encoding_params(const Spec& spec, const std::string& prefix, Rng& rng, Params<double>& params) {
  const Geometry geometry(spec);
  const auto table = [&](const char* name, int rows, int columns) {
    params[prefix + name] = random_values(rng, static_cast<std::size_t>(rows) * columns, 0.5);
  };
  const int relative_rows = geometry.axes * (2 * geometry.radius + 1);
  if (spec.pe == PeKind::kLearned) table("table", geometry.length, spec.width);
  if (spec.pe == PeKind::kSinusoidal) params[prefix + "table"] = sinusoid_table(geometry, spec.width, spec.base);
  if (spec.pe == PeKind::kLaplacian) {
    table("eigenvectors", geometry.length, 3);
    table("proj.weight", spec.width, 3);
  }
  if (spec.pe == PeKind::kRelative) table("key_table", relative_rows, spec.head_width());
  if (spec.pe == PeKind::kRelative && spec.value_term) table("value_table", relative_rows, spec.head_width());
  if (spec.pe == PeKind::kT5) table("bias_table", geometry.axes * spec.buckets, spec.heads);
  if (spec.pe == PeKind::kAlibi) table("slopes", spec.heads, 1);
}

inline void add_linear_params(const std::string& name, int out, int in, Rng& rng, Params<double>& params) {
  params[name + "weight"] = random_values(rng, static_cast<std::size_t>(out) * in, 1.2 / std::sqrt(in));
  params[name + "bias"] = random_values(rng, out, 0.3);
}

inline void add_norm_params(const std::string& name, int width, Rng& rng, Params<double>& params) {
  params[name + "weight"] = random_values(rng, width, 0.2, 1.0);
  params[name + "bias"] = random_values(rng, width, 0.2);
}

inline void add_block_params(const Spec& spec, int layer, Rng& rng, Params<double>& params) {
  const std::string at = "blocks." + std::to_string(layer) + ".";
  const std::size_t width = spec.width;
  params[at + "attn.in_proj_weight"] = random_values(rng, 3 * width * width, 1.2 / std::sqrt(spec.width));
  if (spec.attention_bias) params[at + "attn.in_proj_bias"] = random_values(rng, 3 * width, 0.3);
  if (spec.attention_output) {
    params[at + "attn.out_proj.weight"] = random_values(rng, width * width, 1.2 / std::sqrt(spec.width));
    if (spec.attention_bias) params[at + "attn.out_proj.bias"] = random_values(rng, width, 0.3);
  }
  add_norm_params(at + "norm1.", spec.width, rng, params);
  add_norm_params(at + "norm2.", spec.width, rng, params);
  add_linear_params(at + "mlp.0.", spec.mlp_width, spec.width, rng, params);
  add_linear_params(at + "mlp.2.", spec.width, spec.mlp_width, rng, params);
  if (!spec.pe_shared && !spec.pe_input_only) add_encoding_params(spec, at + "pe.", rng, params);
}

// Every tensor of the model, with a mask_token.
inline Params<double> random_params(const Spec& spec, Rng& rng) {
  Params<double> params;
  if (spec.embed_linear) {
    add_linear_params("embed.", spec.width, spec.features, rng, params);
    params["mask_token"] = random_values(rng, spec.width, 0.5);
  }
  if (spec.readout == Readout::kCls) params["cls_token"] = random_values(rng, spec.width, 0.5);
  if (spec.pe_shared || spec.pe_input_only) add_encoding_params(spec, "pe.", rng, params);
  for (int l = 0; l < spec.layers; ++l) add_block_params(spec, l, rng, params);
  if (spec.pre_norm) add_norm_params("norm.", spec.width, rng, params);
  const int in = spec.width * (spec.readout == Readout::kFlat ? spec.length() : 1);
  if (spec.head_hidden > 0) {
    add_linear_params("head.0.", spec.head_hidden, in, rng, params);
    add_linear_params("head.2.", spec.outputs, spec.head_hidden, rng, params);
  } else {
    add_linear_params("head.", spec.outputs, in, rng, params);
  }
  return params;
}

inline Batch random_batch(const Spec& spec, int examples, Rng& rng) {
  Batch batch;
  batch.examples = examples;
  const std::size_t tokens = static_cast<std::size_t>(examples) * spec.tokens;
  batch.features = random_values(rng, tokens * spec.features, 1.0);
  if (spec.readout == Readout::kMasked) {
    for (std::size_t t = 0; t < tokens; ++t) batch.masked.push_back(t % spec.tokens == 0 || rng.uniform() < 0.5);
  }
  for (int b = 0; b < examples; ++b) {
    batch.read_token.push_back(rng.below(static_cast<std::uint32_t>(spec.tokens)));
    batch.labels.push_back(rng.below(static_cast<std::uint32_t>(spec.outputs)));
  }
  const bool per_token = spec.readout == Readout::kEvery || spec.readout == Readout::kMasked;
  batch.targets = random_values(rng, (per_token ? tokens : examples) * spec.outputs, 1.0);
  return batch;
}

inline std::vector<double> random_dropout(Rng& rng, std::size_t count, double p) {
  std::vector<double> factors(count);
  for (double& f : factors) f = rng.uniform() < p ? 0.0 : 1.0 / (1.0 - p);
  return factors;
}

// Dropout of 0.3 everywhere and random signs of 3 eigenvectors.
inline Noise random_noise(const Spec& spec, int examples, Rng& rng) {
  Noise noise(spec.layers);
  const std::size_t length = spec.length(), rows = examples * length * spec.width;
  for (int l = 0; l < spec.layers; ++l) {
    const PeKind kind = spec.pe_of_block(l);
    if (kind == PeKind::kLearned || kind == PeKind::kSinusoidal || kind == PeKind::kLaplacian) {
      noise[l].input = random_dropout(rng, rows, 0.3);
    }
    noise[l].pattern = random_dropout(rng, examples * spec.heads * length * length, 0.3);
    noise[l].attention = random_dropout(rng, rows, 0.3);
    noise[l].mlp = random_dropout(rng, rows, 0.3);
    for (int k = 0; k < 3; ++k) noise[l].signs.push_back(rng.uniform() < 0.5 ? -1.0 : 1.0);
  }
  return noise;
}

}  // namespace locus::reference
