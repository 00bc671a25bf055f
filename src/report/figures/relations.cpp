#include "report/figures/relations.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/results/relations.h"
#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/markup.h"
#include "report/rank_test.h"
#include "stats/tests.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxRows = 300;

// With few runs the file's p (Student's t) is far too small: the points behind it are tested by permutation.
void test_again(const std::vector<RelationPoint>& all, std::vector<Relations::Row>& rows) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> points;
  for (const RelationPoint& point : all) {
    if (!std::isfinite(point.value) || !std::isfinite(point.outcome)) continue;
    points[point.measure].first.push_back(point.value);
    points[point.measure].second.push_back(point.outcome);
  }
  for (Relations::Row& row : rows) {
    const auto it = points.find(row.measure);
    if (it != points.end() && it->second.first.size() <= 12) row.p = rank_correlation(it->second.first, it->second.second).p;
  }
}

// Holm's correction over the measures that have a p value.
void adjust(std::vector<Relations::Row>& rows) {
  std::vector<double> p;
  for (const auto& r : rows) {
    if (std::isfinite(r.p)) p.push_back(r.p);
  }
  const std::vector<double> adjusted = stats::holm(p);
  std::size_t next = 0;
  for (auto& r : rows) r.adjusted = std::isfinite(r.p) ? adjusted[next++] : kNan;
}

}  // namespace

Found<Relations> collect_relations(const Inputs& inputs) {
  Relations data;
  const auto* const result = find_result<RelationResult>(inputs.group_analyses);
  if (result != nullptr) {
    for (const RelationRow& row : result->relations) {
      if (!std::isfinite(row.spearman) || data.rows.size() == kMaxRows) continue;
      data.rows.push_back({row.measure, row.outcome, static_cast<int>(row.runs), static_cast<int>(row.sigmas), row.spearman,
                           row.p, kNan, row.low, row.high, row.spearman_sigma, row.spearman_within,
                           row.spearman_given_sigma});
    }
  }
  if (data.rows.empty()) {
    return Found<Relations>::none(
        "there is no analysis relations with a correlation beside the runs (locus analyze makes it of three analysed runs "
        "or more)");
  }
  test_again(result->points, data.rows);
  adjust(data.rows);
  std::stable_sort(data.rows.begin(), data.rows.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.rho) > std::abs(b.rho); });
  return Found<Relations>::of(std::move(data));
}

Figure draw_relations(const Relations& data) {
  Figure figure{.name = "relations", .title = "Which measures go with generalisation?"};
  Table table;
  table.columns = {"Measure", "Runs", "ρ", "95 % from", "to", "p", "p (Holm)", "ρ of σ means", "ρ within σ", "ρ given σ"};
  const auto number = [](double v) { return std::isfinite(v) ? r_text(v) : std::string("–"); };
  const auto chance = [](double p) {
    return !std::isfinite(p) ? std::string("–") : p < 0.001 ? std::string("< 0.001") : fmt::format("{:.3f}", p);
  };
  for (const Relations::Row& r : data.rows) {
    table.rows.push_back({shorten(r.measure, 80), std::to_string(r.runs), number(r.rho), number(r.lo), number(r.hi),
                          chance(r.p), chance(r.adjusted), number(r.over_means), number(r.within), number(r.given_sigma)});
    table.sort_keys.push_back(
        {kNan, static_cast<double>(r.runs), r.rho, r.lo, r.hi, r.p, r.adjusted, r.over_means, r.within, r.given_sigma});
  }
  figure.table = std::move(table);
  const auto sure = std::count_if(data.rows.begin(), data.rows.end(), [](const auto& r) { return r.adjusted < 0.05; });
  figure.caption = fmt::format(
      "Spearman's ρ of each measure with {} over runs, bootstrap interval with whole seeds resampled (from three seeds on), "
      "p by permutation up to 12 runs. {} of "
      "{} measures hold after Holm's "
      "correction for looking at all of them. A measure that merely follows σ goes with whatever σ changes: ρ given σ "
      "(partial) and ρ within σ (runs of one σ, at least four) are the harder tests, ρ of σ means is high with so few "
      "points anyway. What an "
      "intervention changes is a part of the outcome, so interventions.* follow it by construction. Correlation, not cause.",
      data.rows[0].outcome, sure, data.rows.size());
  figure.csv = csv_relations(data);
  return figure;
}

std::string csv_relations(const Relations& data) {
  std::string out =
      "measure,outcome,runs,spearman,low,high,p,p_holm,sigmas,spearman_sigma,spearman_within,spearman_given_sigma\n";
  for (const Relations::Row& r : data.rows) {
    const std::string cells[] = {r.measure,
                                 r.outcome,
                                 std::to_string(r.runs),
                                 shortest(r.rho),
                                 shortest(r.lo),
                                 shortest(r.hi),
                                 shortest(r.p),
                                 shortest(r.adjusted),
                                 std::to_string(r.sigmas),
                                 shortest(r.over_means),
                                 shortest(r.within),
                                 shortest(r.given_sigma)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
