#include "train/optimizer.h"

#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>

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

constexpr std::int64_t kPieceFloats = 1 << 16;

template <class Body>
void for_each(ThreadPool* pool, std::size_t n, Body&& body) {
  if (pool != nullptr) {
    pool->run(static_cast<int>(n), [&](int i, int) { body(static_cast<std::size_t>(i)); });
  } else {
    for (std::size_t i = 0; i < n; ++i) body(i);
  }
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
    : config_(config), row_(optimizer_row(config.kind)), groups_(tensor_groups(config, layout)) {
  for (std::size_t i = 0; i < layout.slots().size(); ++i) {
    const TensorSlot& s = layout.slots()[i];
    if (!s.trained) continue;
    for (std::int64_t first = 0; first < s.size; first += kPieceFloats)
      pieces_.push_back({i, s.offset + first, std::min(kPieceFloats, s.size - first)});
  }
  for (int i = 0; i < row_.states(config); ++i) states_.emplace_back(static_cast<std::size_t>(layout.floats()));
}

double Optimizer::gradient_norm(const float* grads, ThreadPool* pool) const {
  std::vector<double> squares(pieces_.size());
  for_each(pool, pieces_.size(),
           [&](std::size_t i) { squares[i] = kernels::sum_of_squares(grads + pieces_[i].offset, pieces_[i].size); });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

void Optimizer::update_piece(const Piece& piece, std::int64_t step, float scale, const float* grads, float* params) {
  const TensorGroup& group = groups_[piece.slot];
  OptimizerStep here;
  here.step = step;
  here.lr = static_cast<float>(scheduled_lr(config_, step) * group.lr_factor);
  here.weight_decay = static_cast<float>(config_.weight_decay * group.decay_factor);
  here.gradient_scale = scale;
  std::vector<float*> states;
  for (AlignedBuffer<float>& s : states_) states.push_back(s.data() + piece.offset);
  row_.update(config_, here, {params + piece.offset, grads + piece.offset, states, piece.size});
}

double Optimizer::update(std::int64_t step, const float* grads, float* params, const std::vector<bool>& skip,
                         ThreadPool* pool) {
  const double norm = gradient_norm(grads, pool);
  float scale = 1;
  if (config_.clip_norm > 0) scale = static_cast<float>(std::min(1.0, config_.clip_norm / (norm + 1e-6)));
  for_each(pool, pieces_.size(), [&](std::size_t i) {
    if (skip.empty() || !skip[pieces_[i].slot]) update_piece(pieces_[i], step, scale, grads, params);
  });
  return norm;
}

}  // namespace locus
