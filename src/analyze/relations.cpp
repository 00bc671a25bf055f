#include "analyze/relations.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "analyze/analyze.h"
#include "analyze/results/attention.h"
#include "analyze/results/interventions.h"
#include "analyze/results/kernel.h"
#include "analyze/results/movement.h"
#include "analyze/results/networks.h"
#include "analyze/results/recovery.h"
#include "analyze/run_settings.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/rng.h"
#include "run/layout.h"
#include "run/run_reader.h"
#include "stats/bootstrap.h"
#include "stats/correlation.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Measures = std::map<std::string, double>;
constexpr std::size_t kFewestSeeds = 3;  // with fewer the resampled seeds are all there is to see

bool is_trained(const std::string& model) { return model == run_files::kFinal || is_checkpoint(model); }

// Means of values that come one by one.
class Means {
 public:
  void add(const std::string& name, double value) {
    if (!std::isfinite(value)) return;
    auto& [sum, count] = sums_[name];
    sum += value;
    ++count;
  }
  void move_to(Measures& out) const {
    for (const auto& [name, sum] : sums_) out[name] = sum.first / static_cast<double>(sum.second);
  }

 private:
  std::map<std::string, std::pair<double, std::int64_t>> sums_;
};

void add_measures(const RecoveryResult& r, Means& out) {
  for (const TruthRow& row : r.truths) {
    if (!is_trained(row.model) || row.code == "centred") continue;
    const std::string name = "recovery." + row.truth + "." + row.similarity + (row.code == "change" ? ".change" : "");
    if (row.layer == 0) out.add(name, row.pearson);
    out.add(name + ".layer_mean", row.pearson);
  }
  for (const RecoveryRow& row : r.layers) {
    if (!is_trained(row.model) || row.layer != 0) continue;
    out.add("recovery.readout_r2", row.readout_r2);
    out.add("recovery.procrustes", row.procrustes);
    out.add("recovery.procrustes_matched", row.procrustes_matched);
    out.add("recovery.procrustes_matched_change", row.procrustes_matched_change);
    out.add("recovery.effective_dimension", row.effective_dimension);
    out.add("recovery.label_accuracy", row.label_accuracy);
  }
}

void add_measures(const NetworkResult& r, Means& out) {
  for (const NetworkRow& row : r.rows) {
    if (!is_trained(row.model) || row.layer != 0 || row.code != "raw") continue;
    out.add("networks.q_positive", row.q_positive);
    out.add("networks.q_signed", row.q_signed);
    out.add("networks.difference", row.difference);
    out.add("networks.adjusted_rand", row.adjusted_rand);
  }
}

void add_measures(const AttentionResult& r, Means& out) {
  for (const AttentionAgreementRow& row : r.agreement) {
    if (row.map != "mean" || row.reference != "example") continue;
    const std::string name = "attention.agreement" + std::string(row.form == "centred" ? ".centred" : "");
    if (is_trained(row.model)) out.add(name, row.cosine);
    if (row.model == "init") out.add(name + ".untrained", row.cosine);
  }
  for (const AttentionDependencyRow& row : r.dependencies) {
    if (is_trained(row.model) && row.condition.empty()) out.add("attention.lift." + row.query, row.lift);
  }
  for (const AttentionTruthRow& row : r.truths) {
    if (is_trained(row.model)) out.add("attention." + row.truth, row.pearson);
  }
}

void add_measures(const MovementResult& r, Means& out) {
  for (const MovementRow& row : r.rows) {
    if (!is_trained(row.model) || row.level != "part") continue;
    out.add("movement." + row.name, row.movement);
    out.add("movement." + row.name + ".relative", row.relative);
  }
}

void add_measures(const KernelResult& r, Means& out) {
  for (const KernelRow& row : r.kernels) {
    if (!is_trained(row.model)) continue;
    out.add("kernel.change." + row.part, row.change);
    out.add("kernel.alignment." + row.part, row.alignment);
  }
  for (const TaylorRow& row : r.taylor) {
    if (is_trained(row.model)) out.add("kernel.taylor_r2", row.r2);
  }
}

