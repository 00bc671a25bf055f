#include "cli/progress_line.h"

#include <fmt/core.h>

#include <cmath>

#include "cli/terminal.h"
#include "config/tasks.h"
#include "core/text.h"
#include "run/metrics.h"
#include "train/trainer.h"

namespace locus::cli {
namespace {

// What is chosen on comes first; the splits that a model is judged by stand where there is room for them.
int rank_of(const std::string& split) { return split == "validation" ? 3 : 7; }

std::vector<LinePart> measured_parts(const MetricRow& row) {
  std::vector<LinePart> parts;
  for (const auto& [name, value] : row.values) {
    const MetricKey key = parse_metric_key(name);
    if (key.split == "train" || !key.condition.empty()) continue;
    const MeasureRow* measure = measure_of(key.measure);
    if (measure == nullptr || measure->name != key.measure) continue;
    parts.push_back({measure->is_fraction ? fmt::format("{} {:.1f} %", key.split, 100 * value)
                                          : fmt::format("{} {} {:.4f}", key.split, key.measure, value),
                     rank_of(key.split)});
  }
  return parts;
}

}  // namespace

ProgressLine::ProgressLine(bool quiet, std::string label)
    : quiet_(quiet), live_(stderr_is_terminal()), label_(std::move(label)) {}

std::string ProgressLine::text(const Progress& p, std::size_t columns) {
  if (p.metrics != nullptr) measured_ = measured_parts(*p.metrics);
  std::vector<LinePart> parts = {{label_, 0}, {fmt::format("epoch {}", p.epoch), 1}};
  parts.push_back({fmt::format("step {}{}", p.step, p.total_steps > 0 ? fmt::format("/{}", p.total_steps) : ""), 5});
  if (std::isfinite(p.loss)) parts.push_back({fmt::format("loss {:.4f}", p.loss), 2});
  if (p.accuracy > 0) parts.push_back({fmt::format("train {:.1f} %", 100 * p.accuracy), 4});
  parts.insert(parts.end(), measured_.begin(), measured_.end());
  parts.push_back({fmt::format("{:.1f} steps/s", p.steps_per_second), 8});
  if (p.seconds_left >= 0) parts.push_back({fmt::format("{} left", human_seconds(p.seconds_left)), 2});
  return fit_parts(std::move(parts), columns);
}

void ProgressLine::update(const Progress& p) {
  if (quiet_ || (!live_ && p.metrics == nullptr)) return;
  const std::string line = text(p, static_cast<std::size_t>(screen_size().columns - 1));
  if (!live_) return message_line(line);
  lines_.draw({line});
}

void ProgressLine::finish() { lines_.finish(); }

}  // namespace locus::cli
