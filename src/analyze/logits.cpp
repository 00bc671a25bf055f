#include "analyze/logits.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <array>
#include <cmath>

#include "analyze/chosen_examples.h"
#include "core/error.h"
#include "infer/evaluate.h"
#include "model/encoder.h"

namespace locus {
namespace {

using Matrix64 = Eigen::MatrixXd;

constexpr std::int64_t kMostExamples = 64;  // four digits of a mean over 64 x T queries
constexpr std::int64_t kMicrobatchTokens = 1024;

// The parts of the logits, in the order of LogitRow.
enum Part { kPositionPosition, kPositionContent, kContentPosition, kContentContent, kTotal, kParts };

struct LogitSums {
  std::array<double, kParts> variance{};  // over keys, summed over queries
  double queries = 0;
  double entropy = 0, entropy_queries = 0;
  double sum = 0, squares = 0, pairs = 0;  // of the total
  double content = 0, position = 0, channels = 0;
};

Matrix64 to_eigen(ConstMat m) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(m.data, m.rows, m.cols, Eigen::OuterStride<>(m.stride))
      .cast<double>();
}

void check_separable(const ModelStructure& s) {
  if (s.config.pe.kind != PeKind::kNone && !s.encoding->adds_to_input()) {
    throw DataError(
        {.what = "this encoding is no table added to the input, so the logits have no parts of positions and content",
         .where = "pe.kind",
         .got = std::string(pe_kind_name(s.config.pe.kind)),
         .expected = "learned, sinusoidal, laplacian or none"});
  }
  if (!s.post_norm()) {
    throw DataError(
        {.what = "a norm comes between the sum of content and positions and the logits, which then have no parts",
         .where = "model.norm",
         .got = "pre",
         .expected = "post"});
  }
}

// One layer: collects the input of its attention and adds up what its logits are made of.
class LayerLogits {
 public:
  LayerLogits(const ModelStructure& s, std::int64_t layer, const float* params, ConstMat positions)
      : s_(s),
        scale_(s.config.model.logit_scale / std::sqrt(static_cast<double>(s.head_width()))),
        position_scale_(s.config.model.position_logit_scale),
        positions_(positions.data != nullptr ? to_eigen(positions) : Matrix64::Zero(s.tokens, s.width())) {
    const BlockSlots& b = s.blocks[static_cast<std::size_t>(layer)];
    const std::int64_t c = s.width();
    const float* weight = params + s.layout[b.in_weight].offset;
    for (std::int64_t part = 0; part < 2; ++part) {
      weight_[static_cast<std::size_t>(part)] = to_eigen({weight + part * c * c, c, c}).transpose();
      bias_[static_cast<std::size_t>(part)] = Matrix64::Zero(1, c);
      if (b.in_bias >= 0)
        bias_[static_cast<std::size_t>(part)] = to_eigen({params + s.layout[b.in_bias].offset + part * c, 1, c});
    }
    position_query_ = positions_ * weight_[0];
    position_key_ = positions_ * weight_[1];
  }

  // input (B*T, C): content and positions.
  void add(ConstMat input) {
    const Matrix64 x = to_eigen(input);
    for (std::int64_t first = 0; first < input.rows; first += s_.tokens) {
      const Matrix64 content = x.middleRows(first, s_.tokens) - positions_;
      sums_.content += content.squaredNorm();
      sums_.position += positions_.squaredNorm();
      sums_.channels += static_cast<double>(content.size());
      const Matrix64 query = (content * weight_[0]).rowwise() + bias_[0].row(0);
      const Matrix64 key = (content * weight_[1]).rowwise() + bias_[1].row(0);
      for (std::int64_t h = 0; h < s_.heads(); ++h) add_head(h, query, key);
    }
  }

  LogitRow row(std::int64_t layer) const {
    const auto sd = [&](Part part) { return std::sqrt(sums_.variance[part] / sums_.queries); };
    LogitRow r;
    r.layer = layer;
    r.content_rms = std::sqrt(sums_.content / sums_.channels);
    r.position_rms = std::sqrt(sums_.position / sums_.channels);
    r.position_position = sd(kPositionPosition);
    r.position_content = sd(kPositionContent);
    r.content_position = sd(kContentPosition);
    r.content_content = sd(kContentContent);
    r.total = sd(kTotal);
    const double mean = sums_.sum / sums_.pairs;
    r.all_pairs = std::sqrt(std::max(0.0, sums_.squares / sums_.pairs - mean * mean));
    r.entropy = sums_.entropy / sums_.entropy_queries;
    return r;
  }

