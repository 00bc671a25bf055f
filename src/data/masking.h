// Which tokens of a sample are hidden: drawn anew for training, fixed per split for evaluation.
#pragma once

#include <cstdint>
#include <vector>

#include "config/masked_config.h"
#include "core/rng.h"
#include "data/examples.h"

namespace locus {

// Every mask hides at least one token and shows at least one.
//   random      exactly `count` tokens, or round(ratio * T) of them (at least 1, at most T - 1), all sets alike likely;
//               a fixed number per sample, so that errors of samples weigh the same
//   fixed       the listed tokens
//   network     all tokens of one label, labels alike likely
//   hemisphere  all tokens of one hemisphere, hemispheres alike likely
class Masker {
 public:
  // ConfigError when the tokens lack what the kind needs.
  Masker(const MaskConfig& config, const TokenInfo& info, std::int64_t tokens);

  std::int64_t tokens() const { return tokens_; }
  // Writes T bytes, 1 = hidden. Safe to call from many threads, each with its own generator.
  void draw(Rng& rng, std::uint8_t* out) const;

 private:
  void use_groups(const std::vector<std::int32_t>& groups, const char* what, const char* hint);
  std::int64_t tokens_ = 0;
  std::int64_t random_count_ = 0;                // > 0: kind = random
  std::vector<std::vector<std::uint8_t>> sets_;  // otherwise one of these masks
};

// Tokens without a value are hidden beside those that `masks` hide, and never asked for (core/token_state.h). Where tokens
// are predicted, a sample that would have nothing left to ask for is asked for its first value.
enum class Hiding { kMissingOnly, kAsks };
void hide_missing(Examples& examples, std::int64_t tokens, Hiding hiding);

// (count, T) masks of stream "mask/<split>" of mask.eval_seed: the same for every run and encoding.
std::vector<std::uint8_t> evaluation_masks(const Masker& masker, std::int64_t eval_seed, const std::string& split,
                                           std::int64_t count);

// Fills masks of every split, missing values included.
void fill_evaluation_masks(Dataset& dataset, const MaskConfig& config);

}  // namespace locus
