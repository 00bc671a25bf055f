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

}  // namespace locus::report
