#include "report/registry.h"

#include "core/error.h"
#include "core/text.h"
#include "report/figures/accuracy_vs_sigma.h"
#include "report/figures/training_curves.h"

namespace locus::report {
namespace {

// Joins a figure's collect and draw steps.
template <auto Collect, auto Draw>
Found<Figure> make(const Inputs& inputs) {
  auto found = Collect(inputs);
  if (!found.value) return Found<Figure>::none(found.missing);
  return Found<Figure>::of(Draw(*found.value));
}

}  // namespace

const std::vector<FigureSpec>& figure_specs() {
  static const std::vector<FigureSpec> specs = {
      {"accuracy_vs_sigma", "The measure against σ, fixed encodings as lines", "summary.json",
       make<collect_accuracy_vs_sigma, draw_accuracy_vs_sigma>},
      {"training_curves", "Loss and measure over training", "metrics.jsonl",
       make<collect_training_curves, draw_training_curves>},
  };
  return specs;
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
