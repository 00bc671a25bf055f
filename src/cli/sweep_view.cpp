#include "cli/sweep_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal.h"
#include "config/tasks.h"
#include "core/text.h"

namespace locus::cli {

std::string measure_text(const std::string& metric, double value) {
  const MeasureRow* measure = measure_of(metric);
  return measure != nullptr && measure->is_fraction ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4g}", value);
}

std::string best_and_median(const std::string& metric, const std::vector<double>& values) {
  if (values.empty()) return "";
  std::vector<double> v = values;
  std::sort(v.begin(), v.end());
  const MeasureRow* measure = measure_of(metric);
  const bool low = measure != nullptr ? !measure->higher_is_better : metric.find("loss") != std::string::npos;
  const std::size_t n = v.size();
  const double median = n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
  return fmt::format("{} best {}, median {}", metric, measure_text(metric, low ? v.front() : v.back()),
                     measure_text(metric, median));
}

SweepView::SweepView(const SweepPlan& plan, std::string metric, bool quiet)
    : plan_(plan), metric_(std::move(metric)), quiet_(quiet), live_(!quiet && stderr_is_terminal()) {}

SweepHooks SweepView::hooks() {
  SweepHooks h;
  h.event = [this](const SweepEvent& e) { on_event(e); };
  h.message = [this](const std::string& text) {
    lines_.clear();
    message_line(text);
  };
  h.tick = [this](const SweepProgress& p) { on_tick(p); };
  return h;
}

void SweepView::finish() { lines_.clear(); }

std::string SweepView::status_line(const SweepProgress& p, std::size_t columns) const {
  std::vector<LinePart> parts = {
      {fmt::format("{} done, {} running, {} failed, {} left", p.done, p.running, p.failed, p.left()), 0}};
  if (p.elsewhere > 0) parts.push_back({fmt::format("({} run by another sweep)", p.elsewhere), 3});
  if (const std::string best = best_and_median(metric_, p.values); !best.empty()) parts.push_back({"|  " + best, 2});
  if (p.seconds_left >= 0 && p.left() + p.running > 0)
    parts.push_back({fmt::format("|  {} left", human_seconds(p.seconds_left)), 1});
  return fit_parts(std::move(parts), columns);
}

void SweepView::on_event(const SweepEvent& e) {
  if (quiet_ || (e.kind == SweepEvent::Kind::kStarted)) return;
  std::string text = fmt::format("cell {} [{}] {}: {}", e.cell->index, e.cell->hash, plan_.name(*e.cell),
                                 cell_status_name(e.outcome.status));
  if (e.outcome.is_failure()) text += ": " + split(e.outcome.reason, '\n')[0];
  if (e.kind == SweepEvent::Kind::kRetried) text += "; trying again";
  if (e.outcome.summary) {
    if (const auto value = e.outcome.summary->find(metric_); value && e.outcome.status == CellStatus::kFinished)
      text += fmt::format(", {} {}", metric_, measure_text(metric_, *value));
  }
  if (e.seconds > 0) text += fmt::format(", {}", human_seconds(e.seconds));
  // On a terminal the table tells of good ends; only what needs attention stays above it.
  if (live_ && !e.outcome.is_failure()) return;
  lines_.clear();
  message_line(text);
}

void SweepView::on_tick(const SweepProgress& p) {
  if (quiet_) return;
  if (!live_) {
    const bool news = p.done + p.failed != last_.done + last_.failed;
    // Every end has its own line; the sum stands every twentieth part and at the end.
    const std::int64_t part = std::max<std::int64_t>(1, p.total / 20);
    if (news && (p.done + p.failed == p.total || (p.done + p.failed) / part != (last_.done + last_.failed) / part))
      message_line(status_line(p, static_cast<std::size_t>(screen_size().columns - 1)));
    last_ = p;
    return;
  }
  const auto columns = static_cast<std::size_t>(screen_size().columns - 1);
  std::vector<std::string> lines = {status_line(p, columns)};
  const double part = p.total > 0 ? static_cast<double>(p.done + p.failed) / static_cast<double>(p.total) : 1;
  const int width = static_cast<int>(std::min<std::size_t>(50, columns / 2));
  const int full = static_cast<int>(part * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
  lines.push_back(fmt::format("{} {:.0f} %", bar, 100 * part));
  const std::size_t shown = std::min<std::size_t>(p.active.size(), 8);
  for (std::size_t i = 0; i < shown; ++i)
    lines.push_back(fmt::format("  running  {:>5}  {}", p.active[i]->index, plan_.name(*p.active[i])));
  lines_.draw(lines);
}

}  // namespace locus::cli
