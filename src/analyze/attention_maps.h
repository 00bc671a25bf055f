// Attention maps of a model over examples: means by layer and head, by example, entropy.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/chosen_examples.h"

namespace locus {

struct MapShape {
  std::int64_t examples = 0, layers = 0, heads = 0, tokens = 0;  // tokens: a CLS token included
  std::int64_t area() const { return tokens * tokens; }
};

struct AttentionMaps {
  MapShape shape;
  std::vector<float> mean;       // (L, H, T, T) over examples
  std::vector<float> example;    // (N, T, T) over heads and layers
  std::vector<float> by_layer;   // (N, L, T, T) over heads; empty when it would be too large
  std::vector<float> kept;       // (K, L, H, T, T)
  std::vector<double> entropy;   // (L, H), nats
  std::vector<double> diagonal;  // (L, H)

  std::span<const float> layer_map(std::int64_t n, std::int64_t layer) const {
    return part(by_layer, n * shape.layers + layer);
  }
  std::span<const float> mean_map(std::int64_t layer, std::int64_t head) const {
    return part(mean, layer * shape.heads + head);
  }
  bool has_layers() const { return !by_layer.empty(); }

 private:
  std::span<const float> part(const std::vector<float>& v, std::int64_t index) const {
    return {v.data() + index * shape.area(), static_cast<std::size_t>(shape.area())};
  }
};

// Maps of the first `keep` examples are stored one by one.
AttentionMaps attention_maps(const AnalysisRun& run, const AnalysisModel& model, const Examples& examples,
                             std::int64_t keep);

// So many examples that their maps fit into memory; at least 1, at most `wanted`.
std::int64_t affordable_examples(std::int64_t tokens, std::int64_t wanted);

}  // namespace locus
