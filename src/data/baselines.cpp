#include "data/baselines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "config/tasks.h"
#include "core/error.h"
#include "core/rng.h"
#include "data/ridge.h"

namespace locus {
namespace {

// A covariance larger than this takes too much memory and time to invert once a sample.
constexpr std::int64_t kMaxVariables = 2000;

struct Sample {
  const float* values;       // (T, F)
  const std::uint8_t* mask;  // (T)
};

class Problem {
 public:
  explicit Problem(const Dataset& d) : data(d), tokens(d.tokens), features(d.features) {}
  Sample sample(const Examples& e, std::int64_t i) const {
    return {e.values.data() + i * tokens * features, e.masks.data() + i * tokens};
  }
  const Dataset& data;
  std::int64_t tokens;
  std::int64_t features;
};

// Predicts feature f of hidden token t.
using Predictor = std::function<double(const Sample& s, std::int64_t t, std::int64_t f)>;

std::vector<std::int64_t> chosen_samples(std::int64_t count, std::int64_t most, const std::string& stream) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  if (count <= most) return all;
  Rng rng(0, stream);
  for (std::int64_t i = 0; i < most; ++i) {
    const auto j = i + static_cast<std::int64_t>(rng.below(static_cast<std::uint32_t>(count - i)));
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
  }
  all.resize(static_cast<std::size_t>(most));
  std::sort(all.begin(), all.end());
  return all;
}

double sample_error(const Problem& p, const Sample& s, const Predictor& predict) {
  double sum = 0;
  std::int64_t n = 0;
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    if (s.mask[t] != kHidden) continue;
    for (std::int64_t f = 0; f < p.features; ++f) {
      const double d = predict(s, t, f) - static_cast<double>(s.values[t * p.features + f]);
      sum += d * d;
    }
    n += p.features;
  }
  return n == 0 ? 0.0 : sum / static_cast<double>(n);
}

// The error over all hidden values: samples weigh by how many they hide.
double pooled_error(const Problem& p, const Examples& e, const BaselineResult& r) {
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < r.samples.size(); ++i) {
    const std::uint8_t* mask = e.masks.data() + r.samples[i] * p.tokens;
    const auto hidden = static_cast<double>(std::count(mask, mask + p.tokens, kHidden));
    sum += hidden * r.sample_errors[i];
    weight += hidden;
  }
  return weight > 0 ? sum / weight : 0.0;
}

BaselineResult evaluate(const Problem& p, const Examples& e, std::string name, const Predictor& predict) {
  BaselineResult r{std::move(name), 0, chosen_samples(e.count, e.count, ""), {}};
  r.sample_errors.reserve(r.samples.size());
  for (const std::int64_t i : r.samples) r.sample_errors.push_back(sample_error(p, p.sample(e, i), predict));
  r.error = pooled_error(p, e, r);
  return r;
}

double mean_visible(const Problem& p, const Sample& s, std::int64_t f) {
  double sum = 0;
  std::int64_t n = 0;
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    if (s.mask[t] != 0) continue;
    sum += static_cast<double>(s.values[t * p.features + f]);
    ++n;
  }
  return n == 0 ? 0.0 : sum / static_cast<double>(n);
}

// One pass a sample instead of one a hidden token.
BaselineResult evaluate_mean(const Problem& p, const Examples& e) {
  const std::uint8_t* current = nullptr;
  std::vector<double> means(static_cast<std::size_t>(p.features));
  return evaluate(p, e, "mean_visible", [&, current](const Sample& s, std::int64_t, std::int64_t f) mutable {
    if (s.mask != current) {
      for (std::int64_t k = 0; k < p.features; ++k) means[static_cast<std::size_t>(k)] = mean_visible(p, s, k);
      current = s.mask;
    }
    return means[static_cast<std::size_t>(f)];
  });
}

