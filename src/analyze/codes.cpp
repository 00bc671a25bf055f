// What codes there are in a run, and what they may be compared with.
#include <fmt/format.h>

#include <algorithm>

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
                     .got = fmt::format("pe.kind={}", kPeKindNames[static_cast<std::size_t>(run.config.pe.kind)]),
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

MatrixD true_sinusoid(const AnalysisRun& run) {
  if (!run.coordinates_are_grid) return {};
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
  if (distance.rows() > 0) out.push_back({run.coordinates_are_grid ? "grid_distance" : "distance", std::move(distance)});
  for (const auto& [name, matrix] : run.info.truths) {
    if (usable(matrix, run.tokens())) out.push_back({name, matrix});
  }
  const bool named = run.info.truths.contains("modules") || run.info.truths.contains("networks");
  if (!named && !label_list(run).empty()) out.push_back({"same_label", same_label_matrix(run.info.labels)});
  return out;
}

}  // namespace locus
