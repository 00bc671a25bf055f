#include "data/same_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/error.h"

namespace locus {
namespace {

constexpr std::ptrdiff_t kTokens = 8;
constexpr std::ptrdiff_t kFrames = 256;
constexpr double kSlack = 1e-3;

// Some frames of some tokens, each token scaled by all its frames; empty when a token does not vary.
std::vector<double> print_of(const MatrixD& frames) {
  const std::ptrdiff_t tokens = std::min(kTokens, frames.cols()), count = std::min(kFrames, frames.rows());
  std::vector<double> out;
  for (std::ptrdiff_t k = 0; k < tokens; ++k) {
    const std::ptrdiff_t t = k * frames.cols() / tokens;
    double mean = 0, squares = 0;
    for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) mean += frames(f, t) / static_cast<double>(frames.rows());
    for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) squares += (frames(f, t) - mean) * (frames(f, t) - mean);
    const double sd = std::sqrt(squares / static_cast<double>(frames.rows()));
    if (!(sd > 1e-12 * std::abs(mean)) || !std::isfinite(sd)) continue;
    for (std::ptrdiff_t i = 0; i < count; ++i) out.push_back((frames(i * frames.rows() / count, t) - mean) / sd);
  }
  return out;
}

bool near(const std::vector<double>& a, const std::vector<double>& b) {
  // Two or three frames agree by chance once they are scaled.
  if (a.size() < 20 || a.size() != b.size()) return false;
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::abs(x - y) <= kSlack; });
}

// A window that one run gives to one side and the other run to another.
std::optional<std::pair<std::size_t, std::size_t>> crossed(const RunWindows& a, const RunWindows& b) {
  std::map<std::int64_t, std::size_t> roles;
  for (std::size_t role = 0; role < a.of_role.size(); ++role) {
    for (const std::int64_t w : a.of_role[role]) roles[w] = role;
  }
  for (std::size_t role = 0; role < b.of_role.size(); ++role) {
    for (const std::int64_t w : b.of_role[role]) {
      const auto found = roles.find(w);
      if (found != roles.end() && found->second != role) return std::pair{found->second, role};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> same_recordings(const RegionSeries& series) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::map<std::ptrdiff_t, std::vector<std::size_t>> by_length;
  std::vector<std::vector<double>> prints;
  for (std::size_t r = 0; r < series.runs.size(); ++r) {
    prints.push_back(print_of(series.runs[r].frames));
    for (const std::size_t other : by_length[series.runs[r].frames.rows()]) {
      if (series.runs[other].sha256 == series.runs[r].sha256 || near(prints[other], prints[r])) pairs.emplace_back(other, r);
    }
    by_length[series.runs[r].frames.rows()].push_back(r);
  }
  return pairs;
}

void refuse_same_recordings(const RegionSeries& series, const std::vector<RunWindows>& windows) {
  for (const auto& [a, b] : same_recordings(series)) {
    const auto sides = crossed(windows[a], windows[b]);
    if (!sides) continue;
    const RegionRun &first = series.runs[a], &second = series.runs[b];
    throw DataError({.what = fmt::format("the same recording stands on two sides of the split, {} and {}",
                                         kSplitRoleNames[sides->first], kSplitRoleNames[sides->second]),
                     .where = second.path,
                     .got = fmt::format("{}: {} of subject {} and subject {}",
                                        first.sha256 == second.sha256 ? "the same bytes" : "equal series", first.path,
                                        first.subject, second.subject),
                     .expected = "every recording once",
                     .hint = "remove one of the two files, or name both after one subject"});
  }
}

}  // namespace locus