// For each token all others, nearest first.
std::vector<std::vector<std::int32_t>> nearest_orders(const MatrixD& coordinates) {
  const auto n = static_cast<std::size_t>(coordinates.rows());
  std::vector<std::vector<std::int32_t>> orders(n);
  std::vector<double> distance(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      distance[j] = 0;
      for (std::ptrdiff_t x = 0; x < coordinates.cols(); ++x) {
        const double d = coordinates(static_cast<std::ptrdiff_t>(i), x) - coordinates(static_cast<std::ptrdiff_t>(j), x);
        distance[j] += d * d;
      }
      if (j != i) orders[i].push_back(static_cast<std::int32_t>(j));
    }
    std::stable_sort(orders[i].begin(), orders[i].end(), [&](std::int32_t a, std::int32_t b) {
      return distance[static_cast<std::size_t>(a)] < distance[static_cast<std::size_t>(b)];
    });
  }
  return orders;
}

Predictor nearest_predictor(const Problem& p, const std::vector<std::vector<std::int32_t>>& orders, std::int64_t k) {
  return [&p, &orders, k](const Sample& s, std::int64_t t, std::int64_t f) {
    double sum = 0;
    std::int64_t n = 0;
    for (const std::int32_t j : orders[static_cast<std::size_t>(t)]) {
      if (s.mask[j] != 0) continue;
      sum += static_cast<double>(s.values[j * p.features + f]);
      if (++n == k) break;
    }
    return n == 0 ? 0.0 : sum / static_cast<double>(n);
  };
}

std::int64_t choose_neighbours(const Problem& p, const std::vector<std::vector<std::int32_t>>& orders,
                               const BaselineOptions& o) {
  const Examples& train = p.data.split("train");
  const std::vector<std::int64_t> samples = chosen_samples(train.count, o.folds * o.fold_samples, "baseline/nearest");
  double best = 0;
  std::int64_t chosen = 0;
  for (const std::int64_t k : o.neighbours) {
    double sum = 0;
    const Predictor predict = nearest_predictor(p, orders, k);
    for (const std::int64_t i : samples) sum += sample_error(p, p.sample(train, i), predict);
    if (chosen == 0 || sum < best) {
      best = sum;
      chosen = k;
    }
  }
  return chosen;
}

// Fold of each training sample: clusters dealt out whole when there are at least two, else blocks of time.
std::vector<std::int64_t> folds_of(const Examples& train, std::int64_t folds) {
  std::map<std::int32_t, std::int64_t> rank;
  for (const std::int32_t c : train.cluster) rank.emplace(c, 0);
  std::int64_t next = 0;
  for (auto& [cluster, r] : rank) r = next++;
  std::vector<std::int64_t> fold(static_cast<std::size_t>(train.count));
  for (std::int64_t i = 0; i < train.count; ++i) {
    fold[static_cast<std::size_t>(i)] =
        rank.size() >= 2 ? rank[train.cluster[static_cast<std::size_t>(i)]] % folds : i * folds / train.count;
  }
  return fold;
}

struct Fold {
  Moments inside;
  std::vector<std::int64_t> samples;  // predicted from the other folds
};

std::vector<Fold> make_folds(const Problem& p, const BaselineOptions& o) {
  const Examples& train = p.data.split("train");
  const std::int64_t d = p.tokens * p.features;
  const std::vector<std::int64_t> fold_of = folds_of(train, o.folds);
  std::vector<Fold> folds(static_cast<std::size_t>(o.folds));
  for (auto& fold : folds) fold.inside = Moments(d);
  for (std::int64_t first = 0; first < train.count;) {
    std::int64_t last = first;
    while (last < train.count && fold_of[static_cast<std::size_t>(last)] == fold_of[static_cast<std::size_t>(first)]) ++last;
    folds[static_cast<std::size_t>(fold_of[static_cast<std::size_t>(first)])].inside.add(
        variable_moments(train, first, last, d));
    first = last;
  }
  for (const std::int64_t i : chosen_samples(train.count, train.count, "")) {
    folds[static_cast<std::size_t>(fold_of[static_cast<std::size_t>(i)])].samples.push_back(i);
  }
  for (std::size_t f = 0; f < folds.size(); ++f) {
    auto& mine = folds[f].samples;
    const auto picks =
        chosen_samples(static_cast<std::int64_t>(mine.size()), o.fold_samples, fmt::format("baseline/fold/{}", f));
    std::vector<std::int64_t> kept;
    for (const std::int64_t i : picks) kept.push_back(mine[static_cast<std::size_t>(i)]);
    mine = std::move(kept);
  }
  return folds;
}