 private:
  void add_head(std::int64_t head, const Matrix64& query, const Matrix64& key) {
    const std::int64_t d = s_.head_width();
    const auto product = [&](const Matrix64& q, const Matrix64& k, double scale) -> Matrix64 {
      return scale * q.middleCols(head * d, d) * k.middleCols(head * d, d).transpose();
    };
    std::array<Matrix64, kParts> parts;
    parts[kPositionPosition] = product(position_query_, position_key_, scale_ * position_scale_);
    parts[kPositionContent] = product(position_query_, key, scale_);
    parts[kContentPosition] = product(query, position_key_, scale_);
    parts[kContentContent] = product(query, key, scale_);
    parts[kTotal] = parts[kPositionPosition] + parts[kPositionContent] + parts[kContentPosition] + parts[kContentContent];
    const bool causal = s_.config.model.attention_mask == AttentionMask::kCausal;
    for (std::int64_t i = 0; i < s_.tokens; ++i) {
      const std::int64_t seen = causal ? i + 1 : s_.tokens;
      if (seen < 2) continue;  // nothing to choose from
      for (std::size_t part = 0; part < kParts; ++part) {
        const auto logits = parts[part].row(i).head(seen).array();
        sums_.variance[part] += (logits - logits.mean()).square().mean();
      }
      sums_.queries += 1;
      add_total(parts[kTotal].row(i).head(seen));
    }
  }

  void add_total(const Eigen::RowVectorXd& logits) {
    sums_.sum += logits.sum();
    sums_.squares += logits.squaredNorm();
    sums_.pairs += static_cast<double>(logits.size());
    const Eigen::ArrayXd weight = (logits.array() - logits.maxCoeff()).exp();
    const double total = weight.sum();
    double entropy = std::log(total);
    for (Eigen::Index j = 0; j < weight.size(); ++j) entropy -= weight(j) / total * (logits(j) - logits.maxCoeff());
    sums_.entropy += entropy / std::log(static_cast<double>(logits.size()));
    sums_.entropy_queries += 1;
  }

  const ModelStructure& s_;
  double scale_, position_scale_;
  Matrix64 positions_;
  std::array<Matrix64, 2> weight_, bias_;  // of queries and keys; (in, out)
  Matrix64 position_query_, position_key_;
  LogitSums sums_;
};

class InputObserver : public Observer {
 public:
  explicit InputObserver(std::vector<LayerLogits>& layers) : layers_(layers) {}
  void on_activation(const Activation& a) override {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (a.name == fmt::format("blocks.{}.input", l)) layers_[l].add(a.values);
    }
  }

 private:
  std::vector<LayerLogits>& layers_;
};

LogitRow mean_row(const std::vector<LogitRow>& rows) {
  LogitRow mean;
  const auto average = [&](double LogitRow::*field) {
    double sum = 0;
    for (const LogitRow& r : rows) sum += r.*field;
    mean.*field = sum / static_cast<double>(rows.size());
  };
  for (const auto field :
       {&LogitRow::content_rms, &LogitRow::position_rms, &LogitRow::position_position, &LogitRow::position_content,
        &LogitRow::content_position, &LogitRow::content_content, &LogitRow::total, &LogitRow::all_pairs, &LogitRow::entropy})
    average(field);
  return mean;
}

}  // namespace

std::vector<LogitRow> logit_rows(const ModelStructure& s, const float* params, const Examples& examples) {
  check_separable(s);
  if (s.layers() == 0) throw DataError({.what = "the model has no attention", .got = "model.layers=0"});
  Prepared prepared(s, no_savings());
  prepared.update(params, {});
  std::vector<LayerLogits> layers;
  for (std::int64_t l = 0; l < s.layers(); ++l) layers.emplace_back(s, l, params, prepared.positions(l));
  InputObserver observer(layers);
  EncoderPass pass(s, std::clamp<std::int64_t>(kMicrobatchTokens / s.tokens, 1, 64), no_savings());
  for (std::int64_t i = 0; i < examples.count; i += pass.max_sequences()) {
    const Microbatch batch = microbatch_of(s.shape, examples, i, std::min(pass.max_sequences(), examples.count - i));
    pass.evaluate(prepared, batch, {}, &observer);
  }
  std::vector<LogitRow> rows;
  for (std::size_t l = 0; l < layers.size(); ++l) rows.push_back(layers[l].row(static_cast<std::int64_t>(l)));
  rows.push_back(mean_row(rows));
  return rows;
}

LogitResult analyze_logits(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                           const AnalyzeProgress& progress) {
  LogitResult result;
  result.split = choose_split(dataset, settings.split);
  const Examples& all = dataset.split(result.split);
  const std::int64_t count = std::min(settings.examples, kMostExamples);
  const Examples examples = sample_examples(dataset, all, count, settings.seed);
  result.examples = examples.count;
  for (std::size_t m = 0; m < run.models.size(); ++m) {
    const AnalysisModel& model = run.models[m];
    if (progress) progress("logits " + model.name, static_cast<double>(m) / static_cast<double>(run.models.size()));
    for (LogitRow& row : logit_rows(*run.structure, model.params.data(), examples)) {
      row.model = model.name;
      row.epoch = model.epoch;
      result.rows.push_back(std::move(row));
    }
  }
  if (run.initial() == nullptr) result.notes.push_back("no init/ model: nothing of the untrained model");
  return result;
}

}  // namespace locus
