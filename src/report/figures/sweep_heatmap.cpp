#include "report/figures/sweep_heatmap.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/matrix_panel.h"
#include "report/scale.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

// Numbers by size, then texts by letter.
bool value_before(const std::string& a, const std::string& b) {
  double x = 0, y = 0;
  const bool nx = std::from_chars(a.data(), a.data() + a.size(), x).ec == std::errc();
  const bool ny = std::from_chars(b.data(), b.data() + b.size(), y).ec == std::errc();
  return nx && ny && x != y ? x < y : a < b;
}

Found<SweepHeatmap::Grid> grid_of(const Inputs& inputs, const std::string& key) {
  std::map<std::string, std::map<double, std::vector<double>>> values;
  std::map<std::string, std::map<double, std::set<int>>> groups;
  std::set<double> sigmas;
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    const Group& group = inputs.groups[g];
    if (!group.sigma) continue;
    const std::string text = config_text(inputs.config(group.runs[0]), key);
    for (const double v : values_of(inputs, group, inputs.measure->key())) {
      values[text][*group.sigma].push_back(v);
      groups[text][*group.sigma].insert(static_cast<int>(g));
      sigmas.insert(*group.sigma);
    }
  }
  if (values.size() < 2 || sigmas.empty()) return Found<SweepHeatmap::Grid>::none("one value");
  SweepHeatmap::Grid grid;
  grid.key = key;
  grid.sigmas.assign(sigmas.begin(), sigmas.end());
  for (const auto& [text, own] : values) grid.values.push_back(text);
  std::sort(grid.values.begin(), grid.values.end(), value_before);
  for (const std::string& text : grid.values) {
    grid.cells.emplace_back();
    for (const double sigma : grid.sigmas) {
      const std::vector<double>& cell = values[text][sigma];
      grid.cells.back().push_back({cell.empty() ? NAN : stats::mean(cell), cell.size()});
      grid.mixed = grid.mixed || groups[text][sigma].size() > 1;
    }
  }
  return Found<SweepHeatmap::Grid>::of(std::move(grid));
}

Panel draw_grid(const SweepHeatmap& data, const SweepHeatmap::Grid& grid) {
  Range range;
  for (const auto& row : grid.cells) {
    for (const auto& cell : row) range.include(cell.mean);
  }
  double left = 40;
  for (const std::string& v : grid.values) left = std::max(left, text_width(shorten(v, 22), 11.5) + 34);
  const double cell_width = std::max(46.0, 340.0 / static_cast<double>(grid.sigmas.size())), cell_height = 34;
  const Box area{left, 12, cell_width * static_cast<double>(grid.sigmas.size()),
                 cell_height * static_cast<double>(grid.values.size())};
  Svg svg;
  for (std::size_t r = 0; r < grid.values.size(); ++r) {
    const double y = area.y + cell_height * static_cast<double>(r);
    svg.text({left - 8, y + cell_height / 2 + 4}, shorten(grid.values[r], 22), "tick", Anchor::kEnd);
    for (std::size_t c = 0; c < grid.sigmas.size(); ++c) {
      const SweepHeatmap::Cell& cell = grid.cells[r][c];
      const Box box{area.x + cell_width * static_cast<double>(c) + 1, y + 1, cell_width - 2, cell_height - 2};
      if (cell.runs == 0) {
        svg.rect(box, "frame");
        continue;
      }
      const int index = colour_index(cell.mean, range.lo, range.hi);
      const Mark mark{.title = fmt::format("{} = {}, σ {}: {}, n = {}", grid.key, grid.values[r], pretty(grid.sigmas[c], 4),
                                           data.measure.show(cell.mean), cell.runs),
                      .x = grid.sigmas[c],
                      .value = cell.mean};
      svg.rect_fill(box, hex(colour_map(ColourMap::kSequential)[static_cast<std::size_t>(index)]), &mark);
      const double shown = data.measure.is_fraction() ? 100 * cell.mean : cell.mean;
      svg.text({box.x + box.width / 2, y + cell_height / 2 + 4}, pretty(shown, 3), index < 140 ? "on-dark" : "on-light",
               Anchor::kMiddle);
    }
  }
  for (std::size_t c = 0; c < grid.sigmas.size(); ++c) {
    svg.text({area.x + cell_width * (static_cast<double>(c) + 0.5), area.bottom() + 16}, pretty(grid.sigmas[c], 3), "tick",
             Anchor::kMiddle);
  }
  svg.text({area.x + area.width / 2, area.bottom() + 36}, "σ of the initial encoding", "", Anchor::kMiddle);
  svg.text_vertical({13, area.y + area.height / 2}, fit_text(grid.key, std::max(area.height, 80.0), 11.5), "");
  MatrixSpec bar;
  bar.map = ColourMap::kSequential;
  const double factor = data.measure.is_fraction() ? 100 : 1;
  bar.lo = range.lo * factor;
  bar.hi = range.hi * factor;
  bar.bar_label = data.measure.label();
  draw_colour_bar(svg, {area.x, area.bottom() + 50}, area.width, bar);
  return {area.right() + 12, area.bottom() + 80, data.measure.words() + " over σ and " + grid.key, svg.body()};
}

}  // namespace