double choose_penalty(const Problem& p, const std::vector<Fold>& folds, const BaselineOptions& o, ThreadPool& pool) {
  const Examples& train = p.data.split("train");
  std::vector<double> sums(o.penalties.size());
  for (std::size_t f = 0; f < folds.size(); ++f) {
    Moments others(p.tokens * p.features);
    for (std::size_t g = 0; g < folds.size(); ++g) {
      if (g != f) others.add(folds[g].inside);
    }
    if (others.count == 0 || folds[f].samples.empty()) continue;
    for (std::size_t k = 0; k < o.penalties.size(); ++k) {
      const RidgeModel model = ridge_from(others, o.penalties[k]);
      for (const double e : ridge_errors(model, train, p.tokens, folds[f].samples, pool)) sums[k] += e;
    }
  }
  return o.penalties[static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin())];
}

std::int64_t affordable_samples(std::int64_t variables) {
  const double visible = static_cast<double>(variables) / 2;
  return std::max<std::int64_t>(500, static_cast<std::int64_t>(5e10 / (visible * visible * visible / 3 + 1)));
}

}  // namespace

const BaselineResult* Baselines::find(const std::string& split, const std::string& name) const {
  for (const SplitBaselines& s : splits) {
    if (s.split != split) continue;
    for (const BaselineResult& r : s.results) {
      if (r.name == name) return &r;
    }
  }
  return nullptr;
}

Baselines compute_baselines(const Dataset& dataset, const BaselineOptions& options, ThreadPool& pool) {
  LOCUS_CHECK(task_row(dataset.task).hides_tokens, "baselines are for masked prediction");
  const Problem p(dataset);
  Baselines out;
  for (const auto& [name, e] : dataset.splits) {
    if (name == "train") continue;
    SplitBaselines s{name, {}};
    s.results.push_back(evaluate(p, e, "zero", [](const Sample&, std::int64_t, std::int64_t) { return 0.0; }));
    s.results.push_back(evaluate_mean(p, e));
    out.splits.push_back(std::move(s));
  }
  if (dataset.tokens_info.coordinates.rows() == dataset.tokens) {
    const auto orders = nearest_orders(dataset.tokens_info.coordinates);
    out.neighbours = choose_neighbours(p, orders, options);
    for (SplitBaselines& s : out.splits) {
      s.results.push_back(evaluate(p, dataset.split(s.split), "nearest", nearest_predictor(p, orders, out.neighbours)));
    }
  }
  const std::int64_t d = p.tokens * p.features;
  if (d > kMaxVariables) {
    out.notes.push_back(fmt::format("ridge left out: {} variables are more than {}", d, kMaxVariables));
    return out;
  }
  const std::vector<Fold> folds = make_folds(p, options);
  out.penalty = choose_penalty(p, folds, options, pool);
  Moments all(d);
  for (const Fold& f : folds) all.add(f.inside);
  const RidgeModel model = ridge_from(all, out.penalty);
  const std::int64_t most = options.max_samples > 0 ? options.max_samples : affordable_samples(d);
  for (SplitBaselines& s : out.splits) {
    const Examples& e = dataset.split(s.split);
    BaselineResult r{"ridge", 0, chosen_samples(e.count, most, "baseline/" + s.split), {}};
    if (static_cast<std::int64_t>(r.samples.size()) < e.count) {
      out.notes.push_back(fmt::format("ridge on {}: {} of {} samples, drawn at random", s.split, r.samples.size(), e.count));
    }
    r.sample_errors = ridge_errors(model, e, p.tokens, r.samples, pool);
    r.error = pooled_error(p, e, r);
    s.results.push_back(std::move(r));
  }
  return out;
}

void record_baselines(Dataset& dataset, const Baselines& baselines) {
  for (const SplitBaselines& s : baselines.splits) {
    for (const BaselineResult& r : s.results) dataset.baselines[s.split][r.name] = r.error;
  }
  dataset.description["baseline.ridge_penalty"] = fmt::format("{:g}", baselines.penalty);
  if (baselines.neighbours > 0) dataset.description["baseline.neighbours"] = fmt::format("{}", baselines.neighbours);
  std::string notes;
  for (const std::string& n : baselines.notes) notes += (notes.empty() ? "" : "; ") + n;
  if (!notes.empty()) dataset.description["baseline.notes"] = notes;
}

}  // namespace locus
