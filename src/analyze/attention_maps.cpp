#include "analyze/attention_maps.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "infer/evaluate.h"

namespace locus {
namespace {

constexpr std::int64_t kMostMapFloats = 16 << 20;    // of maps by example
constexpr std::int64_t kMostLayerFloats = 48 << 20;  // of maps by example and layer

class Collector {
 public:
  Collector(AttentionMaps& maps, std::int64_t keep) : m_(maps), keep_(keep) {
    const MapShape& s = m_.shape;
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    m_.mean.assign(size(s.layers * s.heads * s.area()), 0);
    m_.example.assign(size(s.examples * s.area()), 0);
    if (s.examples * s.layers * s.area() <= kMostLayerFloats) m_.by_layer.assign(size(s.examples * s.layers * s.area()), 0);
    m_.kept.assign(size(keep * s.layers * s.heads * s.area()), 0);
    m_.entropy.assign(size(s.layers * s.heads), 0);
    m_.diagonal.assign(size(s.layers * s.heads), 0);
    sum_.assign(m_.mean.size(), 0);
  }

  void add(std::int64_t example, std::int64_t layer, std::int64_t head, std::int64_t first_query, Mat rows) {
    const MapShape& s = m_.shape;
    LOCUS_CHECK(rows.cols == s.tokens && first_query + rows.rows <= s.tokens, "attention pattern of another shape");
    const std::int64_t place = (layer * s.heads + head) * s.area() + first_query * s.tokens;
    const float by_head = 1.0f / static_cast<float>(s.heads);
    const float by_all = by_head / static_cast<float>(s.layers);
    float* in_example = m_.example.data() + example * s.area() + first_query * s.tokens;
    float* in_layer =
        m_.has_layers() ? m_.by_layer.data() + (example * s.layers + layer) * s.area() + first_query * s.tokens : nullptr;
    float* kept = example < keep_ ? m_.kept.data() + example * s.layers * s.heads * s.area() + place : nullptr;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const float* p = rows.row(r);
      for (std::int64_t j = 0; j < s.tokens; ++j) {
        const std::int64_t at = r * s.tokens + j;
        sum_[static_cast<std::size_t>(place + at)] += p[j];
        in_example[at] += by_all * p[j];
        if (in_layer != nullptr) in_layer[at] += by_head * p[j];
        if (kept != nullptr) kept[at] = p[j];
      }
      add_row(static_cast<std::size_t>(layer * s.heads + head), p, first_query + r);
    }
  }

  void finish() {
    const MapShape& s = m_.shape;
    const auto n = static_cast<double>(s.examples);
    for (std::size_t i = 0; i < sum_.size(); ++i) m_.mean[i] = static_cast<float>(sum_[i] / n);
    for (double& e : m_.entropy) e /= n * static_cast<double>(s.tokens);
    for (double& d : m_.diagonal) d /= n * static_cast<double>(s.tokens);
  }

 private:
  void add_row(std::size_t head, const float* p, std::int64_t query) {
    double entropy = 0;
    for (std::int64_t j = 0; j < m_.shape.tokens; ++j) {
      if (p[j] > 0) entropy -= static_cast<double>(p[j]) * std::log(static_cast<double>(p[j]));
    }
    m_.entropy[head] += entropy;
    m_.diagonal[head] += p[query];
  }

  AttentionMaps& m_;
  std::int64_t keep_;
  std::vector<double> sum_;
};

}  // namespace

AttentionMaps attention_maps(const AnalysisRun& run, const AnalysisModel& model, const Examples& examples,
                             std::int64_t keep) {
  const ModelStructure& s = *run.structure;
  if (s.layers() == 0) {
    throw DataError({.what = "the model has no attention", .where = run.path.string(), .got = "model.layers=0"});
  }
  AttentionMaps maps;
  maps.shape = {examples.count, s.layers(), s.heads(), s.tokens};
  Collector collector(maps, std::min(keep, examples.count));
  Evaluator evaluator(*run.structure);
  evaluator.patterns(model.params.data(), examples,
                     [&](std::int64_t example, std::int64_t layer, std::int64_t head, std::int64_t query, Mat rows) {
                       collector.add(example, layer, head, query, rows);
                     });
  collector.finish();
  return maps;
}

std::int64_t affordable_examples(std::int64_t tokens, std::int64_t wanted) {
  return std::clamp<std::int64_t>(kMostMapFloats / (tokens * tokens), 1, std::max<std::int64_t>(wanted, 1));
}

}  // namespace locus