void add_measures(const InterventionResult& r, Means& out) {
  const std::string main = r.rows.empty() ? "" : r.rows.front().split;
  for (const InterventionRow& row : r.rows) {
    if (row.split == main && row.layer < 0 && row.token < 0 && std::isnan(row.amount) && row.source.empty() &&
        row.kind != "none") {
      out.add("interventions." + row.kind, row.change);
    }
  }
}

// The measures of one analysis, unless it was not computed or is not available: such a run gives fewer.
template <class R>
void add_analysis(const RunReader& run, Means& out, std::vector<std::string>& notes) {
  try {
    const std::optional<StoredAnalysis> stored = stored_analysis(run, R::kName);
    if (!stored || !stored->available) return;
    const std::string& note = stored->check.note;
    if (!note.empty()) notes.push_back(analysis_file(run.path(), R::kName).string() + ": " + note);
    if (stored->check.usable()) add_measures(result_from_json<R>(stored->json), out);
  } catch (const Error&) {
    return;
  }
}

// The measures of one run's analyses that are worth relating, by name: "attention.agreement", "kernel.change", ...
// Analyses of another state of the model are left out and said in `notes`.
Measures run_measures(const RunReader& run, std::vector<std::string>& notes) {
  Means means;
  add_analysis<RecoveryResult>(run, means, notes);
  add_analysis<NetworkResult>(run, means, notes);
  add_analysis<AttentionResult>(run, means, notes);
  add_analysis<MovementResult>(run, means, notes);
  add_analysis<InterventionResult>(run, means, notes);
  add_analysis<KernelResult>(run, means, notes);
  Measures out;
  means.move_to(out);
  return out;
}

struct RunPoint {
  std::string path, setting;
  double sigma = 0, outcome = 0;
  std::int64_t seed = 0;
  Measures measures;
};

// What runs of this kind are compared by, else a measure or the loss on the test split, whichever is there first.
std::vector<std::string> outcome_names(const RunReader& run) {
  std::vector<std::string> names;
  if (run.config()) names.push_back(default_metric(*run.config()));
  for (const TaskRow& task : task_rows()) names.push_back("test." + task.measures[0].name);
  names.emplace_back("test.loss");
  return names;
}

bool find_outcome(const RunReader& run, std::string& name, double& value) {
  for (const std::string& key : outcome_names(run)) {
    if (!name.empty() && name != key) continue;
    const auto found = run.summary() ? run.summary()->find(key) : run.metrics().last(key);
    if (!found || !std::isfinite(*found)) continue;
    name = key;
    value = *found;
    return true;
  }
  return false;
}

double spearman_of(const std::vector<double>& x, const std::vector<double>& y) {
  return x.size() < 3 ? kNotAvailable : stats::spearman(x, y).r;
}

struct Columns {
  std::vector<double> x, y, sigma;
  std::vector<int> seed;
};

void sigma_measures(const Columns& c, RelationRow& row) {
  std::map<double, Columns> groups;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    groups[c.sigma[i]].x.push_back(c.x[i]);
    groups[c.sigma[i]].y.push_back(c.y[i]);
  }
  std::vector<double> mean_x, mean_y;
  double within = 0;
  int counted = 0;
  for (const auto& [sigma, g] : groups) {
    double x = 0, y = 0;
    for (std::size_t i = 0; i < g.x.size(); ++i) {
      x += g.x[i] / static_cast<double>(g.x.size());
      y += g.y[i] / static_cast<double>(g.x.size());
    }
    mean_x.push_back(x);
    mean_y.push_back(y);
    const double r = g.x.size() >= 4 ? spearman_of(g.x, g.y) : kNotAvailable;
    if (std::isfinite(r)) {
      within += r;
      ++counted;
    }
  }
  row.sigmas = static_cast<std::int64_t>(groups.size());
  row.spearman_sigma = spearman_of(mean_x, mean_y);
  if (counted > 0) row.spearman_within = within / counted;
}

// Whether the measure says more than sigma does: nothing where sigma is all that varies.
double given_sigma(const Columns& c) {
  const std::set<double> sigmas(c.sigma.begin(), c.sigma.end());
  if (c.x.size() < 5 || sigmas.size() < 2) return kNotAvailable;
  const ConstMatD covariate(c.sigma.data(), std::ssize(c.sigma), 1);
  return stats::partial(c.x, c.y, covariate, stats::CorrelationKind::kSpearman).r;
}