Found<SweepHeatmap> collect_sweep_heatmap(const Inputs& inputs) {
  if (!inputs.measure) return Found<SweepHeatmap>::none("no run has an evaluated measure");
  SweepHeatmap data;
  data.measure = *inputs.measure;
  for (const std::string& key : inputs.varying) {
    if (key == "pe.sigma" || data.grids.size() >= 8) continue;
    Found<SweepHeatmap::Grid> grid = grid_of(inputs, key);
    if (grid.value) data.grids.push_back(std::move(*grid.value));
  }
  if (data.grids.empty())
    return Found<SweepHeatmap>::none("learned encodings were run with no other key varied than σ and the seed");
  return Found<SweepHeatmap>::of(std::move(data));
}

Figure draw_sweep_heatmap(const SweepHeatmap& data) {
  std::string title = data.measure.words() + " over σ and other keys";
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  Figure figure{.name = "sweep_heatmap", .title = title};
  std::size_t low = SIZE_MAX, high = 0;
  bool mixed = false;
  for (const SweepHeatmap::Grid& grid : data.grids) {
    Variant variant;
    variant.choices = {{"key", grid.key}};
    variant.panels.push_back(draw_grid(data, grid));
    figure.variants.push_back(std::move(variant));
    mixed = mixed || grid.mixed;
    for (const auto& row : grid.cells) {
      for (const auto& cell : row) {
        if (cell.runs == 0) continue;
        low = std::min(low, cell.runs);
        high = std::max(high, cell.runs);
      }
    }
  }
  figure.caption = fmt::format("Means over runs, n = {} a cell; empty cells were not run. Learned encodings only.",
                               low == high ? fmt::format("{}", low) : fmt::format("{}–{}", low, high));
  if (mixed) figure.caption += " Further keys vary: a cell averages over them.";
  figure.csv = csv_sweep_heatmap(data);
  return figure;
}

std::string csv_sweep_heatmap(const SweepHeatmap& data) {
  std::string out = "key,value,sigma,runs,mean\n";
  for (const SweepHeatmap::Grid& grid : data.grids) {
    for (std::size_t r = 0; r < grid.values.size(); ++r) {
      for (std::size_t c = 0; c < grid.sigmas.size(); ++c) {
        const std::string cells[] = {grid.key, grid.values[r], shortest(grid.sigmas[c]),
                                     std::to_string(grid.cells[r][c].runs), shortest(grid.cells[r][c].mean)};
        out += csv_row(cells);
      }
    }
  }
  return out;
}

}  // namespace locus::report
