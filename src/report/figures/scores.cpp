#include "report/figures/scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/results/scores.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/theme.h"
#include "report/verdict.h"

namespace locus::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMaxModels = 6;
constexpr std::size_t kMostClasses = 40;

std::string predictor_words(const std::string& name) { return name == "model" ? "this model" : baseline_words(name); }

std::string measure_words(std::string name) {
  if (name == "r2") return "R²";
  if (name == "mse") return "MSE (variance of training = 1)";
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool is_share(const std::string& measure) { return measure.ends_with("accuracy"); }

std::string shown(const std::string& measure, double v) { return is_share(measure) ? percent(v) : pretty(v, 3); }

std::string label_of(const Inputs& inputs, const Group& group, int run) {
  return group.runs.size() > 1 ? fmt::format("{} (seed {})", group.label, inputs.run(run).config->seed) : group.label;
}

// Cells shaded by the share of their row, counts on top.
Panel draw_counts(const Confusion::Model& m) {
  const auto n = static_cast<double>(m.classes.size());
  double longest = 0;
  for (const std::string& c : m.classes) longest = std::max(longest, text_width(shorten(c, 18), 11));
  const double left = longest + 14, top = 44, cell = std::clamp(320 / n, 11.0, 44.0);
  Svg svg;
  svg.text({left, 15}, "Predicted class (across) of each true class (down)", "ttl");
  for (std::size_t r = 0; r < m.classes.size(); ++r) {
    const auto row = static_cast<std::ptrdiff_t>(r);
    double total = 0;
    for (std::ptrdiff_t c = 0; c < m.counts.cols(); ++c) total += m.counts(row, c);
    const double y = top + cell * static_cast<double>(r);
    svg.text({left - 6, y + cell / 2 + 4}, shorten(m.classes[r], 18), "tick", Anchor::kEnd);
    if (cell >= 18)
      svg.text({left + cell * (static_cast<double>(r) + 0.5), top - 6}, fit_text(m.classes[r], cell, 11), "tick",
               Anchor::kMiddle);
    for (std::size_t c = 0; c < m.classes.size(); ++c) {
      const double count = m.counts(row, static_cast<std::ptrdiff_t>(c)), share = total > 0 ? count / total : 0;
      const int index = colour_index(share, 0, 1);
      const Mark mark{.title = fmt::format("true {}, predicted {}: {} of {}", m.classes[r], m.classes[c], count, total),
                      .value = count};
      svg.rect_fill({left + cell * static_cast<double>(c), y, cell - 1, cell - 1},
                    hex(colour_map(ColourMap::kSequential)[static_cast<std::size_t>(index)]), &mark);
      if (cell >= 18 && count > 0)
        svg.text({left + cell * (static_cast<double>(c) + 0.5), y + cell / 2 + 4}, fmt::format("{}", count),
                 index < 140 ? "tick on-dark" : "tick on-light", Anchor::kMiddle);
    }
  }
  return {left + cell * n + 10, top + cell * n + 10, "confusion of classes", svg.body()};
}

}  // namespace

Found<Scores> collect_scores(const Inputs& inputs) {
  Scores data;
  for (const Group& g : inputs.groups) {
    for (const int r : g.runs) {
      const auto* const result = find_result<ScoreResult>(inputs.run(r).analyses);
      if (result == nullptr) continue;
      for (const ScoreRow& s : result->scores)
        data.rows.push_back(
            {r, label_of(inputs, g, r), s.predictor, s.measure, s.value, s.low, s.high, static_cast<long>(s.samples)});
    }
  }
  if (data.rows.empty()) return Found<Scores>::none("no run has the analysis scores (a table or pictures with a target)");
  return Found<Scores>::of(std::move(data));
}

Figure draw_scores(const Scores& data) {
  Figure figure{.name = "scores", .title = "How good, beside simple predictors"};
  Table table;
  table.columns = {"Run", "Predictor", "Measure", "Value", "95 % from", "to", "Samples"};
  for (const Scores::Row& r : data.rows) {
    table.rows.push_back({r.label, predictor_words(r.predictor), measure_words(r.measure), shown(r.measure, r.value),
                          shown(r.measure, r.low), shown(r.measure, r.high), std::to_string(r.samples)});
    table.sort_keys.push_back({kNan, kNan, kNan, r.value, r.low, r.high, static_cast<double>(r.samples)});
  }
  figure.table = std::move(table);
  figure.caption =
      "Test samples. Bootstrap intervals over samples (whole groups where there are any): how far another draw of samples "
      "may "
      "change the number, not another seed of training. Simple predictors are fitted to the same training samples, their "
      "settings chosen on validation.";
  figure.csv = csv_scores(data);
  return figure;
}

std::string csv_scores(const Scores& data) {
  std::string out = "run,predictor,measure,value,low,high,samples\n";
  for (const Scores::Row& r : data.rows) {
    const std::string cells[] = {
        r.label, r.predictor, r.measure, shortest(r.value), shortest(r.low), shortest(r.high), std::to_string(r.samples)};
    out += csv_row(cells);
  }
  return out;
}

Found<Confusion> collect_confusion(const Inputs& inputs) {
  Confusion data;
  for (const int g : representative_groups(inputs, kMaxModels)) {
    const Group& group = inputs.groups[static_cast<std::size_t>(g)];
    Confusion::Model model;
    model.run = median_run(inputs, group);
    const auto* const result = find_result<ScoreResult>(inputs.run(model.run).analyses);
    if (result == nullptr || result->classes.empty() || result->classes.size() > kMostClasses) continue;
    model.label = label_of(inputs, group, model.run);
    for (const ClassRow& c : result->classes) model.classes.push_back(c.name);
    const auto n = static_cast<std::ptrdiff_t>(model.classes.size());
    model.counts = MatrixD(n, n);
    for (const ConfusionRow& c : result->confusion) {
      const auto place = [&](const std::string& name) {
        return std::find(model.classes.begin(), model.classes.end(), name) - model.classes.begin();
      };
      if (place(c.truth) < n && place(c.predicted) < n)
        model.counts(place(c.truth), place(c.predicted)) += static_cast<double>(c.samples);
    }
    data.models.push_back(std::move(model));
  }
  if (data.models.empty())
    return Found<Confusion>::none(fmt::format("no run has the analysis scores of at most {} classes", kMostClasses));
  return Found<Confusion>::of(std::move(data));
}

Figure draw_confusion(const Confusion& data) {
  Figure figure{.name = "confusion", .title = "Which classes are mistaken for which"};
  for (const Confusion::Model& m : data.models) {
    Variant variant;
    variant.choices = {{"run", m.label}};
    variant.panels.push_back(draw_counts(m));
    figure.variants.push_back(std::move(variant));
  }
  figure.caption =
      "Test samples by true class (down) and predicted class (across), shaded by their share of the true class.";
  figure.csv = csv_confusion(data);
  return figure;
}

std::string csv_confusion(const Confusion& data) {
  std::string out = "run,true,predicted,samples\n";
  for (const Confusion::Model& m : data.models) {
    for (std::size_t r = 0; r < m.classes.size(); ++r) {
      for (std::size_t c = 0; c < m.classes.size(); ++c) {
        const std::string cells[] = {m.label, m.classes[r], m.classes[c],
                                     shortest(m.counts(static_cast<std::ptrdiff_t>(r), static_cast<std::ptrdiff_t>(c)))};
        out += csv_row(cells);
      }
    }
  }
  return out;
}

}  // namespace locus::report
