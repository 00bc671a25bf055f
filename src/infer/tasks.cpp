// The one list of the program's own tasks.
#include "config/tasks.h"

#include <cmath>

#include "config/run_config.h"
#include "data/baselines.h"
#include "data/plain.h"
#include "infer/evaluate.h"
#include "stats/scores.h"

namespace locus {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

// Of classes that a user names: they may be of very different sizes.
double balanced_accuracy(const Dataset& dataset, const Examples& examples, const Evaluation& e) {
  std::vector<std::int32_t> labels;
  for (const std::int64_t i : e.indices) labels.push_back(examples.labels[static_cast<std::size_t>(i)]);
  return stats::class_scores({labels, e.predicted, {}, dataset.outputs}).balanced_accuracy;
}

Values class_measures(const Dataset& dataset, const Examples& examples, const Evaluation& e) {
  Values out = {{"accuracy", e.accuracy}};
  if (!dataset.class_names.empty()) out.emplace_back("balanced_accuracy", balanced_accuracy(dataset, examples, e));
  for (std::size_t c = 0; c < e.condition_accuracy.size(); ++c) {
    if (!std::isnan(e.condition_accuracy[c])) out.emplace_back("accuracy." + dataset.conditions[c], e.condition_accuracy[c]);
  }
  return out;
}

// Of each output the part of its variance in this split that is explained, and the mean of these parts.
Values number_measures(const Dataset& dataset, const Examples& examples, const Evaluation& e) {
  const auto outputs = static_cast<std::size_t>(dataset.outputs);
  double r2 = 0;
  for (std::size_t o = 0; o < outputs; ++o) {
    double mean = 0, squares = 0;
    const auto target = [&](std::int64_t i) {
      return static_cast<double>(examples.targets[static_cast<std::size_t>(i) * outputs + o]);
    };
    for (const std::int64_t i : e.indices) mean += target(i) / static_cast<double>(e.count);
    for (const std::int64_t i : e.indices) squares += (target(i) - mean) * (target(i) - mean) / static_cast<double>(e.count);
    r2 += (squares > 0 ? 1 - e.output_error[o] / squares : std::nan("")) / static_cast<double>(outputs);
  }
  return {{"mse", e.loss}, {"r2", r2}};
}

Values hidden_measures(const Dataset&, const Examples&, const Evaluation& e) { return {{"mse", e.loss}}; }

void check_masks(const RunConfig& c) {
  if ((c.model.readout == Readout::kEvery) != (c.mask.loss == MaskLoss::kAll))
    contradiction("model.readout and mask.loss disagree", "readout = masked goes with loss = masked, every with all");
  if (c.mask.kind == MaskKind::kFixed && c.mask.tokens.empty())
    contradiction("mask.kind = fixed without mask.tokens", "list the hidden tokens");
  if (c.mask.kind == MaskKind::kRandom && c.mask.count == 0 && (c.mask.ratio <= 0 || c.mask.ratio >= 1)) {
    contradiction("mask.ratio must lie between 0 and 1, both excluded",
                  "hide some tokens and show some, e.g. mask.ratio=0.5");
  }
}

}  // namespace

std::vector<TaskRow> built_in_tasks() {
  return {
      {.name = "classify",
       .summary = "the class of an example",
       .readouts = {Readout::kToken, Readout::kGiven, Readout::kMean, Readout::kCls, Readout::kFlat},
       .measures = {{.name = "accuracy", .words = "accuracy", .is_fraction = true},
                    {.name = "balanced_accuracy", .words = "balanced accuracy", .is_fraction = true}},
       .measure = class_measures,
       .add_baselines = add_plain_baselines},
      {.name = "masked",
       .summary = "the values of hidden tokens",
       .loss = LossKind::kSquaredError,
       .hides_tokens = true,
       .readouts = {Readout::kMasked, Readout::kEvery},
       .measures = {{.name = "mse",
                     .words = "error (MSE)",
                     .higher_is_better = false,
                     .note = "The error is that of predicting hidden tokens: small is good."}},
       .sections = {{"mask", [](RunConfig& c, FieldList& list) { describe(c.mask, list); }}},
       .check = check_masks,
       .measure = hidden_measures,
       .add_baselines = [](Dataset& d, ThreadPool& pool) { record_baselines(d, compute_baselines(d, {}, pool)); }},
      {.name = "regress",
       .summary = "the numbers of an example",
       .loss = LossKind::kSquaredError,
       .readouts = {Readout::kMean, Readout::kCls, Readout::kFlat, Readout::kToken},
       .measures = {{.name = "mse",
                     .words = "error (MSE)",
                     .higher_is_better = false,
                     .note = "The error is in units of the variance of each output in training."},
                    {.name = "r2", .words = "explained variance (R²)"}},
       .measure = number_measures,
       .add_baselines = add_plain_baselines},
  };
}

}  // namespace locus
