// Modularity by its dense matrix; labelings compared by their contingency table.
#include "stats/graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "stats/checks.h"
#include "stats/descriptive.h"

namespace locus::stats {
namespace {

// Weights of one sign (as positive numbers), their row sums and total.
struct Part {
  double sign;
  std::vector<double> strength;
  double total = 0;
  double at(ConstMatD w, std::ptrdiff_t i, std::ptrdiff_t j) const { return i == j ? 0 : std::max(0.0, sign * w(i, j)); }
};

Part part_of(ConstMatD w, double sign) {
  Part part{sign, std::vector<double>(static_cast<std::size_t>(w.rows), 0.0), 0};
  for (std::ptrdiff_t i = 0; i < w.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < w.cols; ++j) part.strength[static_cast<std::size_t>(i)] += part.at(w, i, j);
    part.total += part.strength[static_cast<std::size_t>(i)];
  }
  return part;
}

void add_part(MatrixD& b, ConstMatD w, const Part& part, double factor, double gamma) {
  if (!(part.total > 0)) return;
  for (std::ptrdiff_t i = 0; i < w.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < w.cols; ++j) {
      const double expected =
          part.strength[static_cast<std::size_t>(i)] * part.strength[static_cast<std::size_t>(j)] / part.total;
      b(i, j) += factor * (part.at(w, i, j) - gamma * expected);
    }
  }
}

void check_graph(ConstMatD w, std::size_t labels, const char* function) {
  require_symmetric(w, function);
  require_same_size(static_cast<std::size_t>(w.rows), labels, function);
}

// Which of its distinct labels, in ascending order, each node has.
std::vector<std::size_t> places_of(std::span<const int> labels, std::vector<double>& counts) {
  std::vector<int> distinct(labels.begin(), labels.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  counts.assign(distinct.size(), 0);
  std::vector<std::size_t> out;
  out.reserve(labels.size());
  for (const int label : labels) {
    out.push_back(static_cast<std::size_t>(std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin()));
    ++counts[out.back()];
  }
  return out;
}

struct Contingency {
  std::vector<double> cells;  // labels of a x labels of b
  std::vector<double> a, b;
  double n = 0;
};

Contingency tabulate(std::span<const int> a, std::span<const int> b, const char* function) {
  require_same_size(a.size(), b.size(), function);
  require_at_least(a.size(), 1, function);
  Contingency table;
  table.n = static_cast<double>(a.size());
  const std::vector<std::size_t> in_a = places_of(a, table.a), in_b = places_of(b, table.b);
  table.cells.assign(table.a.size() * table.b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) ++table.cells[in_a[i] * table.b.size() + in_b[i]];
  return table;
}

double entropy(const std::vector<double>& counts, double n) {
  double h = 0;
  for (const double count : counts) h -= count / n * std::log(count / n);
  return h;
}

double mutual_information(const Contingency& t) {
  double sum = 0;
  for (std::size_t k = 0; k < t.cells.size(); ++k) {
    const double count = t.cells[k];
    if (count > 0) sum += count / t.n * std::log(t.n * count / (t.a[k / t.b.size()] * t.b[k % t.b.size()]));
  }
  return std::max(0.0, sum);
}

// Mean mutual information over labelings with the same module sizes: cells are hypergeometric.
double expected_information(const Contingency& t) {
  const auto log_factorial = [](double v) { return std::lgamma(v + 1); };
  double sum = 0;
  for (const double a : t.a) {
    for (const double b : t.b) {
      const double fixed =
          log_factorial(a) + log_factorial(b) + log_factorial(t.n - a) + log_factorial(t.n - b) - log_factorial(t.n);
      for (double k = std::max(1.0, a + b - t.n); k <= std::min(a, b); ++k) {
        const double log_p =
            fixed - log_factorial(k) - log_factorial(a - k) - log_factorial(b - k) - log_factorial(t.n - a - b + k);
        sum += k / t.n * std::log(t.n * k / (a * b)) * std::exp(log_p);
      }
    }
  }
  return sum;
}

double pairs(double n) { return n * (n - 1) / 2; }

}  // namespace

MatrixD modularity_matrix(ConstMatD w, Weights weights, double gamma) {
  require_symmetric(w, "modularity_matrix");
  if (!(gamma > 0)) {
    throw ConfigError(
        {.what = "resolution gamma must be positive", .got = std::to_string(gamma), .expected = "1 as a rule"});
  }
  MatrixD b(w.rows, w.cols);
  const Part positive = part_of(w, 1);
  if (positive.total > 0) add_part(b, w, positive, 1 / positive.total, gamma);
  if (weights == Weights::kSigned) {
    const Part negative = part_of(w, -1);
    if (negative.total > 0) add_part(b, w, negative, -1 / (positive.total + negative.total), gamma);
  }
  return b;
}

