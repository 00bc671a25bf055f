// What codes there are in a run, and what they may be compared with.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/analysis_run.h"
#include "core/error.h"
#include "core/text.h"
#include "data/connectivity.h"
#include "stats/matrix_correlation.h"

namespace locus {
namespace {

// "L_V1_ROI" and "R_V1_ROI" become "v1_roi".
std::string without_side(const std::string& name) {
  static const std::vector<std::string> sides = {"l", "r", "lh", "rh", "left", "right", "hemil", "hemir"};
  std::string lower = to_lower(name);
  std::replace_if(
      lower.begin(), lower.end(), [](char c) { return c == '-' || c == ' ' || c == '.'; }, '_');
  std::vector<std::string> kept;
  for (const std::string& part : split(lower, '_')) {
    if (std::find(sides.begin(), sides.end(), part) == sides.end()) kept.push_back(part);
  }
  return join(kept, "_");
}

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

std::vector<std::pair<int, int>> homotopic_pairs(const DatasetInfo& info) {
  const auto n = static_cast<int>(info.hemispheres.size());
  std::vector<std::pair<int, int>> pairs;
  if (n < 4) return pairs;
  const int left = info.hemispheres.front();
  const auto is_left = [&](int i) { return info.hemispheres[static_cast<std::size_t>(i)] == left; };
  if (static_cast<int>(info.token_names.size()) == n) {
    std::map<std::string, std::pair<std::vector<int>, std::vector<int>>> by_name;
    for (int i = 0; i < n; ++i) {
      auto& [lefts, rights] = by_name[without_side(info.token_names[static_cast<std::size_t>(i)])];
      (is_left(i) ? lefts : rights).push_back(i);
    }
    for (const auto& [name, sides] : by_name) {
      if (sides.first.size() == 1 && sides.second.size() == 1) pairs.emplace_back(sides.first[0], sides.second[0]);
    }
    if (pairs.size() >= 2) return pairs;
    pairs.clear();
  }
  for (int i = 0; n % 2 == 0 && i < n / 2; ++i) {
    if (!is_left(i) || is_left(i + n / 2)) return {};
    pairs.emplace_back(i, i + n / 2);
  }
  return pairs;
}

}  // namespace locus
