#include "analyze/scores.h"

#include <fmt/core.h>

#include <cmath>

#include "config/tasks.h"
#include "core/error.h"
#include "core/json.h"
#include "data/plain.h"
#include "data/table/dataset.h"
#include "infer/evaluate.h"
#include "stats/scores.h"
#include "stats/softmax.h"

namespace locus {
namespace {

constexpr const char* kSplit = "test";

// What one predictor says of the samples: probabilities of classes, or numbers.
struct Said {
  std::string predictor;
  MatrixD outputs;
};

bool has_numbers(const Dataset& d) { return d.has_split(kSplit) && !d.split(kSplit).targets.empty(); }

MatrixD model_outputs(const AnalysisRun& run, const Dataset& d, ThreadPool& pool) {
  EvalOptions options;
  options.keep_outputs = true;
  const Evaluation e = Evaluator(*run.structure, &pool).run(run.require_trained().params.data(), d.split(kSplit), options);
  MatrixD out(e.outputs.rows(), e.outputs.cols());
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    for (std::ptrdiff_t k = 0; k < out.cols(); ++k) out(i, k) = static_cast<double>(e.outputs(i, k));
    if (!has_numbers(d)) stats::softmax_row(out.row(i), 0);
  }
  return out;
}

std::vector<Said> all_predictors(const AnalysisRun& run, const Dataset& d, const AnalyzeSettings& settings,
                                 const AnalyzeProgress& progress) {
  ThreadPool pool(settings.threads);
  std::vector<Said> out = {{"model", model_outputs(run, d, pool)}};
  if (progress) progress("simple predictors on the same samples", 0.2);
  const auto known = d.baseline_outputs.find(kSplit);
  if (known != d.baseline_outputs.end()) {
    for (const auto& [name, outputs] : known->second) out.push_back({name, outputs});
    return out;
  }
  for (PlainBaseline& b : plain_baselines(plain_data(d), pool)) {
    for (PlainPrediction& p : b.predictions) {
      if (p.split == kSplit) out.push_back({b.name, std::move(p.outputs)});
    }
  }
  return out;
}

class Scorer {
 public:
  Scorer(const Dataset& d, const AnalyzeSettings& settings, ScoreResult& out)
      : d_(d), e_(d.split(kSplit)), clusters_(e_.cluster.begin(), e_.cluster.end()), out_(out) {
    options_.seed = static_cast<std::uint64_t>(settings.seed);
    if (d.output_names.empty() || !has_numbers(d)) return;
    truth_ = MatrixD(e_.count, d.outputs);
    for (std::size_t i = 0; i < e_.targets.size(); ++i) truth_.values()[i] = static_cast<double>(e_.targets[i]);
    if (const auto stored = d.description.find(kCoderKey); stored != d.description.end())
      scale_ = TableCoder::from_json(Json::parse(stored->second)).target_sd;
  }

  void add_classes(const Said& said) {
    const std::vector<std::int32_t> predicted = stats::most_likely(said.outputs.view());
    const stats::ClassPredictions p{e_.labels, predicted, said.outputs.view(), d_.outputs};
    add_intervals(said.predictor, stats::class_score_intervals(p, clusters_, options_));
    right_.push_back({said.predictor, {}});
    for (std::size_t i = 0; i < predicted.size(); ++i)
      right_.back().second.push_back(predicted[i] == e_.labels[i] ? 1.0 : 0.0);
    if (said.predictor != "model") return;
    const stats::ClassScores scores = stats::class_scores(p);
    for (std::size_t c = 0; c < scores.classes.size(); ++c) {
      const stats::ClassScore& s = scores.classes[c];
      out_.classes.push_back({d_.class_names[c], s.samples, s.predicted, s.right, s.recall(), s.precision(), s.f1()});
      for (std::size_t k = 0; k < scores.classes.size(); ++k) {
        const double n = scores.confusion(static_cast<std::ptrdiff_t>(c), static_cast<std::ptrdiff_t>(k));
        out_.confusion.push_back({d_.class_names[c], d_.class_names[k], static_cast<std::int64_t>(n)});
      }
    }
  }

