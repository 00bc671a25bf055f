#include "report/registry.h"

#include "core/error.h"
#include "core/text.h"
#include "report/figures/accuracy_vs_sigma.h"
#include "report/figures/agreement.h"
#include "report/figures/attention.h"
#include "report/figures/audit.h"
#include "report/figures/brain.h"
#include "report/figures/by_difficulty.h"
#include "report/figures/identifiability.h"
#include "report/figures/interventions.h"
#include "report/figures/kernel.h"
#include "report/figures/logits.h"
#include "report/figures/modules.h"
#include "report/figures/position_map.h"
#include "report/figures/recovery.h"
#include "report/figures/relations.h"
#include "report/figures/reliability.h"
#include "report/figures/scores.h"
#include "report/figures/search.h"
#include "report/figures/similarity.h"
#include "report/figures/sweep_heatmap.h"
#include "report/figures/tiled_similarity.h"
#include "report/figures/training_curves.h"
#include "report/figures/unscramble.h"

namespace locus::report {
namespace {

// Joins a figure's collect and draw steps.
template <auto Collect, auto Draw>
Found<Figure> make(const Inputs& inputs) {
  auto found = Collect(inputs);
  if (!found.value) return Found<Figure>::none(found.missing);
  return Found<Figure>::of(Draw(*found.value));
}

std::vector<FigureSpec>& specs() {
  static std::vector<FigureSpec> specs = {
      {"search", "What a search found: score against the searched key", "a finished search of `locus tune`",
       make<collect_search, draw_search>},
      {"accuracy_vs_sigma", "The measure against σ, fixed encodings as lines", "an evaluated measure",
       make<collect_accuracy_vs_sigma, draw_accuracy_vs_sigma>},
      {"training_curves", "Loss and measure over training", "two evaluations or more",
       make<collect_training_curves, draw_training_curves>},
      {"by_difficulty", "The measure for each condition of the data", "a measure of each condition",
       make<collect_by_difficulty, draw_by_difficulty>},
      {"audit", "What was read as what in a table or pictures (a table)", "a run of a table or of pictures",
       make<collect_audit, draw_audit>},
      {"scores", "Measures with intervals, beside simple predictors (a table)", "the analysis scores",
       make<collect_scores, draw_scores>},
      {"confusion", "Which classes are mistaken for which", "the analysis scores of classes",
       make<collect_confusion, draw_confusion>},
      {"unscramble", "A picture put together again by the positions alone", "the analysis unscramble",
       make<collect_unscramble, draw_unscramble>},
      {"sweep_heatmap", "The measure over σ and any other key", "runs that vary another key than σ",
       make<collect_sweep_heatmap, draw_sweep_heatmap>},
      {"similarity", "Cosines of the encoding table: initial, learned, truth", "a trained model with a table",
       make<collect_similarity, draw_similarity>},
      {"tiled_similarity", "One map of cosines per token of a grid", "a trained model with a table, grid coordinates",
       make<collect_tiled_similarity, draw_tiled_similarity>},
      {"position_map", "Learned positions as a 2-D map", "a trained model with a table",
       make<collect_position_map, draw_position_map>},
      {"recovery", "Recovery of the true arrangement against σ", "the analysis recovery",
       make<collect_recovery, draw_recovery>},
      {"modules", "Modularity and segregation of the encoding", "the analysis networks",
       make<collect_modules, draw_modules>},
      {"brain", "Regions in three planes, by network and learned community",
       "3-D coordinates; for communities the analysis networks", make<collect_brain, draw_brain>},
      {"attention", "Attention maps beside the puzzle and the solver's cells", "the analysis attention",
       make<collect_attention, draw_attention>},
      {"agreement", "Agreement of attention against generalisation", "the analysis attention with reference runs",
       make<collect_agreement, draw_agreement>},
      {"interventions", "What changing the positions does", "the analysis interventions",
       make<collect_interventions, draw_interventions>},
      {"kernel", "Movement of kernel and parameters against σ", "the analyses kernel and movement",
       make<collect_kernel, draw_kernel>},
      {"logits", "Parts of the attention logits against σ", "the analysis logits", make<collect_logits, draw_logits>},
      {"identifiability", "Agreement of the positions of other seeds", "the analysis identifiability of two runs or more",
       make<collect_identifiability, draw_identifiability>},
      {"reliability", "Agreement of the positions of two halves of the people", "the analysis reliability",
       make<collect_reliability, draw_reliability>},
      {"relations", "Which measures go with generalisation (a table)", "the analysis relations of three runs or more",
       make<collect_relations, draw_relations>},
  };
  return specs;
}

}  // namespace

const std::vector<FigureSpec>& figure_specs() { return specs(); }

void register_figure(FigureSpec spec) {
  for (const FigureSpec& known : specs()) {
    if (known.name == spec.name) throw ConfigError({.what = "there is a figure of this name", .got = spec.name});
  }
  specs().push_back(std::move(spec));
}

const FigureSpec& find_figure(const std::string& name) {
  std::vector<std::string> names;
  for (const FigureSpec& spec : figure_specs()) {
    if (spec.name == name) return spec;
    names.push_back(spec.name);
  }
  const std::string near = nearest_name(name, names);
  throw ConfigError({.what = "unknown figure",
                     .where = "",
                     .got = name,
                     .expected = "one of " + join(names, ", "),
                     .hint = near.empty() ? "" : "did you mean " + near + "?"});
}

}  // namespace locus::report
