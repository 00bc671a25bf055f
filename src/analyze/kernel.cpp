#include "analyze/kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyze/chosen_examples.h"
#include "config/tasks.h"
#include "core/error.h"
#include "infer/evaluate.h"
#include "stats/correlation.h"

namespace locus {
namespace {

// `most` of 0..count-1, evenly spread.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> out;
  const std::int64_t n = std::min(count, most);
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i * count / n);
  return out;
}

void choose_outputs(const AnalysisRun& run, const AnalyzeSettings& settings, Probe& probe) {
  const ModelStructure& s = *run.structure;
  const std::int64_t n = probe.examples.count;
  if (!s.shape.regression) {
    for (const std::int64_t c : spread(s.shape.outputs, settings.probe_outputs)) probe.places.push_back({0, c});
    probe.targets = MatrixD(n, static_cast<std::int64_t>(probe.places.size()));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t o = 0; o < probe.places.size(); ++o) {
        const bool hit = probe.examples.labels[static_cast<std::size_t>(i)] == probe.places[o].column;
        probe.targets(i, static_cast<std::ptrdiff_t>(o)) = hit ? 1 : 0;
      }
    }
    return;
  }
  const RowSet rows = rows_read(s, microbatch_of(s.shape, probe.examples, 0, 1));
  std::vector<std::int64_t> tokens;
  for (const std::int64_t r : spread(rows.rows(), settings.probe_outputs)) {
    probe.places.push_back({r, static_cast<std::int64_t>(probe.places.size()) % s.shape.outputs});
    tokens.push_back(rows.position[static_cast<std::size_t>(r)]);
  }
  probe.targets = MatrixD(n, static_cast<std::int64_t>(tokens.size()));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::size_t o = 0; o < tokens.size(); ++o) {
      const std::int64_t at = (i * s.shape.tokens + tokens[o]) * s.shape.features + probe.places[o].column;
      probe.targets(i, static_cast<std::ptrdiff_t>(o)) = probe.examples.values[static_cast<std::size_t>(at)];
    }
  }
}

MatrixD gram(const MatrixD& y) {
  MatrixD out(y.rows(), y.rows());
  for (std::ptrdiff_t i = 0; i < y.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < y.rows(); ++j) {
      for (std::ptrdiff_t k = 0; k < y.cols(); ++k) out(i, j) += y(i, k) * y(j, k);
    }
  }
  return out;
}

double mean_diagonal(const MatrixD& k) {
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < k.rows(); ++i) sum += k(i, i);
  return sum / static_cast<double>(k.rows());
}

void add_rows(const AnalysisModel& model, const TangentKernel& start, const TangentKernel& now, const MatrixD& targets,
              KernelResult& result) {
  const MatrixD all0 = start.all(), all = now.all();
  struct Part {
    const char* name;
    const MatrixD& initial;
    const MatrixD& current;
  };
  for (const Part& part : {Part{"all", all0, all}, Part{"pe", start.pe, now.pe}, Part{"rest", start.rest, now.rest}}) {
    KernelRow row;
    row.model = model.name;
    row.epoch = model.epoch;
    row.part = part.name;
    row.change = kernel_change(part.initial, part.current);
    row.change_centred = kernel_change(centre_kernel(part.initial), centre_kernel(part.current));
    row.alignment = kernel_alignment(part.current, targets);
    row.effective_rank = kernel_rank(part.current);
    row.effective_rank_centred = kernel_rank(centre_kernel(part.current));
    row.trace = mean_diagonal(part.current);
    row.share = row.trace / mean_diagonal(all);
    result.kernels.push_back(std::move(row));
  }
  const auto n = all.rows();
  result.arrays.push_back({"kernel." + model.name, {n, n}, {all.values().begin(), all.values().end()}});
  result.arrays.push_back({"kernel_pe." + model.name, {n, n}, {now.pe.values().begin(), now.pe.values().end()}});
}

