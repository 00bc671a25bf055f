#include "kernels/peak.h"

#include "kernels/simd.h"

namespace locus::kernels {
namespace {

using simd::Vec;

constexpr int kChains = 12;  // enough to hide a latency of 5 cycles on two units, few enough for 16 registers
constexpr int kTurns = 20000;

}  // namespace

Burst multiply_add_burst(float seed) {
  const Vec a = simd::splat(0.999f + seed), b = simd::splat(1e-3f);
  Vec x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = simd::splat(static_cast<float>(c) + seed);
  for (int i = 0; i < kTurns; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) x[c] = x[c] * a + b;
  }
  Vec sum = x[0];
  for (int c = 1; c < kChains; ++c) sum += x[c];
  return {simd::sum(sum), 2.0 * simd::kLanes * kChains * kTurns};
}

}  // namespace locus::kernels
