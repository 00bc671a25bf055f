#include "train/optimizer.h"

#include <charconv>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "kernels/optimizer.h"

namespace locus {
namespace {

struct Rule {
  std::string pattern;
  double factor;
};

std::vector<Rule> parse_rules(const std::vector<std::string>& texts, const char* key) {
  std::vector<Rule> rules;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    Rule rule{text.substr(0, equals), 0};
    bool good = equals != std::string::npos && equals > 0;
    if (good) {
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, rule.factor);
      good = error == std::errc{} && stop == end && rule.factor >= 0;
    }
    if (!good) {
      throw ConfigError({.what = std::string(key) + " holds \"pattern=factor\"",
                         .where = "",
                         .got = text,
                         .expected = "for example \"*pe.*=0.1\""});
    }
    rules.push_back(rule);
  }
  return rules;
}

double factor_for(const std::vector<Rule>& rules, const std::string& name) {
  for (const Rule& r : rules) {
    if (matches_pattern(r.pattern, name)) return r.factor;
  }
  return 1;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip) {
      if (matches_pattern(pattern.substr(1), name.substr(skip))) return true;
    }
    return false;
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return matches_pattern(pattern.substr(1), name.substr(1));
}

std::vector<TensorGroup> tensor_groups(const OptimConfig& config, const ParamLayout& layout) {
  const std::vector<Rule> lr = parse_rules(config.group_lr, "optim.group_lr");
  const std::vector<Rule> decay = parse_rules(config.group_decay, "optim.group_decay");
  std::vector<TensorGroup> groups;
  for (const TensorSlot& s : layout.slots()) groups.push_back({factor_for(lr, s.name), factor_for(decay, s.name)});
  return groups;
}

double scheduled_lr(const OptimConfig& c, std::int64_t step) {
  if (c.schedule == Schedule::kConstant) return c.lr;
  if (step < c.warmup_steps) return c.lr * static_cast<double>(step + 1) / static_cast<double>(c.warmup_steps);
  if (c.schedule == Schedule::kWarmup) return c.lr;
  const double progress =
      std::min(1.0, static_cast<double>(step - c.warmup_steps) / static_cast<double>(c.schedule_steps - c.warmup_steps));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return c.lr * (c.final_lr_fraction + (1 - c.final_lr_fraction) * cosine);
}

Optimizer::Optimizer(const OptimConfig& config, const ParamLayout& layout)
    : config_(config), layout_(layout), groups_(tensor_groups(config, layout)) {
  const auto n = static_cast<std::size_t>(layout.floats());
  const bool adam = config.kind != OptimizerKind::kSgd;
  if (adam || config.momentum > 0) moment1_ = AlignedBuffer<float>(n);
  if (adam) moment2_ = AlignedBuffer<float>(n);
}

double Optimizer::gradient_norm(const float* grads) const {
  double total = 0;
  for (const TensorSlot& s : layout_.slots()) {
    if (s.trained) total += kernels::sum_of_squares(grads + s.offset, s.size);
  }
  return std::sqrt(total);
}

double Optimizer::update(std::int64_t step, const float* grads, float* params, const std::vector<bool>& skip) {
  const double norm = gradient_norm(grads);
  float scale = 1;
  if (config_.clip_norm > 0) scale = static_cast<float>(std::min(1.0, config_.clip_norm / (norm + 1e-6)));
  const double lr = scheduled_lr(config_, step);
  const auto t = static_cast<double>(step + 1);
  for (std::size_t i = 0; i < layout_.slots().size(); ++i) {
    const TensorSlot& s = layout_.slots()[i];
    if (!s.trained || (!skip.empty() && skip[i])) continue;
    const auto rate = static_cast<float>(lr * groups_[i].lr_factor);
    const auto decay = static_cast<float>(config_.weight_decay * groups_[i].decay_factor);
    if (config_.kind == OptimizerKind::kSgd) {
      const kernels::SgdUpdate u{rate, static_cast<float>(config_.momentum), decay, scale, step == 0};
      kernels::sgd_update(u, params + s.offset, grads + s.offset,
                          config_.momentum > 0 ? moment1_.data() + s.offset : nullptr, s.size);
      continue;
    }
    kernels::AdamUpdate u;
    u.lr = rate;
    u.beta1 = static_cast<float>(config_.beta1);
    u.beta2 = static_cast<float>(config_.beta2);
    u.eps = static_cast<float>(config_.eps);
    u.weight_decay = decay;
    u.decoupled = config_.kind == OptimizerKind::kAdamW;
    u.correction1 = 1 - std::pow(config_.beta1, t);
    u.correction2 = 1 - std::pow(config_.beta2, t);
    u.gradient_scale = scale;
    kernels::adam_update(u, {params + s.offset, grads + s.offset, moment1_.data() + s.offset, moment2_.data() + s.offset},
                         s.size);
  }
  return norm;
}

}  // namespace locus
