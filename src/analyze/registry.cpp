// The analyses of the program itself, and those that a linked program adds.
#include "analyze/results/registry.h"

#include <algorithm>

#include "analyze/analyze.h"
#include "analyze/attention.h"
#include "analyze/identifiability.h"
#include "analyze/interventions.h"
#include "analyze/kernel.h"
#include "analyze/logits.h"
#include "analyze/movement.h"
#include "analyze/networks.h"
#include "analyze/recovery.h"
#include "analyze/relations.h"
#include "analyze/reliability.h"
#include "analyze/scores.h"
#include "analyze/unscramble.h"
#include "core/error.h"

namespace locus {
namespace {

Analysis recovery() {
  return analysis_of_run({.question = "Did the encoding recover the true arrangement of the tokens?",
                          .needs = "an encoding with a table",
                          .keys = {"seed", "permutations", "snapshots", "matrices"},
                          .figures = {"recovery"}},
                         [](const AnalysisJob& job) { return analyze_recovery(job.run, job.settings, job.progress); });
}

Analysis networks() {
  return analysis_of_run(
      {.question = "Are the rows of the encoding grouped as the modules or networks of the tokens are?",
       .needs = "an encoding with a table, labels of the tokens",
       .version = 3,
       .keys = {"seed", "permutations", "surrogates", "community_starts", "resolution", "snapshots", "matrices"},
       .figures = {"modules", "brain"}},
      [](const AnalysisJob& job) { return analyze_networks(job.run, job.settings, job.progress); });
}

Analysis movement() {
  return analysis_of_run({.question = "How far did the parameters move from initialisation: the encoding, and all others?",
                          .needs = "the model at initialisation",
                          .keys = {"snapshots"},
                          .figures = {"kernel"}},
                         [](const AnalysisJob& job) { return analyze_movement(job.run, job.settings, job.progress); });
}

Analysis logits() {
  return analysis_of_run(
      {.question = "How far do attention logits spread, and through which of their parts?",
       .needs = "examples; an encoding with a table, model.norm = post",
       .keys = {"seed", "snapshots", "split", "examples"},
       .figures = {"logits"},
       .needs_dataset = true},
      [](const AnalysisJob& job) { return analyze_logits(job.run, job.dataset(), job.settings, job.progress); });
}

Analysis attention() {
  return analysis_of_run(
      {.question = "Where does attention go, and does it agree with a reference and with the task?",
       .needs = "examples; reference runs for agreement",
       .keys = {"seed", "permutations", "snapshots", "split", "examples", "kept_examples", "references"},
       .figures = {"attention", "agreement"},
       .needs_dataset = true},
      [](const AnalysisJob& job) { return analyze_attention(job.run, job.dataset(), job.settings, job.progress); });
}

Analysis interventions() {
  return analysis_of_run(
      {.question = "Does the encoding cause the generalisation? (changed in a trained model, nothing retrained)",
       .needs = "examples; an encoding with a table",
       .keys = {"seed", "examples", "others", "alphas", "scales", "repeats", "most_lesions"},
       .figures = {"interventions"},
       .needs_dataset = true},
      [](const AnalysisJob& job) { return analyze_interventions(job.run, job.dataset(), job.settings, job.progress); });
}

Analysis unscramble() {
  return analysis_of_run({.question = "Can the tokens of a grid be put back into their places by the positions alone?",
                          .needs = "a PE that adds a table, tokens on a grid of two axes, examples",
                          .keys = {"seed"},
                          .figures = {"unscramble"},
                          .needs_dataset = true},
                         [](const AnalysisJob& job) {
                           require_grid(job.run);
                           return analyze_unscramble(job.run, job.dataset(), job.settings, job.progress);
                         });
}

Analysis scores() {
  return analysis_of_run({.question = "How good are the predictions, beside those of simple predictors?",
                          .needs = "examples with classes or numbers to predict",
                          .keys = {"seed"},
                          .figures = {"scores", "confusion"},
                          .needs_dataset = true},
                         [](const AnalysisJob& job) {
                           require_answers(job.run);
                           return analyze_scores(job.run, job.dataset(), job.settings, job.progress);
                         });
}

Analysis kernel() {
  return analysis_of_run(
      {.question = "Lazy or rich: does the neural tangent kernel change during training?",
       .needs = "examples, the model at initialisation; about a minute for each checkpoint",
       .keys = {"seed", "snapshots", "split", "probe", "probe_outputs"},
       .figures = {"kernel"},
       .needs_dataset = true,
       .by_default = false},
      [](const AnalysisJob& job) { return analyze_kernel(job.run, job.dataset(), job.settings, job.progress); });
}

Analysis identifiability() {
  return analysis_of_group(
      {.question = "Do other seeds, layers and times give the same encoding?",
       .needs = "at least two runs of the same number of tokens",
       .keys = {"snapshots"},
       .figures = {"identifiability"}},
      [](const AnalysisGroupJob& job) { return analyze_identifiability(job.runs, job.settings, job.progress); });
}

Analysis reliability() {
  return analysis_of_group(
      {.question = "Do other people give the same positions?",
       .needs = "runs on two halves of the people, better of two seeds",
       .keys = {"seed"},
       .figures = {"reliability"}},
      [](const AnalysisGroupJob& job) { return analyze_reliability(job.runs, job.settings, job.progress); });
}

Analysis relations() {
  return analysis_of_group({.question = "Which measures of a run go with its generalisation?",
                            .needs = "at least three analysed runs",
                            .version = 2,
                            .keys = {"seed"},
                            .figures = {"relations"},
                            .reads_results = true},
                           [](const AnalysisGroupJob& job) { return analyze_relations(job.runs, job.settings); });
}

std::vector<Analysis>& rows() {
  static std::vector<Analysis> rows = {recovery(),   networks(),        movement(),    scores(),
                                       unscramble(), logits(),          attention(),   interventions(),
                                       kernel(),     identifiability(), reliability(), relations()};
  return rows;
}

}  // namespace

const std::vector<Analysis>& all_analyses() { return rows(); }

const Analysis* find_analysis(std::string_view name) {
  const auto it = std::find_if(rows().begin(), rows().end(), [&](const Analysis& a) { return a.name == name; });
  return it == rows().end() ? nullptr : &*it;
}

void register_analysis(Analysis analysis) {
  if (find_analysis(analysis.name) != nullptr)
    throw ConfigError({.what = "there is an analysis of this name", .got = analysis.name});
  const auto at = std::find_if(rows().begin(), rows().end(), [](const Analysis& a) { return a.on_group(); });
  rows().insert(analysis.on_group() ? rows().end() : at, std::move(analysis));
}

}  // namespace locus
