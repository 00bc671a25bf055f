#include "report/figures/kernel.h"

#include <fmt/core.h>

#include <map>

#include "analyze/results/kernel.h"
#include "analyze/results/movement.h"
#include "report/markup.h"

namespace locus::report {
namespace {

// One line per combination of the other keys (the control that scales the content along with σ is one of them).
void split_by_others(const Inputs& inputs, const SigmaLine& line, const std::string& suffix, std::vector<SigmaLine>& out) {
  std::map<std::string, SigmaLine> parts;
  for (const auto& s : line.settings) {
    const std::string& others = inputs.groups[static_cast<std::size_t>(s.group)].others;
    SigmaLine& part = parts[others];
    part.colour = line.colour;
    part.label = line.label + (others.empty() ? "" : ", " + others) + suffix;
    part.settings.push_back(s);
  }
  bool first = true;
  for (auto& [others, part] : parts) {
    part.references = line.references && first;
    part.dashed = !first;
    first = false;
    out.push_back(std::move(part));
  }
}

SigmaPanel panel_of(const Inputs& inputs, const std::string& title, const std::string& y_label,
                    const std::vector<std::pair<std::string, RunNumber>>& lines) {
  SigmaPanel panel{title, y_label, {}};
  int colour = 0;
  for (const auto& [label, number] : lines) {
    SigmaLine line = collect_line(inputs, label, category_class(colour++), number);
    line.references = lines.size() == 1;
    split_by_others(inputs, line, "", panel.lines);
  }
  return panel;
}

}  // namespace

Found<KernelMovement> collect_kernel(const Inputs& inputs) {
  const auto kernel = [](const std::string& part, double KernelRow::*field) {
    return number_of(&KernelResult::kernels, field,
                     [=](const KernelRow& row) { return row.model == "final" && row.part == part; });
  };
  const auto movement = [](const std::string& name) {
    return number_of(&MovementResult::rows, &MovementRow::relative, [=](const MovementRow& row) {
      return row.model == "final" && row.level == "part" && row.name == name;
    });
  };
  const RunNumber taylor =
      number_of(&KernelResult::taylor, &TaylorRow::r2, [](const TaylorRow& row) { return row.model == "final"; });
  KernelMovement data;
  data.panels = {
      panel_of(inputs, "Change of the kernel", "1 − cos(K₀, K)",
               {{"all parameters", kernel("all", &KernelRow::change)},
                {"encoding", kernel("pe", &KernelRow::change)},
                {"the rest", kernel("rest", &KernelRow::change)}}),
      panel_of(inputs, "Alignment with the targets", "centred kernel alignment",
               {{"all parameters", kernel("all", &KernelRow::alignment)}}),
      panel_of(inputs, "Linear model at initialisation", "R² against the trained model", {{"all parameters", taylor}}),
      panel_of(inputs, "Movement of the parameters", "‖θ − θ₀‖ / ‖θ₀‖",
               {{"all parameters", movement("all")}, {"encoding", movement("pe")}, {"the rest", movement("rest")}})};
  std::erase_if(data.panels, [](const SigmaPanel& p) { return !has_values(p); });
  if (data.panels.empty()) {
    return Found<KernelMovement>::none("no run has the analysis kernel or movement (locus analyze makes them)");
  }
  return Found<KernelMovement>::of(std::move(data));
}

Figure draw_kernel(const KernelMovement& data) {
  Figure figure{.name = "kernel", .title = "Lazy or rich: movement from initialisation against σ"};
  figure.variants.emplace_back();
  std::map<std::string, LegendEntry> legend;
  for (const SigmaPanel& panel : data.panels) {
    figure.variants[0].panels.push_back(draw_sigma_panel(panel));
    for (const SigmaLine& line : panel.lines) {
      legend.emplace(
          line.label,
          LegendEntry{.label = line.label, .css = line.colour, .mark = line.dashed ? LegendMark::kDash : LegendMark::kLine});
    }
  }
  for (const auto& [label, entry] : legend) figure.legend.push_back(entry);
  figure.caption = fmt::format(
      "Means over runs ({}) with Student's 95 % interval (3 runs or more). Relative movement of the encoding falls with σ "
      "without any "
      "learning, because its start is larger: compare with runs that scale the content along (model.embed_gain), "
      "drawn as dashed lines where they exist.",
      runs_text(data.panels));
  figure.csv = csv_kernel(data);
  return figure;
}

std::string csv_kernel(const KernelMovement& data) {
  return "measure,line,setting,sigma,run,value\n" + csv_sigma_panels(data.panels, "", "");
}

}  // namespace locus::report
