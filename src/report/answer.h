// The answer in a few sentences, generated from the numbers: each with the test behind it and how strong the evidence is.
#pragma once

#include <string>
#include <vector>

#include "report/inputs.h"

namespace locus::report {

enum class Evidence { kClear, kWeak, kNone };  // p < 0.05 with >= 3 runs a side; something, but not that; no test possible

struct Claim {
  Evidence evidence = Evidence::kNone;
  std::string text;  // "learned σ 0.2 does best: held-out accuracy 95.6 %."
  std::string test;  // "Welch's t ..., p = 0.01, n = 15 and 15."
};

std::vector<Claim> make_claims(const Inputs& inputs);

// Welch's test of two settings; NaN when one has fewer than two runs. Where neither varies its p would be 0, however few the
// runs are: then p counts how the runs can be exchanged.
double difference_p(const std::vector<double>& a, const std::vector<double>& b);

std::string truth_words(const std::string& truth);  // "the true grid (2-D sinusoid)"

}  // namespace locus::report
