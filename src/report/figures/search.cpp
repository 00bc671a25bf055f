#include "report/figures/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "config/tasks.h"
#include "core/text.h"
#include "io/codec.h"
#include "run/layout.h"

namespace locus::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string show(const SearchFigure& data, double score) {
  return data.is_fraction ? fmt::format("{:.1f} %", 100 * score) : fmt::format("{:.4g}", score);
}

// The longest training is the largest dot.
double radius(const SearchFigure& data, std::int64_t steps) {
  std::int64_t most = 1;
  for (const auto& r : data.picture.runs) most = std::max(most, r.steps);
  return 1.8 + 3.2 * std::sqrt(static_cast<double>(steps) / static_cast<double>(most));
}

void draw_rivals(const SearchFigure& data, XyPlot& plot, Figure& figure) {
  std::map<std::string, std::vector<const SearchPicture::Run*>> rivals;
  for (const auto& r : data.picture.runs) {
    if (!r.rival.empty() && !r.diverged) rivals[r.rival].push_back(&r);
  }
  int colour = 1;
  for (const auto& [name, runs] : rivals) {
    std::int64_t steps = 0;
    for (const auto* r : runs) steps = std::max(steps, r->steps);
    double sum = 0, count = 0;
    for (const auto* r : runs) {
      if (r->steps == steps) sum += r->score, count += 1;
    }
    const std::string css = category_class(colour++);
    plot.reference(
        {0, sum / count, kNone, kNone}, css, "line dash",
        {.title = fmt::format("{}: {} after {} steps", name, show(data, sum / count), steps), .value = sum / count}, name);
    figure.legend.push_back({.label = fmt::format("{} ({} steps)", name, steps), .css = css, .mark = LegendMark::kDash});
  }
}

void draw_runs(const SearchFigure& data, XyPlot& plot) {
  for (std::size_t i = 0; i < data.picture.runs.size(); ++i) {
    const auto& r = data.picture.runs[i];
    if (!r.rival.empty() || r.diverged || !std::isfinite(r.value)) continue;
    Mark mark{.title = fmt::format("{}, seed {}: {} after {} steps", r.candidate, r.seed, show(data, r.score), r.steps),
              .x = r.value,
              .value = r.score};
    mark.run = data.runs[i];
    plot.point({r.value, r.score}, radius(data, r.steps), "c0", mark, Shape::kCircle, true);
  }
}

}  // namespace

Found<SearchFigure> collect_search(const Inputs& inputs) {
  std::set<std::filesystem::path> folders;
  for (const Run& run : inputs.runs) {
    const std::filesystem::path sweep = sweep_of(run.path);
    if (!sweep.empty()) folders.insert(sweep);
  }
  for (const std::filesystem::path& folder : folders) {
    std::optional<SearchPicture> picture;
    try {
      picture = read_search_picture(folder);
    } catch (const Error& e) {
      return Found<SearchFigure>::none(one_line(e));
    }
    if (!picture || picture->key.empty()) continue;
    SearchFigure data;
    const MeasureRow* const measure = measure_of(picture->metric);
    data.is_fraction = measure != nullptr && measure->is_fraction;
    data.words = "validation " + (measure != nullptr ? measure->words : picture->metric);
    for (const auto& r : picture->runs) {
      data.runs.push_back(-1);
      for (std::size_t i = 0; i < inputs.runs.size(); ++i) {
        if (std::filesystem::path(inputs.runs[i].path) == folder / sweep_files::kCells / r.run)
          data.runs.back() = static_cast<int>(i);
      }
    }
    data.picture = std::move(*picture);
    return Found<SearchFigure>::of(std::move(data));
  }
  return Found<SearchFigure>::none("no finished search of `locus tune` here");
}

Figure draw_search(const SearchFigure& data) {
  const SearchPicture& p = data.picture;
  const std::string key = p.key == "pe.sigma" ? "σ" : p.key;
  Figure figure{.name = "search", .title = "Which " + key + ": the search"};
  PlotSpec spec{.title = "",
                .x = {.label = key + (p.log ? " (log scale)" : ""), .kind = p.log ? AxisKind::kLog : AxisKind::kLinear},
                .y = {.label = data.words + (data.is_fraction ? " (%)" : ""),
                      .unit = data.is_fraction ? AxisUnit::kPercent : AxisUnit::kPlain},
                .width = 520,
                .height = 340,
                .right_margin = 110};
  if (data.is_fraction) spec.y.possible = std::pair(0.0, 1.0);
  XyPlot plot(spec);
  std::vector<Estimate> band;
  std::vector<Point> line;
  for (const CurvePoint& c : p.curve) {
    band.push_back({c.value, c.mean, c.lo, c.hi});
    line.push_back({c.value, c.mean});
  }
  plot.band(band, "c0", {.title = ""});
  plot.line(line, "c0", "line", {.title = fmt::format("expected after {} steps", p.steps)});
  draw_rivals(data, plot, figure);
  draw_runs(data, plot);
  figure.variants.emplace_back();
  figure.variants[0].panels.push_back(plot.finish());
  figure.caption = fmt::format(
      "Dots: runs, larger the longer they were trained, each at its longest. Line and band: the score expected after {} "
      "steps "
      "and the middle 90 % of the curves that the runs allow. Dashed: rivals at the length they reached. {}",
      p.steps, join(p.sentences, " "));
  figure.csv = csv_search(data);
  return figure;
}

std::string csv_search(const SearchFigure& data) {
  std::string out = "kind,candidate,run,seed,steps,value,score,lo,hi\n";
  for (const auto& r : data.picture.runs) {
    const std::string cells[] = {r.rival.empty() ? "run" : "rival",
                                 r.candidate,
                                 r.run,
                                 std::to_string(r.seed),
                                 std::to_string(r.steps),
                                 shortest(r.value),
                                 shortest(r.score),
                                 "",
                                 ""};
    out += csv_row(cells);
  }
  for (const CurvePoint& c : data.picture.curve) {
    const std::string cells[] = {
        "curve",       "", "", "", std::to_string(data.picture.steps), shortest(c.value), shortest(c.mean), shortest(c.lo),
        shortest(c.hi)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