// Runs of one seed share their initial draw and the order of their data: where there are seeds enough they are resampled
// whole, not runs one by one, which would take the repetitions of a seed for independent.
void interval_of(const Columns& c, std::uint64_t seed, RelationRow& row) {
  const std::set<int> seeds(c.seed.begin(), c.seed.end());
  row.clusters = static_cast<std::int64_t>(seeds.size());
  if (c.x.size() < 5 || seeds.size() < kFewestSeeds) return;
  stats::BootstrapOptions options;
  options.kind = stats::BootstrapKind::kPercentile;
  options.seed = seed;
  const auto statistic = [&](std::span<const std::size_t> rows) {
    std::vector<double> x, y;
    for (const std::size_t i : rows) {
      x.push_back(c.x[i]);
      y.push_back(c.y[i]);
    }
    return stats::spearman(x, y).r;
  };
  const stats::BootstrapResult boot = stats::bootstrap_clusters(c.seed, statistic, options);
  row.low = boot.interval.lo;
  row.high = boot.interval.hi;
}

RelationRow relation_of(const std::string& measure, const std::string& outcome, const Columns& c, std::uint64_t seed) {
  RelationRow row;
  row.measure = measure;
  row.outcome = outcome;
  row.runs = static_cast<std::int64_t>(c.x.size());
  const stats::Correlation all = stats::spearman(c.x, c.y);
  row.spearman = all.r;
  row.p = all.p;
  sigma_measures(c, row);
  row.spearman_given_sigma = given_sigma(c);
  if (std::isfinite(all.r)) interval_of(c, derive_seed(seed, "relations", fnv1a64(measure)), row);
  return row;
}

std::vector<RunPoint> read_points(const std::vector<fs::path>& paths, std::string& outcome, RelationResult& result) {
  std::vector<RunPoint> points;
  std::vector<RunConfig> configs;
  for (const fs::path& path : paths) {
    const RunReader run(path);
    const std::optional<RunConfig>& config = run.config();
    if (!config || config->pe.kind != PeKind::kLearned || !config->pe.is_trained()) {
      result.notes.push_back(path.string() + ": left out, its positions are not learned");
      continue;
    }
    RunPoint point;
    if (!find_outcome(run, outcome, point.outcome)) {
      result.notes.push_back(path.string() + ": left out, it has no " + (outcome.empty() ? "outcome" : outcome) +
                             " (let it finish)");
      continue;
    }
    point.path = path.string();
    point.sigma = config->pe.sigma;
    point.seed = config->seed;
    point.measures = run_measures(run, result.notes);
    if (point.measures.empty()) result.notes.push_back(path.string() + ": not analysed yet (run locus analyze on it first)");
    configs.push_back(*config);
    points.push_back(std::move(point));
  }
  std::vector<const RunConfig*> pointers;
  for (const RunConfig& c : configs) pointers.push_back(&c);
  const std::vector<std::string> names = setting_names(pointers);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].setting = names[i];
  return points;
}

}  // namespace

RelationResult analyze_relations(const std::vector<fs::path>& runs, const AnalyzeSettings& settings) {
  RelationResult result;
  std::string outcome;
  const std::vector<RunPoint> points = read_points(runs, outcome, result);
  if (points.size() < 3) {
    throw DataError({.what = "too few runs to relate measures with generalisation",
                     .got = fmt::format("{} runs with learned positions and an outcome", points.size()),
                     .expected = "at least 3",
                     .hint = "train several seeds and sigmas, run locus analyze on each, then give all folders"});
  }
  std::set<std::string> names;
  for (const RunPoint& p : points) {
    for (const auto& [name, value] : p.measures) names.insert(name);
  }
  for (const std::string& name : names) {
    Columns c;
    for (const RunPoint& p : points) {
      const auto it = p.measures.find(name);
      if (it == p.measures.end()) continue;
      c.x.push_back(it->second);
      c.y.push_back(p.outcome);
      c.sigma.push_back(p.sigma);
      c.seed.push_back(static_cast<int>(p.seed));
      result.points.push_back({p.path, p.setting, p.sigma, p.seed, name, it->second, p.outcome});
    }
    if (c.x.size() >= 3) result.relations.push_back(relation_of(name, outcome, c, settings.seed));
  }
  return result;
}

}  // namespace locus
