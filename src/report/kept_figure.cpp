#include "report/kept_figure.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <map>

#include "config/toml_depth.h"
#include "core/error.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/file.h"
#include "report/markup.h"
#include "report/plot.h"
#include "results/kept_runs.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

toml::table parse(const fs::path& file) {
  const std::string text = read_text_file(file);
  require_shallow_toml(text, file.string());
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& e) {
    throw DataError({.what = std::string("not valid TOML: ") + std::string(e.description()), .where = file.string()});
  }
}

std::string text_of(const toml::table& table, const char* key, const fs::path& file) {
  const auto text = table[key].value<std::string>();
  if (text && !text->empty()) return *text;
  throw DataError({.what = std::string("a figure of kept results lacks a key"), .where = file.string(), .expected = key});
}

std::vector<toml::table> tables_of(const toml::table& table, const char* key, const fs::path& file) {
  std::vector<toml::table> out;
  if (const toml::array* array = table[key].as_array()) {
    for (const toml::node& item : *array) {
      if (const toml::table* row = item.as_table()) out.push_back(*row);
    }
  }
  if (out.empty())
    throw DataError({.what = "a figure of kept results lacks its parts",
                     .where = file.string(),
                     .expected = fmt::format("[[{}]]", key)});
  return out;
}

struct Study {
  std::string name, truth;
  std::vector<KeptRun> runs;
};

Study read_study(const toml::table& table, const fs::path& root, const fs::path& file) {
  Study study{text_of(table, "name", file), text_of(table, "truth", file), {}};
  std::vector<std::string> where;
  if (const toml::array* array = table["where"].as_array()) {
    for (const toml::node& item : *array) where.push_back(item.value_or(std::string{}));
  }
  for (KeptRun& run : read_kept_runs(root / text_of(table, "from", file))) {
    if (run.config.pe.is_trained() && matches_all(run.config, where)) study.runs.push_back(std::move(run));
  }
  return study;
}

// Names of measures have {truth} where each study has its own.
std::string key_in_study(const std::string& key, const Study& study) {
  constexpr std::string_view kTruth = "{truth}";
  const std::size_t at = key.find(kTruth);
  return at == std::string::npos ? key : key.substr(0, at) + study.truth + key.substr(at + kTruth.size());
}

KeptFigure::PanelData read_panel(const toml::table& table, const std::string& x_key, const std::vector<Study>& studies,
                                 const fs::path& file) {
  KeptFigure::PanelData panel{text_of(table, "title", file), {}};
  const std::string y_key = text_of(table, "y", file);
  const auto floor_key = table["floor"].value<std::string>(), limit_key = table["limit"].value<std::string>();
  for (std::size_t s = 0; s < studies.size(); ++s) {
    const std::size_t before = panel.dots.size();
    for (const KeptRun& run : studies[s].runs) {
      const auto x = kept_value(run, x_key), y = kept_value(run, key_in_study(y_key, studies[s]));
      if (!x || !y) continue;
      KeptFigure::Dot dot{studies[s].name, fmt::format("{}, seed {}", encoding_label(run.config), run.config.seed)};
      dot.colour = static_cast<int>(s);
      dot.x = *x;
      dot.y = *y;
      if (floor_key) dot.floor = kept_value(run, key_in_study(*floor_key, studies[s]));
      if (limit_key) dot.limit = kept_value(run, key_in_study(*limit_key, studies[s]));
      panel.dots.push_back(std::move(dot));
    }
    if (panel.dots.size() > before) continue;
    throw DataError({.what = "no kept run of a study has the measures of a figure",
                     .where = file.string(),
                     .got = studies[s].name,
                     .expected = x_key + " and " + key_in_study(y_key, studies[s]),
                     .hint = "locus analyze --only recovery, then locus results keep"});
  }
  return panel;
}

