#include "kernels/optimizer.h"

#include <cmath>

namespace locus::kernels {

void adam_update(const AdamUpdate& u, const AdamArrays& a, std::int64_t n) {
  const float rate = static_cast<float>(static_cast<double>(u.lr) / u.correction1);
  const float root_correction = static_cast<float>(1.0 / std::sqrt(u.correction2));
  const float l2 = u.decoupled ? 0.0f : u.weight_decay;
  const float shrink = u.decoupled ? 1.0f - u.lr * u.weight_decay : 1.0f;
  const float keep1 = 1.0f - u.beta1;
  const float keep2 = 1.0f - u.beta2;
  const float beta1 = u.beta1;
  const float beta2 = u.beta2;
  const float eps = u.eps;
  const float scale = u.gradient_scale;
  float* __restrict param = a.param;
  const float* __restrict gradient = a.gradient;
  float* __restrict moment1 = a.moment1;
  float* __restrict moment2 = a.moment2;
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * scale + l2 * param[i];
    const float m = beta1 * moment1[i] + keep1 * g;
    const float v = beta2 * moment2[i] + keep2 * g * g;
    moment1[i] = m;
    moment2[i] = v;
    param[i] = param[i] * shrink - rate * m / (std::sqrt(v) * root_correction + eps);
  }
}

void sgd_update(const SgdUpdate& u, float* param, const float* gradient, float* velocity, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    float g = gradient[i] * u.gradient_scale + u.weight_decay * param[i];
    if (velocity != nullptr) {
      velocity[i] = u.first ? g : u.momentum * velocity[i] + g;
      g = velocity[i];
    }
    param[i] -= u.lr * g;
  }
}

double sum_of_squares(const float* x, std::int64_t n) {
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) lanes[k] += static_cast<double>(x[i + k]) * static_cast<double>(x[i + k]);
  }
  for (; i < n; ++i) lanes[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace locus::kernels
