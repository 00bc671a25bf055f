#include "report/figures/logits.h"

#include <fmt/core.h>

#include "analyze/results/logits.h"
#include "report/markup.h"

namespace locus::report {
namespace {

struct Part {
  const char* label;
  double LogitRow::*field;
};
constexpr Part kParts[] = {{"all", &LogitRow::total},
                           {"position with position", &LogitRow::position_position},
                           {"position with content", &LogitRow::position_content},
                           {"content with position", &LogitRow::content_position},
                           {"content with content", &LogitRow::content_content}};

// Of the mean over layers.
RunNumber mean_of(const std::string& model, double LogitRow::*field) {
  return number_of(&LogitResult::rows, field, [=](const LogitRow& row) { return row.model == model && row.layer < 0; });
}

std::vector<SigmaPanel> panels_of(const Inputs& inputs, const std::string& model) {
  std::vector<SigmaPanel> panels = {{"Spread of the logits", "standard deviation over keys", {}},
                                    {"Entropy of attention", "share of that of equal weights", {}}};
  int colour = 0;
  for (const Part& part : kParts)
    panels[0].lines.push_back(collect_line(inputs, part.label, category_class(colour++), mean_of(model, part.field)));
  panels[1].lines.push_back(collect_line(inputs, "all", category_class(0), mean_of(model, &LogitRow::entropy)));
  panels[1].lines.back().references = true;
  std::erase_if(panels, [](const SigmaPanel& p) { return !has_values(p); });
  return panels;
}

}  // namespace

Found<LogitSpread> collect_logits(const Inputs& inputs) {
  LogitSpread data;
  for (const auto& [model, words] : {std::pair("final", "trained"), std::pair("init", "untrained")}) {
    std::vector<SigmaPanel> panels = panels_of(inputs, model);
    if (!panels.empty()) data.views.push_back({words, std::move(panels)});
  }
  if (data.views.empty()) return Found<LogitSpread>::none("no run has the analysis logits (locus analyze makes it)");
  return Found<LogitSpread>::of(std::move(data));
}

Figure draw_logits(const LogitSpread& data) {
  Figure figure{.name = "logits", .title = "Parts of the attention logits against σ"};
  for (const LogitSpread::View& view : data.views) {
    Variant variant;
    variant.choices = {{"model", view.model}};
    for (const SigmaPanel& panel : view.panels) variant.panels.push_back(draw_sigma_panel(panel));
    figure.variants.push_back(std::move(variant));
  }
  int colour = 0;
  for (const Part& part : kParts) figure.legend.push_back({.label = part.label, .css = category_class(colour++)});
  figure.caption = fmt::format(
      "Root mean square over queries, heads and examples of the spread over keys, mean of the layers; means over runs ({}) "
      "with Student's 95 % interval (3 runs or more). Parts are named query first. Squares of the parts add up to that of "
      "all only as far as the parts are unrelated.",
      runs_text(data.views[0].panels));
  figure.csv = csv_logits(data);
  return figure;
}

std::string csv_logits(const LogitSpread& data) {
  std::string out;
  for (const LogitSpread::View& view : data.views)
    out += csv_sigma_panels(view.panels, out.empty() ? "model," : "", view.model + ",");
  return out;
}

}  // namespace locus::report
