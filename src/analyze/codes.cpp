// What codes there are in a run, and what they may be compared with.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyze/analysis_run.h"
#include "core/error.h"
#include "core/text.h"
#include "data/connectivity.h"
#include "stats/matrix_correlation.h"

namespace locus {
namespace {

bool usable(const MatrixD& m, std::int64_t tokens) {
  return m.rows() == tokens && m.cols() == tokens &&
         std::all_of(m.values().begin(), m.values().end(), [](double v) { return std::isfinite(v); });
}

// Pairs of tokens that the symmetries turn into each other get the mean of their entries: what of a relation could be
// learned at all. Orbits are found by joining each pair with its images under the generators.
MatrixD orbit_mean(const MatrixD& relation, std::span<const std::vector<std::int32_t>> symmetries) {
  const std::ptrdiff_t n = relation.rows();
  std::vector<std::size_t> parent(static_cast<std::size_t>(n * n));
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const auto pair_at = [n](std::ptrdiff_t i, std::ptrdiff_t j) { return static_cast<std::size_t>(i * n + j); };
  for (const std::vector<std::int32_t>& moved : symmetries) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < n; ++j)
        parent[root(pair_at(i, j))] = root(pair_at(moved[static_cast<std::size_t>(i)], moved[static_cast<std::size_t>(j)]));
    }
  }
  std::vector<double> sum(parent.size()), count(parent.size());
  for (std::size_t i = 0; i < parent.size(); ++i) {
    sum[root(i)] += relation.values()[i];
    count[root(i)] += 1;
  }
  MatrixD out(n, n);
  for (std::size_t i = 0; i < parent.size(); ++i) out.values()[i] = sum[root(i)] / count[root(i)];
  return out;
}

bool equal_to_rounding(const MatrixD& a, const MatrixD& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(),
                    [](double x, double y) { return std::abs(x - y) <= 1e-9 * (1 + std::abs(x)); });
}

}  // namespace

MatrixD to_double(ConstMat m) {
  MatrixD out(m.rows, m.cols);
  for (std::ptrdiff_t r = 0; r < m.rows; ++r) std::copy_n(m.row(r), m.cols, out.row(r).begin());
  return out;
}

bool adds_codes(const AnalysisRun& run) { return run.structure->encoding->adds_to_input() && run.structure->layers() > 0; }

std::vector<std::int64_t> code_layers(const AnalysisRun& run) {
  std::vector<std::int64_t> out;
  if (!adds_codes(run)) return out;
  for (std::int64_t l = 0; l < run.structure->layers(); ++l) {
    if (!run.structure->blocks[static_cast<std::size_t>(l)].has_pe) continue;
    out.push_back(l);
    if (run.config.pe.shared) break;
  }
  return out;
}

std::vector<LayerCode> layer_codes(const AnalysisRun& run, const AnalysisModel& model) {
  if (!adds_codes(run)) {
    throw DataError({.what = "this encoding adds no table of positions to the input",
                     .where = run.path.string(),
                     .got = fmt::format("pe.kind={}", pe_kind_name(run.config.pe.kind)),
                     .expected = "learned, sinusoidal or laplacian",
                     .hint = "analyse attention instead, or train with pe.kind=learned"});
  }
  const ModelStructure& s = *run.structure;
  std::vector<LayerCode> out;
  for (const std::int64_t layer : code_layers(run)) {
    AlignedBuffer<float> table(static_cast<std::size_t>(s.tokens * s.width()));
    std::vector<const float*> params;
    for (const std::int64_t slot : s.blocks[static_cast<std::size_t>(layer)].pe)
      params.push_back(model.params.data() + s.layout[slot].offset);
    s.encoding->table(params, {}, Mat(table.data(), s.tokens, s.width()));
    out.push_back({layer, to_double(ConstMat(table.data(), s.shape.tokens, s.width()))});
  }
  return out;
}

std::vector<LayerCode> code_changes(std::span<const LayerCode> codes, std::span<const LayerCode> initial) {
  std::vector<LayerCode> out;
  for (const LayerCode& code : codes) {
    const auto start = std::find_if(initial.begin(), initial.end(), [&](const auto& c) { return c.layer == code.layer; });
    if (start == initial.end() || start->code == code.code) continue;
    MatrixD change = code.code;
    for (std::size_t i = 0; i < change.values().size(); ++i) change.values()[i] -= start->code.values()[i];
    out.push_back({code.layer, stats::centre_rows(change.view())});
  }
  return out;
}

MatrixD true_sinusoid(const AnalysisRun& run) {
  if (!run.info.coordinates_are_grid) return {};
  PeConfig config;
  config.kind = PeKind::kSinusoidal;
  config.base = run.config.pe.base;
  PeContext context;
  context.tokens = run.tokens();
  context.width = run.structure->width();
  context.coordinates = run.info.coordinates;
  const std::vector<float> table = sinusoid_table(config, context);
  return to_double(ConstMat(table.data(), context.tokens, context.width));
}

MatrixD coordinate_distance(const AnalysisRun& run) {
  if (run.info.coordinates.rows() != run.tokens() || run.info.coordinates.cols() == 0) return {};
  return stats::pairwise_distance(run.info.coordinates.view());
}

std::vector<int> label_list(const AnalysisRun& run) {
  if (static_cast<std::int64_t>(run.info.labels.size()) != run.tokens()) return {};
  return {run.info.labels.begin(), run.info.labels.end()};
}

std::vector<Truth> truths_of(const AnalysisRun& run) {
  std::vector<Truth> out;
  const MatrixD sinusoid = true_sinusoid(run);
  if (sinusoid.rows() > 0) out.push_back({"sinusoid", stats::cosine_similarity(sinusoid.view())});
  MatrixD distance = coordinate_distance(run);
  if (distance.rows() > 0)
    out.push_back({run.info.coordinates_are_grid ? "grid_distance" : "distance", std::move(distance)});
  for (const auto& [name, matrix] : run.info.truths) {
    if (usable(matrix, run.tokens())) out.push_back({name, matrix});
  }
  const bool named = run.info.truths.contains("modules") || run.info.truths.contains("networks");
  if (!named && !label_list(run).empty()) out.push_back({"same_label", same_label_matrix(run.info.labels)});
  if (run.info.symmetries.empty()) return out;
  for (std::size_t i = 0, given = out.size(); i < given; ++i) {
    MatrixD learnable = orbit_mean(out[i].matrix, run.info.symmetries);
    if (!equal_to_rounding(learnable, out[i].matrix)) out.push_back({out[i].name + "_learnable", std::move(learnable)});
  }
  return out;
}

double norm_of(const MatrixD& m) {
  double sum = 0;
  for (const double v : m.values()) sum += v * v;
  return std::sqrt(sum);
}

}  // namespace locus
