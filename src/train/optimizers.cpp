#include "train/optimizers.h"

#include <cmath>

#include "core/error.h"
#include "kernels/optimizer.h"

namespace locus {
namespace {

void update_adam(const OptimConfig& c, const OptimizerStep& step, const OptimizerArrays& a, bool decoupled) {
  const auto t = static_cast<double>(step.step + 1);
  kernels::AdamUpdate u;
  u.lr = step.lr;
  u.beta1 = static_cast<float>(c.beta1);
  u.beta2 = static_cast<float>(c.beta2);
  u.eps = static_cast<float>(c.eps);
  u.weight_decay = step.weight_decay;
  u.decoupled = decoupled;
  u.correction1 = 1 - std::pow(c.beta1, t);
  u.correction2 = 1 - std::pow(c.beta2, t);
  u.gradient_scale = step.gradient_scale;
  kernels::adam_update(u, {a.param, a.gradient, a.states[0], a.states[1]}, a.size);
}

void update_sgd(const OptimConfig& c, const OptimizerStep& step, const OptimizerArrays& a) {
  const kernels::SgdUpdate u{step.lr, static_cast<float>(c.momentum), step.weight_decay, step.gradient_scale,
                             step.step == 0};
  kernels::sgd_update(u, a.param, a.gradient, a.states.empty() ? nullptr : a.states[0], a.size);
}

int two_states(const OptimConfig&) { return 2; }

}  // namespace

const std::vector<OptimizerRow>& optimizer_rows() {
  static const std::vector<OptimizerRow> rows = {
      {OptimizerKind::kAdam, "Adam; weight decay is added to the gradient", "beta1, beta2, eps", two_states,
       [](const OptimConfig& c, const OptimizerStep& s, const OptimizerArrays& a) { update_adam(c, s, a, false); },
       [](OptimConfig&) {}},
      {OptimizerKind::kAdamW, "Adam with weight decay apart from the gradient", "beta1, beta2, eps", two_states,
       [](const OptimConfig& c, const OptimizerStep& s, const OptimizerArrays& a) { update_adam(c, s, a, true); },
       [](OptimConfig& c) { c.weight_decay = 0.1; }},
      {OptimizerKind::kSgd, "stochastic gradient descent, with momentum where it is set", "momentum",
       [](const OptimConfig& c) { return c.momentum > 0 ? 1 : 0; }, update_sgd,
       [](OptimConfig& c) {
         c.momentum = 0.9;
         c.clip_norm = 1;
       }},
  };
  return rows;
}

const OptimizerRow& optimizer_row(OptimizerKind kind) {
  for (const OptimizerRow& row : optimizer_rows()) {
    if (row.kind == kind) return row;
  }
  check_failed("a row for every optimiser", __FILE__, __LINE__,
               std::string(kOptimizerNames[static_cast<std::size_t>(kind)]));
}

std::string optimizer_state_name(std::size_t state) { return "moment" + std::to_string(state + 1); }

}  // namespace locus
