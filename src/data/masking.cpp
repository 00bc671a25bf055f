#include "data/masking.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"

namespace locus {
namespace {

std::vector<std::uint8_t> fixed_set(const std::vector<double>& listed, std::int64_t tokens) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(tokens), 0);
  for (const double value : listed) {
    if (value != std::floor(value) || value < 0 || value >= static_cast<double>(tokens)) {
      throw ConfigError({.what = "mask.tokens names a token that does not exist",
                         .where = "mask.tokens",
                         .got = fmt::format("{}", value),
                         .expected = fmt::format("whole numbers from 0 to {}", tokens - 1)});
    }
    mask[static_cast<std::size_t>(value)] = 1;
  }
  return mask;
}

}  // namespace

Masker::Masker(const MaskConfig& config, const TokenInfo& info, std::int64_t tokens) : tokens_(tokens) {
  if (tokens < 2) {
    throw DataError({.what = "masked prediction needs at least two tokens",
                     .where = "data",
                     .got = fmt::format("{}", tokens),
                     .expected = "one token to hide and one to see"});
  }
  switch (config.kind) {
    case MaskKind::kRandom:
      if (config.count >= tokens) {
        throw ConfigError({.what = "mask.count hides every token",
                           .where = "mask.count",
                           .got = fmt::format("{}", config.count),
                           .expected = fmt::format("at most {} of {} tokens", tokens - 1, tokens)});
      }
      random_count_ = config.count > 0 ? config.count : std::llround(config.ratio * static_cast<double>(tokens));
      random_count_ = std::clamp<std::int64_t>(random_count_, 1, tokens - 1);
      return;
    case MaskKind::kFixed:
      sets_.push_back(fixed_set(config.tokens, tokens));
      break;
    case MaskKind::kNetwork:
      use_groups(info.labels, "networks", "give an atlas with a network column (series.atlas) or labels");
      break;
    case MaskKind::kHemisphere:
      use_groups(info.hemispheres, "hemispheres", "give an atlas with a hemisphere column (series.atlas)");
      break;
  }
  for (const auto& set : sets_) {
    const std::int64_t hidden = std::count(set.begin(), set.end(), 1);
    if (hidden == 0 || hidden == tokens) {
      throw ConfigError({.what = "a mask hides all tokens or none",
                         .where = "mask",
                         .got = fmt::format("{} of {} hidden", hidden, tokens),
                         .expected = "some hidden, some visible",
                         .hint = "use mask.kind=random, or another set"});
    }
  }
}

void Masker::use_groups(const std::vector<std::int32_t>& groups, const char* what, const char* hint) {
  std::set<std::int32_t> present;
  for (const std::int32_t g : groups) {
    if (g >= 0) present.insert(g);
  }
  if (static_cast<std::int64_t>(groups.size()) != tokens_ || present.empty()) {
    throw ConfigError({.what = fmt::format("mask.kind hides whole {}, but the tokens have none", what),
                       .where = "mask.kind",
                       .got = "",
                       .expected = "",
                       .hint = hint});
  }
  for (const std::int32_t g : present) {
    std::vector<std::uint8_t> set(groups.size());
    for (std::size_t t = 0; t < groups.size(); ++t) set[t] = groups[t] == g ? 1 : 0;
    sets_.push_back(std::move(set));
  }
}

void Masker::draw(Rng& rng, std::uint8_t* out) const {
  if (random_count_ == 0) {
    const std::size_t pick = sets_.size() == 1 ? 0 : rng.below(static_cast<std::uint32_t>(sets_.size()));
    std::copy(sets_[pick].begin(), sets_[pick].end(), out);
    return;
  }
  // Selection sampling: token t is hidden with probability (still to hide) / (tokens left).
  std::int64_t left = random_count_;
  for (std::int64_t t = 0; t < tokens_; ++t) {
    const bool hide = static_cast<std::int64_t>(rng.below(static_cast<std::uint32_t>(tokens_ - t))) < left;
    out[t] = hide ? 1 : 0;
    left -= hide ? 1 : 0;
  }
}

void hide_missing(Examples& e, std::int64_t tokens, Hiding hiding) {
  if (e.missing.empty()) return;
  if (hiding == Hiding::kMissingOnly) e.masks.assign(e.missing.size(), kShown);
  for (std::size_t i = 0; i < e.missing.size(); ++i) {
    if (e.missing[i] != 0) e.masks[i] = kMissing;
  }
  if (hiding == Hiding::kMissingOnly) return;
  for (std::int64_t i = 0; i < e.count; ++i) {
    const auto mask = e.masks.begin() + i * tokens;
    if (std::find(mask, mask + tokens, kHidden) != mask + tokens) continue;
    if (const auto shown = std::find(mask, mask + tokens, kShown); shown != mask + tokens) *shown = kHidden;
  }
}

std::vector<std::uint8_t> evaluation_masks(const Masker& masker, std::int64_t eval_seed, const std::string& split,
                                           std::int64_t count) {
  Rng rng(static_cast<std::uint64_t>(eval_seed), "mask/" + split);
  std::vector<std::uint8_t> masks(static_cast<std::size_t>(count * masker.tokens()));
  for (std::int64_t i = 0; i < count; ++i) masker.draw(rng, masks.data() + i * masker.tokens());
  return masks;
}

void fill_evaluation_masks(Dataset& dataset, const MaskConfig& config) {
  const Masker masker(config, dataset.tokens_info, dataset.tokens);
  for (auto& [name, examples] : dataset.splits) {
    examples.masks = evaluation_masks(masker, config.eval_seed, name, examples.count);
    hide_missing(examples, dataset.tokens, Hiding::kAsks);
  }
}

}  // namespace locus
