// Several floats at a time, on the compiler's vector types: one register of SSE, AVX2 or AVX-512, two of NEON. For the
// files that are compiled once per instruction set, alone. exp and GELU are own polynomials; measured bounds: exp <= 2 ULP
// over all floats of its range, GELU 1.2e-7 and its slope 2.6e-7 of max(1, |x|).
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

// What GELU is made of: x * cdf, with slope cdf + x * density.
struct Normal {
  Vec cdf, density;
};

// The normal distribution. The tail beyond |x| is the density times a polynomial in t = 1 / (1 + 0.275 |x|), fitted here to
// 5e-9 of it; so one exponential and one division serve GELU and its slope. The density stops at 3e-37. NaN stays NaN.
inline Normal normal(Vec x) {
  // e^-(x^2)/2 / sqrt(2 pi) as 2^n 2^f: n rounded by the magic-number addition, whose low bits then add to the exponent.
  const Vec square = min(x * x, splat(165.0f));
  const Vec halved = splat(-0.721347520444481704f);  // -1 / (2 ln 2)
  const Vec magic = splat(12582912.0f);
  const Vec shifted = square * halved + magic;
  const Vec f = square * halved - (shifted - magic);
  Vec e = splat(5.2965460e-4f);
  e = e * f + splat(3.8599826e-3f);
  e = e * f + splat(2.2144142e-2f);
  e = e * f + splat(9.5834392e-2f);
  e = e * f + splat(2.7652563e-1f);
  e = e * f + splat(3.9894231e-1f);
  const Vec density = bits_to_float(float_to_bits(e) + (float_to_bits(shifted) << 23));
  const Vec t = splat(1.0f) / (splat(1.0f) + splat(0.275f) * max(x, -x));
  Vec p = splat(-0.28790690959f);
  p = p * t + splat(1.1329918323f);
  p = p * t + splat(-0.82967595682f);
  p = p * t + splat(0.83704296934f);
  p = p * t + splat(0.10555827742f);
  p = p * t + splat(0.29530393649f);
  const Vec tail = density * t * p;
  return {x < splat(0.0f) ? tail : splat(1.0f) - tail, density};
}

}  // namespace locus::simd
