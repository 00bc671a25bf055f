#include "cli/sweep_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal.h"
#include "core/text.h"

namespace locus::cli {

std::string measure_text(const std::string& metric, double value) {
  return metric.find("accuracy") != std::string::npos ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4g}", value);
}

std::string best_and_median(const std::string& metric, const std::vector<double>& values) {
  if (values.empty()) return "";
  std::vector<double> v = values;
  std::sort(v.begin(), v.end());
  const bool low = metric.find("mse") != std::string::npos || metric.find("loss") != std::string::npos;
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
  h.tick = [this](const SweepProgress& p) { on_tick(p); };
  return h;
}

void SweepView::clear() {
  if (drawn_ > 0) std::fprintf(stderr, "\033[%dA\r\033[J", drawn_);
  drawn_ = 0;
}

void SweepView::finish() {
  clear();
  std::fflush(stderr);
}

std::string SweepView::status_line(const SweepProgress& p) const {
  std::string text = fmt::format("{} done, {} running, {} failed, {} left", p.done, p.running, p.failed, p.left());
  if (p.elsewhere > 0) text += fmt::format(" ({} run by another sweep)", p.elsewhere);
  if (const std::string best = best_and_median(metric_, p.values); !best.empty()) text += "  |  " + best;
  if (p.seconds_left >= 0 && p.left() + p.running > 0) text += fmt::format("  |  {} left", human_seconds(p.seconds_left));
  return text;
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
  clear();
  message_line(text);
}

void SweepView::on_tick(const SweepProgress& p) {
  if (quiet_) return;
  if (!live_) {
    const bool news = p.done + p.failed != last_.done + last_.failed;
    // Every end has its own line; the sum stands every twentieth part and at the end.
    const std::int64_t part = std::max<std::int64_t>(1, p.total / 20);
    if (news && (p.done + p.failed == p.total || (p.done + p.failed) / part != (last_.done + last_.failed) / part))
      message_line(status_line(p));
    last_ = p;
    return;
  }
  clear();
  std::string text = status_line(p) + "\n";
  const double part = p.total > 0 ? static_cast<double>(p.done + p.failed) / static_cast<double>(p.total) : 1;
  const int width = 50;
  const int full = static_cast<int>(part * width);
  for (int i = 0; i < width; ++i) text += i < full ? "█" : "░";
  text += fmt::format(" {:.0f} %\n", 100 * part);
  drawn_ = 2;
  const std::size_t shown = std::min<std::size_t>(p.active.size(), 8);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("  running  {:>5}  {}\n", p.active[i]->index, plan_.name(*p.active[i]).substr(0, 100));
    ++drawn_;
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace locus::cli
