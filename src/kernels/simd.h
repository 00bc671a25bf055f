// Several floats at a time, on the compiler's vector types: one register of SSE, AVX2 or AVX-512, two of NEON. For the
// files that are compiled once per instruction set, alone. exp, erf and GELU are own polynomials; bounds measured over all
// floats of the range: exp <= 2 ULP, erf <= 6.3 ULP (6 with fused multiply-add).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace locus::simd {

#if defined(__AVX512F__)
inline constexpr std::int64_t kLanes = 16;
#elif defined(__AVX2__) || defined(__aarch64__)
inline constexpr std::int64_t kLanes = 8;
#else
inline constexpr std::int64_t kLanes = 4;
#endif

template <std::int64_t N>
struct VectorOf {
  typedef float Floats __attribute__((vector_size(N * 4)));
  typedef std::int32_t Ints __attribute__((vector_size(N * 4)));
};
using Vec = VectorOf<kLanes>::Floats;
using VecInt = VectorOf<kLanes>::Ints;

template <class V = Vec>
inline V load(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
inline void store(float* p, V v) {
  std::memcpy(p, &v, sizeof v);
}
// Written out, as the compiler makes one broadcast of a list, but inserts lane by lane for a loop (half the speed).
template <class V, class T>
inline V repeated(T x) {
  if constexpr (kLanes == 4) {
    return V{x, x, x, x};
  } else if constexpr (kLanes == 8) {
    return V{x, x, x, x, x, x, x, x};
  } else {
    return V{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
  }
}
inline Vec splat(float x) { return repeated<Vec>(x); }
inline VecInt splat_i(std::int32_t x) { return repeated<VecInt>(x); }

// The first n < kLanes floats; the rest are `fill`.
inline Vec load_some(const float* p, std::int64_t n, float fill) {
  Vec v = splat(fill);
  std::memcpy(&v, p, static_cast<std::size_t>(n) * sizeof(float));
  return v;
}
inline void store_some(float* p, Vec v, std::int64_t n) { std::memcpy(p, &v, static_cast<std::size_t>(n) * sizeof(float)); }

// Fixed pairing, so the sum is the same wherever it is taken.
inline float sum(VectorOf<4>::Floats v) { return (v[0] + v[2]) + (v[1] + v[3]); }
inline float sum(VectorOf<8>::Floats v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }
inline float sum(VectorOf<16>::Floats v) {
  return sum(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
             __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
}
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
inline Vec min(Vec a, Vec b) { return a < b ? a : b; }
// The largest, by halves; a NaN may be lost.
inline float max_of(VectorOf<4>::Floats v) {
  const float a = v[0] > v[2] ? v[0] : v[2], b = v[1] > v[3] ? v[1] : v[3];
  return a > b ? a : b;
}
inline float max_of(VectorOf<8>::Floats v) {
  const VectorOf<4>::Floats a = __builtin_shufflevector(v, v, 0, 1, 2, 3), b = __builtin_shufflevector(v, v, 4, 5, 6, 7);
  return max_of(a > b ? a : b);
}
inline float max_of(VectorOf<16>::Floats v) {
  const VectorOf<8>::Floats a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  const VectorOf<8>::Floats b = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  return max_of(a > b ? a : b);
}
inline Vec bits_to_float(VecInt v) {
  Vec f;
  std::memcpy(&f, &v, sizeof f);
  return f;
}
inline VecInt float_to_bits(Vec v) {
  VecInt i;
  std::memcpy(&i, &v, sizeof i);
  return i;
}

// e^x for x from -87.3 to 88; 0 below (the result would not be a normal number), e^88 above. NaN stays NaN, because a
// comparison with it yields the second value.
inline Vec exp(Vec x) {
  const Vec lowest = splat(-87.33f);
  const Vec highest = splat(88.0f);
  const Vec above = lowest > x ? lowest : x;
  const Vec clamped = highest < above ? highest : above;
  // Round x / ln 2 to the nearest integer by the magic-number addition; ln 2 in two parts keeps the remainder exact.
  const Vec magic = splat(12582912.0f);
  const Vec shifted = clamped * splat(1.44269504088896341f) + magic;
  const Vec n = shifted - magic;
  Vec r = clamped - n * splat(0.693359375f);
  r = r - n * splat(-2.12194440e-4f);
  Vec p = splat(1.9875691500e-4f);
  p = p * r + splat(1.3981999507e-3f);
  p = p * r + splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + r + splat(1.0f);
  // The magic number's low bits hold the integer: shifted into the exponent they are 2^n.
  const Vec result = p * bits_to_float((float_to_bits(shifted) + splat_i(127 - 0x4B400000)) << 23);
  return lowest > x ? Vec{} : result;
}

// erf by an odd rational function, fitted here to the least relative error on [0, 3.92]; beyond that it is +-1 in float.
// The bare form may pass 1 by 3e-7 and turns NaN into 1.
inline Vec erf_bare(Vec x) {
  const Vec c = max(min(x, splat(3.92f)), splat(-3.92f));
  const Vec t = c * c;
  Vec p = splat(2.0500641177e-06f);
  p = p * t + splat(2.8488260922e-04f);
  p = p * t + splat(3.7656646065e-03f);
  p = p * t + splat(5.2748880889e-02f);
  p = p * t + splat(1.9040772948e-01f);
  p = p * t + splat(1.1283791462f);
  Vec q = splat(3.8091464624e-05f);
  q = q * t + splat(1.1625445397e-03f);
  q = q * t + splat(1.4969318457e-02f);
  q = q * t + splat(1.1410962361e-01f);
  q = q * t + splat(5.0207719793e-01f);
  q = q * t + splat(1.0f);
  return c * p / q;
}
inline Vec erf(Vec x) { return x != x ? x : max(min(erf_bare(x), splat(1.0f)), splat(-1.0f)); }

// The normal distribution function, by which GELU weighs its input (times which a NaN comes back).
inline Vec normal_cdf(Vec x) { return splat(0.5f) + splat(0.5f) * erf_bare(x * splat(0.70710678118654752f)); }

// e^-(x^2)/2 for GELU's slope; 0 where it is below 1e-37.
inline Vec bell(Vec x) {
  const Vec e = max(x * x * splat(-0.5f), splat(-87.0f));
  const Vec magic = splat(12582912.0f);
  const Vec shifted = e * splat(1.44269504088896341f) + magic;
  const Vec n = shifted - magic;
  const Vec r = e - n * splat(0.693147180559945309f);
  Vec p = splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + r + splat(1.0f);
  return p * bits_to_float((float_to_bits(shifted) + splat_i(127 - 0x4B400000)) << 23);
}

// GELU's slope where its weight, the normal distribution function, is known.
inline Vec gelu_slope(Vec x, Vec cdf) { return cdf + x * (splat(0.398942280401432678f) * bell(x)); }

}  // namespace locus::simd