Panel draw_panel(const KeptFigure& data, const KeptFigure::PanelData& panel) {
  XyPlot plot({.title = panel.title,
               .x = {.label = data.x_label, .kind = AxisKind::kLog},
               .y = {.label = data.y_label, .lo = -0.2, .hi = 1.0},
               .width = 460,
               .height = 360});
  plot.reference({.value = 0}, "c11", "line dot", {.title = "nothing"}, "");
  for (const KeptFigure::Dot& dot : panel.dots) {
    const std::string colour = category_class(dot.colour);
    const std::string run = dot.study + ", " + dot.label;
    if (dot.limit) {
      plot.point({dot.x, *dot.limit}, 3, colour,
                 {.title = fmt::format("{}: at most {}", run, r_text(*dot.limit)), .x = dot.x, .value = *dot.limit},
                 Shape::kTriangle, true);
    }
    if (dot.floor) {
      plot.point({dot.x, *dot.floor}, 3, colour,
                 {.title = fmt::format("{}: untrained {}", run, r_text(*dot.floor)), .x = dot.x, .value = *dot.floor},
                 Shape::kSquare, true);
    }
    plot.point({dot.x, dot.y}, 4.5, colour,
               {.title = fmt::format("{}: {} at {}", run, r_text(dot.y), pretty(dot.x, 3)), .x = dot.x, .value = dot.y});
  }
  return plot.finish();
}

}  // namespace

KeptFigure read_kept_figure(const fs::path& file) {
  const toml::table spec = parse(file);
  const fs::path root = file.parent_path() / spec["root"].value_or(std::string("../.."));
  KeptFigure out;
  out.name = fs::path(file.stem()).stem().string();
  out.title = text_of(spec, "title", file);
  out.caption = text_of(spec, "caption", file);
  out.x_label = text_of(spec, "x_label", file);
  out.y_label = text_of(spec, "y_label", file);
  std::vector<Study> studies;
  for (const toml::table& table : tables_of(spec, "study", file)) studies.push_back(read_study(table, root, file));
  for (const toml::table& table : tables_of(spec, "panel", file))
    out.panels.push_back(read_panel(table, text_of(spec, "x", file), studies, file));
  return out;
}

Figure draw_kept_figure(const KeptFigure& data) {
  Figure figure{.name = data.name, .title = data.title, .caption = data.caption};
  figure.variants.emplace_back();
  std::map<std::string, std::pair<int, int>> studies;  // colour and runs of the first panel
  bool floors = false, limits = false;
  for (const KeptFigure::PanelData& panel : data.panels) {
    figure.variants[0].panels.push_back(draw_panel(data, panel));
    for (const KeptFigure::Dot& dot : panel.dots) {
      floors = floors || dot.floor.has_value();
      limits = limits || dot.limit.has_value();
      if (&panel != &data.panels.front()) continue;
      studies[dot.study].first = dot.colour;
      ++studies[dot.study].second;
    }
  }
  std::map<int, LegendEntry> by_colour;
  for (const auto& [study, seen] : studies)
    by_colour[seen.first] = {.label = fmt::format("{}, n = {} runs", study, seen.second),
                             .css = category_class(seen.first),
                             .mark = LegendMark::kPoint};
  for (const auto& [colour, entry] : by_colour) figure.legend.push_back(entry);
  if (floors)
    figure.legend.push_back(
        {.label = "the same untrained", .css = "c11", .mark = LegendMark::kPoint, .shape = Shape::kSquare});
  if (limits)
    figure.legend.push_back(
        {.label = "a perfect code would show", .css = "c11", .mark = LegendMark::kPoint, .shape = Shape::kTriangle});
  figure.csv = csv_kept_figure(data);
  return figure;
}

std::string csv_kept_figure(const KeptFigure& data) {
  std::string out = "panel,study,run,x,y,floor,limit\n";
  const auto number = [](const std::optional<double>& v) { return v ? shortest(*v) : std::string(); };
  for (const KeptFigure::PanelData& panel : data.panels) {
    for (const KeptFigure::Dot& dot : panel.dots) {
      const std::string cells[] = {panel.title,     dot.study,         dot.label,        shortest(dot.x),
                                   shortest(dot.y), number(dot.floor), number(dot.limit)};
      out += csv_row(cells);
    }
  }
  return out;
}

}  // namespace locus::report