double modularity(ConstMatD w, std::span<const int> labels, Weights weights, double gamma) {
  check_graph(w, labels.size(), "modularity");
  const MatrixD b = modularity_matrix(w, weights, gamma);
  double q = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = b.row(static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = 0; j < labels.size(); ++j) q += labels[i] == labels[j] ? row[j] : 0;
  }
  return q;
}

WithinBetween within_between(ConstMatD w, std::span<const int> labels) {
  check_graph(w, labels.size(), "within_between");
  double sums[2] = {0, 0}, counts[2] = {0, 0};
  for (std::ptrdiff_t i = 0; i < w.rows; ++i) {
    for (std::ptrdiff_t j = i + 1; j < w.cols; ++j) {
      const int kind = labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)] ? 0 : 1;
      sums[kind] += w(i, j);
      ++counts[kind];
    }
  }
  const auto ratio = [&](int k) { return counts[k] > 0 ? sums[k] / counts[k] : std::numeric_limits<double>::quiet_NaN(); };
  return {ratio(0), ratio(1)};
}

double WithinSum::operator()(std::span<const int> labels) {
  require_same_size(labels.size(), static_cast<std::size_t>(w_.rows), "WithinSum");
  members_.resize(static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1);
  for (auto& list : members_) list.clear();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    members_[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::ptrdiff_t>(i));
  }
  double sum = 0;
  for (const auto& list : members_) {
    for (std::size_t a = 1; a < list.size(); ++a) {
      const double* row = w_.row(list[a]);
      double of_row = 0;
      for (std::size_t b = 0; b < a; ++b) of_row += row[list[b]];
      sum += of_row;
    }
  }
  return sum;
}

std::optional<double> segregation(ConstMatD w, std::span<const int> labels) {
  constexpr double kLeastWithin = 0.05;
  const WithinBetween m = within_between(w, labels);
  if (!(m.within >= kLeastWithin) || std::isnan(m.between)) return std::nullopt;
  return m.difference() / m.within;
}

double adjusted_rand(std::span<const int> a, std::span<const int> b) {
  const Contingency t = tabulate(a, b, "adjusted_rand");
  double both = 0, in_a = 0, in_b = 0;
  for (const double count : t.cells) both += pairs(count);
  for (const double count : t.a) in_a += pairs(count);
  for (const double count : t.b) in_b += pairs(count);
  const double total = pairs(t.n), expected = total > 0 ? in_a * in_b / total : 0, most = 0.5 * (in_a + in_b);
  return most == expected ? 1 : (both - expected) / (most - expected);
}

double normalised_mutual_information(std::span<const int> a, std::span<const int> b) {
  const Contingency t = tabulate(a, b, "normalised_mutual_information");
  const double entropies = entropy(t.a, t.n) + entropy(t.b, t.n);
  return entropies > 0 ? 2 * mutual_information(t) / entropies : 1;
}

double adjusted_mutual_information(std::span<const int> a, std::span<const int> b) {
  const Contingency t = tabulate(a, b, "adjusted_mutual_information");
  const double most = 0.5 * (entropy(t.a, t.n) + entropy(t.b, t.n)), expected = expected_information(t);
  // Both trivial, or both all singletons: equal labelings that chance cannot differ from.
  if (std::abs(most - expected) < 1e-14 * std::max(1.0, most)) return 1;
  return (mutual_information(t) - expected) / (most - expected);
}

PermutationResult label_permutation_test(std::span<const int> labels,
                                         const std::function<double(std::span<const int>)>& statistic,
                                         const PermutationOptions& options) {
  require_at_least(labels.size(), 2, "label_permutation_test");
  require_positive(options.permutations, "number of permutations", "label_permutation_test");
  std::vector<int> shuffled(labels.begin(), labels.end());
  const double observed = statistic(shuffled);
  Rng rng(options.seed, "stats/labels");
  std::vector<double> null(static_cast<std::size_t>(options.permutations));
  for (double& value : null) {
    rng.shuffle(std::span<int>(shuffled));
    value = statistic(shuffled);
  }
  require_finite(null, "label_permutation_test (null)");
  return permutation_result(observed, null, options.alternative, mean(null));
}

}  // namespace locus::stats
