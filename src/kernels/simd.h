// Eight floats at a time, on the compiler's vector types: AVX2 on x86-64-v3, two SSE or NEON registers elsewhere.
// exp, erf and GELU are own polynomials; bounds measured over all floats of the range: exp <= 2 ULP, erf <= 6.3 ULP
// (6 with fused multiply-add).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace locus::simd {

typedef float F8 __attribute__((vector_size(32)));
typedef std::int32_t I8 __attribute__((vector_size(32)));
inline constexpr std::int64_t kLanes = 8;

inline F8 load(const float* p) {
  F8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, F8 v) { std::memcpy(p, &v, sizeof v); }
inline F8 splat(float x) { return F8{x, x, x, x, x, x, x, x}; }
inline I8 splat_i(std::int32_t x) { return I8{x, x, x, x, x, x, x, x}; }

// The first n < 8 floats; the rest are `fill`.
inline F8 load_some(const float* p, std::int64_t n, float fill) {
  F8 v = splat(fill);
  std::memcpy(&v, p, static_cast<std::size_t>(n) * sizeof(float));
  return v;
}
inline void store_some(float* p, F8 v, std::int64_t n) { std::memcpy(p, &v, static_cast<std::size_t>(n) * sizeof(float)); }

// Fixed pairing, so the sum is the same wherever it is taken.
inline float sum(F8 v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }
inline F8 max(F8 a, F8 b) { return a > b ? a : b; }
inline F8 min(F8 a, F8 b) { return a < b ? a : b; }
inline float max_of(F8 v) {
  float m = v[0];
  for (int i = 1; i < 8; ++i) m = v[i] > m ? v[i] : m;
  return m;
}
inline F8 bits_to_float(I8 v) {
  F8 f;
  std::memcpy(&f, &v, sizeof f);
  return f;
}
inline I8 float_to_bits(F8 v) {
  I8 i;
  std::memcpy(&i, &v, sizeof i);
  return i;
}

// e^x; 0 below -87.3, at least 3.4e38 above 88.7 is clamped to e^88.7. NaN stays NaN.
inline F8 exp(F8 x) {
  const F8 clamped = max(min(x, splat(88.72f)), splat(-104.0f));
  // Round x / ln 2 to the nearest integer by the magic-number addition; ln 2 in two parts keeps the remainder exact.
  const F8 magic = splat(12582912.0f);
  const F8 shifted = clamped * splat(1.44269504088896341f) + magic;
  const F8 n = shifted - magic;
  F8 r = clamped - n * splat(0.693359375f);
  r = r - n * splat(-2.12194440e-4f);
  F8 p = splat(1.9875691500e-4f);
  p = p * r + splat(1.3981999507e-3f);
  p = p * r + splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + r + splat(1.0f);
  const I8 e = __builtin_convertvector(n, I8);
  // 2^e in two factors, so that results below the smallest normal number come out as denormals, not as garbage.
  const I8 half = e >> 1;
  const F8 scale1 = bits_to_float((half + splat_i(127)) << 23);
  const F8 scale2 = bits_to_float((e - half + splat_i(127)) << 23);
  const F8 result = p * scale1 * scale2;
  return x != x ? x : result;
}

// erf by an odd rational function, fitted here to the least relative error on [0, 3.92]; beyond that it is +-1 in float.
// The bare form may pass 1 by 3e-7 and turns NaN into 1.
inline F8 erf_bare(F8 x) {
  const F8 c = max(min(x, splat(3.92f)), splat(-3.92f));
  const F8 t = c * c;
  F8 p = splat(2.0500641177e-06f);
  p = p * t + splat(2.8488260922e-04f);
  p = p * t + splat(3.7656646065e-03f);
  p = p * t + splat(5.2748880889e-02f);
  p = p * t + splat(1.9040772948e-01f);
  p = p * t + splat(1.1283791462f);
  F8 q = splat(3.8091464624e-05f);
  q = q * t + splat(1.1625445397e-03f);
  q = q * t + splat(1.4969318457e-02f);
  q = q * t + splat(1.1410962361e-01f);
  q = q * t + splat(5.0207719793e-01f);
  q = q * t + splat(1.0f);
  return c * p / q;
}
inline F8 erf(F8 x) { return x != x ? x : max(min(erf_bare(x), splat(1.0f)), splat(-1.0f)); }

// The normal distribution function, by which GELU weighs its input (times which a NaN comes back).
inline F8 normal_cdf(F8 x) { return splat(0.5f) + splat(0.5f) * erf_bare(x * splat(0.70710678118654752f)); }

// e^-(x^2)/2 for GELU's slope; 0 where it is below 1e-37.
inline F8 bell(F8 x) {
  const F8 e = max(x * x * splat(-0.5f), splat(-87.0f));
  const F8 magic = splat(12582912.0f);
  const F8 shifted = e * splat(1.44269504088896341f) + magic;
  const F8 n = shifted - magic;
  const F8 r = e - n * splat(0.693147180559945309f);
  F8 p = splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + r + splat(1.0f);
  return p * bits_to_float((float_to_bits(shifted) + splat_i(127 - 0x4B400000)) << 23);
}

}  // namespace locus::simd
