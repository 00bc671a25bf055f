// The one list of the program's own tasks.
#include "config/tasks.h"

#include <cmath>

#include "config/run_config.h"
#include "data/baselines.h"
#include "infer/evaluate.h"

namespace locus {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

Values class_measures(const Dataset& dataset, const Examples&, const Evaluation& e) {
  Values out = {{"accuracy", e.accuracy}};
  for (std::size_t c = 0; c < e.condition_accuracy.size(); ++c) {
    if (!std::isnan(e.condition_accuracy[c])) out.emplace_back("accuracy." + dataset.conditions[c], e.condition_accuracy[c]);
  }
  return out;
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
       .measures = {{.name = "accuracy", .words = "accuracy", .is_fraction = true}},
       .measure = class_measures},
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
       .measures = {{.name = "mse", .words = "error (MSE)", .higher_is_better = false}},
       .measure = hidden_measures},
  };
}

}  // namespace locus