  void add_numbers(const Said& said) {
    add_intervals(said.predictor, stats::number_score_intervals(truth_.view(), said.outputs.view(), clusters_, options_));
    right_.push_back({said.predictor, {}});
    for (std::ptrdiff_t i = 0; i < truth_.rows(); ++i) {
      double total = 0;
      for (std::ptrdiff_t o = 0; o < truth_.cols(); ++o)
        total += std::pow(said.outputs(i, o) - truth_(i, o), 2) / static_cast<double>(truth_.cols());
      right_.back().second.push_back(total);
    }
    const std::vector<stats::NumberScore> scores = stats::number_scores(truth_.view(), said.outputs.view());
    for (std::size_t o = 0; o < scores.size(); ++o) add_output(said, o, scores[o]);
  }

  // Paired, sample by sample.
  void add_differences(const std::string& measure) {
    for (std::size_t k = 1; k < right_.size(); ++k) {
      const auto statistic = [&](std::span<const std::size_t> rows) {
        double total = 0;
        for (const std::size_t i : rows) total += right_[0].second[i] - right_[k].second[i];
        return total / static_cast<double>(rows.size());
      };
      const std::size_t n = right_[0].second.size();
      const stats::BootstrapResult b = clusters_.empty() ? stats::bootstrap_rows(n, statistic, options_)
                                                         : stats::bootstrap_clusters(clusters_, statistic, options_);
      out_.differences.push_back({right_[k].first, measure, b.estimate, b.interval.lo, b.interval.hi});
    }
  }

 private:
  void add_intervals(const std::string& predictor, const std::vector<stats::ScoreInterval>& scores) {
    for (const stats::ScoreInterval& s : scores)
      out_.scores.push_back({kSplit, predictor, s.name, s.value, s.interval.lo, s.interval.hi, e_.count});
  }

  void add_output(const Said& said, std::size_t o, const stats::NumberScore& score) {
    MatrixD truth(truth_.rows(), 1), here(truth_.rows(), 1);
    for (std::ptrdiff_t i = 0; i < truth.rows(); ++i) {
      truth(i, 0) = truth_(i, static_cast<std::ptrdiff_t>(o));
      here(i, 0) = said.outputs(i, static_cast<std::ptrdiff_t>(o));
    }
    OutputRow row;
    row.predictor = said.predictor;
    row.output = d_.output_names[o];
    row.mse = score.mse * (scale_.empty() ? 1 : scale_[o] * scale_[o]);
    row.r2 = score.r2;
    for (const stats::ScoreInterval& s : stats::number_score_intervals(truth.view(), here.view(), clusters_, options_)) {
      if (s.name != "r2") continue;
      row.r2_low = s.interval.lo;
      row.r2_high = s.interval.hi;
    }
    out_.outputs.push_back(std::move(row));
  }

  const Dataset& d_;
  const Examples& e_;
  std::vector<int> clusters_;
  ScoreResult& out_;
  stats::BootstrapOptions options_;
  MatrixD truth_;
  std::vector<double> scale_;
  std::vector<std::pair<std::string, std::vector<double>>> right_;  // of each predictor, the model first: 1 or 0, or squares
};

[[noreturn]] void refuse_scores(const AnalysisRun& run) {
  throw DataError({.what = "there are no classes or numbers that a user named",
                   .where = run.path.string(),
                   .expected = "a table or pictures with a target, and samples for testing"});
}

}  // namespace

void require_answers(const AnalysisRun& run) {
  if (task_of(run.config).hides_tokens) refuse_scores(run);
}

ScoreResult analyze_scores(const AnalysisRun& run, const Dataset& d, const AnalyzeSettings& settings,
                           const AnalyzeProgress& progress) {
  if (!d.has_split(kSplit) || (d.class_names.empty() && d.output_names.empty())) refuse_scores(run);
  ScoreResult out;
  Scorer scorer(d, settings, out);
  const bool classes = !d.class_names.empty();
  for (const Said& said : all_predictors(run, d, settings, progress))
    classes ? scorer.add_classes(said) : scorer.add_numbers(said);
  scorer.add_differences(classes ? "accuracy" : "mse");
  return out;
}

}  // namespace locus