std::vector<std::ptrdiff_t> best_columns(const MatrixD& m) {
  std::vector<std::ptrdiff_t> out;
  for (std::ptrdiff_t i = 0; i < m.rows(); ++i) {
    const auto row = m.row(i);
    out.push_back(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return out;
}

double share_equal(const std::vector<std::ptrdiff_t>& a, const std::vector<std::ptrdiff_t>& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

double mean_square(const MatrixD& a, const MatrixD& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i)
    sum += (a.values()[i] - b.values()[i]) * (a.values()[i] - b.values()[i]);
  return sum / static_cast<double>(a.values().size());
}

// How near f0 + J (theta - theta0) comes to the outputs of the trained model.
TaylorRow taylor_row(const AnalysisModel& model, const TangentKernel& start, const MatrixD& along, const MatrixD& trained,
                     const Probe& probe) {
  MatrixD linear = start.outputs;
  for (std::size_t i = 0; i < linear.values().size(); ++i) linear.values()[i] += along.values()[i];
  double mean = 0, scatter = 0;
  for (const double v : trained.values()) mean += v / static_cast<double>(trained.values().size());
  for (const double v : trained.values()) scatter += (v - mean) * (v - mean);
  TaylorRow row;
  row.model = model.name;
  row.epoch = model.epoch;
  const auto count = static_cast<double>(trained.values().size());
  if (scatter > 0) row.r2 = 1 - mean_square(linear, trained) * count / scatter;
  row.correlation = stats::pearson(linear.values(), trained.values()).r;
  if (probe.examples.labels.empty()) {
    row.mse_linear = mean_square(linear, probe.targets);
    row.mse_trained = mean_square(trained, probe.targets);
    return row;
  }
  const auto truth = best_columns(probe.targets);
  row.accuracy_linear = share_equal(best_columns(linear), truth);
  row.accuracy_trained = share_equal(best_columns(trained), truth);
  row.accuracy_initial = share_equal(best_columns(start.outputs), truth);
  row.agreement = share_equal(best_columns(linear), best_columns(trained));
  return row;
}

std::vector<std::vector<float>> directions_from(const AnalysisRun& run, const AnalysisModel& start) {
  std::vector<std::vector<float>> out;
  for (const AnalysisModel& m : run.models) {
    if (m.is_initial()) continue;
    std::vector<float> d(m.params.data(), m.params.data() + m.params.size());
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= start.params[i];
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

Probe make_probe(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings) {
  Probe probe;
  const std::string wanted = settings.split.empty() && dataset.has_split("test") ? "test" : settings.split;
  probe.split = choose_split(dataset, wanted);
  const Examples& all = dataset.split(probe.split);
  probe.indices = sample_indices(all.count, settings.probe, settings.seed);
  probe.examples = take_examples({dataset.tokens, dataset.features}, all, probe.indices);
  auto& masks = probe.examples.masks;
  const bool asks = task_row(dataset.task).hides_tokens;
  for (std::size_t i = static_cast<std::size_t>(dataset.tokens); asks && i < masks.size(); ++i) {
    masks[i] = masks[i - static_cast<std::size_t>(dataset.tokens)];
  }
  choose_outputs(run, settings, probe);
  return probe;
}

KernelResult analyze_kernel(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                            const AnalyzeProgress& progress) {
  KernelResult result;
  const AnalysisModel& first = run.require_initial();
  if (run.models.size() < 2) run.require_trained();
  const Probe probe = make_probe(run, dataset, settings);
  result.split = probe.split;
  result.probe = probe.examples.count;
  result.outputs = static_cast<std::int64_t>(probe.places.size());
  result.parameters = run.structure->layout.trained_parameters();
  const MatrixD targets = gram(probe.targets);
  const std::vector<std::vector<float>> directions = directions_from(run, first);
  const auto compute = [&](const AnalysisModel& model, std::size_t index, std::span<const std::vector<float>> along) {
    KernelOptions options;
    options.memory = settings.kernel_memory;
    options.progress = [&](double done) {
      if (progress)
        progress("kernel " + model.name, (static_cast<double>(index) + done) / static_cast<double>(run.models.size()));
    };
    return tangent_kernel(*run.structure, model.params.data(), probe.examples, probe.places, along, options);
  };
  const TangentKernel start = compute(first, 0, directions);
  add_rows(first, start, start, targets, result);
  std::size_t later = 0;
  for (const AnalysisModel& model : run.models) {
    if (model.is_initial()) continue;
    const TangentKernel now = compute(model, later + 1, {});
    add_rows(model, start, now, targets, result);
    result.taylor.push_back(taylor_row(model, start, start.along[later], now.outputs, probe));
    ++later;
  }
  if (run.models.size() < 3) {
    result.notes.push_back("no snapshots: nothing over training time (train with watch.snapshots=[0,5,20])");
  }
  const auto n = result.probe;
  result.arrays.push_back({"targets", {n, n}, {targets.values().begin(), targets.values().end()}});
  result.arrays.push_back({"probe", {n}, {probe.indices.begin(), probe.indices.end()}});
  return result;
}

}  // namespace locus
