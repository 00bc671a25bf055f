// Optimiser updates on flat arrays, as PyTorch defines them.
#pragma once

#include <cstdint>

namespace locus::kernels {

struct AdamUpdate {
  float lr = 0;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float eps = 1e-8f;
  float weight_decay = 0;
  bool decoupled = false;    // AdamW
  double correction1 = 1;    // 1 - beta1^t
  double correction2 = 1;    // 1 - beta2^t
  float gradient_scale = 1;  // from clipping
};

struct AdamArrays {
  float* param;
  const float* gradient;
  float* moment1;
  float* moment2;
};
void adam_update(const AdamUpdate& update, const AdamArrays& arrays, std::int64_t n);

struct SgdUpdate {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  float gradient_scale = 1;
  bool first = false;  // the first step sets the velocity to the gradient
};
// `velocity` may be null without momentum.
void sgd_update(const SgdUpdate& update, float* param, const float* gradient, float* velocity, std::int64_t n);

double sum_of_squares(const float* x, std::int64_t n);  // in double, fixed order

}  // namespace locus::kernels
