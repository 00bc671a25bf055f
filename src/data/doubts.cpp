#include "data/doubts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_set>

#include "core/text.h"

namespace locus {
namespace {

constexpr std::array<double, 8> kCodes = {-99, -999, -9999, -99999, 99, 999, 9999, 99999};
constexpr double kHuge = 1e20;  // codes of NetCDF and others; no measurement is as large
constexpr double kFar = 3;      // ranges of the other values
constexpr std::size_t kManyValues = 16;
constexpr std::size_t kPairsNamed = 3;

bool may_be_code(double x) { return std::abs(x) >= kHuge || std::find(kCodes.begin(), kCodes.end(), x) != kCodes.end(); }

// Bytes of one sample's numbers.
std::string_view sample_of(const Examples& e, std::int64_t i, std::size_t numbers) {
  const float* first = e.values.data() + static_cast<std::size_t>(i) * numbers;
  return {reinterpret_cast<const char*>(first), numbers * sizeof(float)};
}

bool has_many_values(const Examples& e, std::size_t numbers) {
  std::set<float> different;
  for (std::size_t k = 0; k < e.values.size() && different.size() <= kManyValues; k += numbers)
    different.insert(e.values[k]);
  return different.size() > kManyValues;
}

}  // namespace

std::vector<std::string> missing_codes(const RegionSeries& series) {
  std::vector<std::string> out;
  for (const RegionRun& run : series.runs) {
    for (std::ptrdiff_t t = 0; t < run.frames.cols(); ++t) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      std::vector<double> codes;
      for (std::ptrdiff_t f = 0; f < run.frames.rows(); ++f) {
        const double x = run.frames(f, t);
        if (may_be_code(x)) codes.push_back(x);
        if (may_be_code(x) || !std::isfinite(x)) continue;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      const double reach = kFar * (high - low);
      const auto far =
          std::find_if(codes.begin(), codes.end(), [&](double x) { return x < low - reach || x > high + reach; });
      if (far == codes.end() || low > high) continue;
      out.push_back(
          fmt::format("{}: {} has the value {} ({} times), all others lie from {:.4g} to {:.4g}: if it stands for a missing "
                      "value, write n/a",
                      run.path, series.names[static_cast<std::size_t>(t)], shortest(*far),
                      std::count(codes.begin(), codes.end(), *far), low, high));
    }
  }
  return out;
}

std::vector<std::string> copied_tokens(const MatrixD& connectivity, const std::vector<std::string>& names) {
  constexpr double kSame = 1 - 1e-9;
  std::vector<std::string> pairs;
  std::size_t more = 0;
  for (std::ptrdiff_t i = 0; i < connectivity.rows(); ++i) {
    for (std::ptrdiff_t j = i + 1; j < connectivity.cols(); ++j) {
      if (std::abs(connectivity(i, j)) < kSame) continue;
      if (pairs.size() < kPairsNamed) {
        pairs.push_back(names[static_cast<std::size_t>(i)] + " and " + names[static_cast<std::size_t>(j)]);
      } else {
        ++more;
      }
    }
  }
  if (pairs.empty()) return {};
  return {fmt::format("tokens that are the same up to scale, so that one tells the other: {}{}", join(pairs, ", "),
                      more > 0 ? fmt::format(" and {} more pairs", more) : "")};
}

std::vector<std::string> copied_samples(const Dataset& data) {
  const auto numbers = static_cast<std::size_t>(data.tokens * data.features);
  if (numbers == 0 || !data.has_split("train")) return {};
  const Examples& train = data.split("train");
  if (train.values.empty() || !has_many_values(train, numbers)) return {};
  std::unordered_set<std::string_view> seen;
  for (std::int64_t i = 0; i < train.count; ++i) seen.insert(sample_of(train, i, numbers));
  std::vector<std::string> out;
  for (const auto& [name, examples] : data.splits) {
    if (name == "train" || examples.values.empty()) continue;
    std::int64_t copies = 0;
    for (std::int64_t i = 0; i < examples.count; ++i) copies += seen.contains(sample_of(examples, i, numbers)) ? 1 : 0;
    if (copies == 0) continue;
    out.push_back(
        fmt::format("{} of {} samples of the {} split are equal to a training sample in every number: are rows there twice?",
                    copies, examples.count, name));
  }
  return out;
}

}  // namespace locus
