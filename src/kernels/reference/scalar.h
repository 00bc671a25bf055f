// Scalars of the oracle: float, double, and std::complex<double> for complex-step derivatives.
// A complex number here is a real value plus a tiny imaginary perturbation; every function is linear in the perturbation.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>

namespace locus::reference {

template <class S>
struct IsComplex : std::false_type {};
template <class R>
struct IsComplex<std::complex<R>> : std::true_type {};

// The value that comparisons (a maximum, a branch) look at.
template <class S>
double real_part(const S& x) {
  if constexpr (IsComplex<S>::value) {
    return x.real();
  } else {
    return static_cast<double>(x);
  }
}

// erf(x + ih) = erf x + ih 2/sqrt(pi) exp(-x^2).
template <class S>
S erf_of(const S& x) {
  if constexpr (IsComplex<S>::value) {
    const double slope = 2.0 / std::sqrt(std::numbers::pi) * std::exp(-x.real() * x.real());
    return S(std::erf(x.real()), x.imag() * slope);
  } else {
    return std::erf(x);
  }
}

template <class S>
S exp_of(const S& x) {
  if constexpr (IsComplex<S>::value) {
    const double value = std::exp(x.real());
    return S(value, value * x.imag());
  } else {
    return std::exp(x);
  }
}

// x with a positive real part.
template <class S>
S sqrt_of(const S& x) {
  if constexpr (IsComplex<S>::value) {
    const double value = std::sqrt(x.real());
    return S(value, x.imag() / (2.0 * value));
  } else {
    return std::sqrt(x);
  }
}

// x with a positive real part.
template <class S>
S log_of(const S& x) {
  if constexpr (IsComplex<S>::value) {
    return S(std::log(x.real()), x.imag() / x.real());
  } else {
    return std::log(x);
  }
}

}  // namespace locus::reference
