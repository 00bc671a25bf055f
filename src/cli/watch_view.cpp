#include "cli/watch_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/sweep_view.h"
#include "core/text.h"
#include "run/metrics.h"
#include "sweep/folder.h"

namespace locus::cli {
namespace {

constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kMostFailures = 5;

// Not failed: those that wait, go on or can go on.
bool has_failed(const RunRow& row) {
  for (const char* open : {"pending", "interrupted", "unfinished", "training"}) {
    if (row.status == open) return false;
  }
  return !row.complete();
}

// Keys that runs differ in. The seed, which the configuration has first, comes last, as in the names of a sweep's cells.
std::vector<std::string> naming_keys(const RunTable& table) {
  std::vector<std::string> keys = table.varied();
  std::stable_partition(keys.begin(), keys.end(), [](const std::string& key) { return key != "seed"; });
  return keys;
}

// "sigma=0.1 seed=3": what tells the run from the others; its folder's name where nothing does.
std::string name_of(const RunRow& row, const std::vector<std::string>& varied) {
  std::string text = row.label;
  for (const std::string& key : varied) {
    if (const std::string value = row.key(key); !value.empty())
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", key.substr(key.rfind('.') + 1), value);
  }
  return text.empty() ? row.path.filename().string() : text;
}

// The best finished or training run by the validation split; nullptr when none has been validated.
const RunRow* best_of(const RunTable& table, std::string& metric) {
  metric = followed_measure(table.measures());
  if (!metric.starts_with("validation.")) return nullptr;
  const bool up = metric.ends_with("accuracy");
  const RunRow* best = nullptr;
  for (const RunRow& row : table.rows) {
    const auto it = row.measures.find(metric);
    if (it == row.measures.end() || !std::isfinite(it->second)) continue;
    const double v = it->second;
    if (best == nullptr || (up ? v > best->measures.at(metric) : v < best->measures.at(metric))) best = &row;
  }
  return best;
}

std::string bar_line(const WatchCounts& counts, std::size_t columns) {
  const auto width = std::min<std::size_t>(50, columns / 2);
  const double part =
      counts.all == 0 ? 0 : static_cast<double>(counts.done + counts.failed) / static_cast<double>(counts.all);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
  std::string bar;
  for (std::size_t i = 0; i < width; ++i) bar += i < full ? "█" : "░";
  return fmt::format("{} {:.0f} %", bar, 100 * part);
}

std::string training_line(const RunRow& row, const std::vector<std::string>& varied, const WatchPicture& picture) {
  const auto columns = static_cast<std::size_t>(std::max(1, picture.screen.columns - 1));
  const auto [measure, values] = picture.curve(row);
  std::vector<LinePart> parts = {{fit_columns(name_of(row, varied), columns / 3), 0}};
  if (row.live) {
    const TrainingState& t = *row.live;
    parts.push_back({t.total_steps > 0
                         ? fmt::format("{:.0f} %", 100.0 * static_cast<double>(t.step) / static_cast<double>(t.total_steps))
                         : fmt::format("step {}", t.step),
                     1});
    if (t.seconds_left >= 0) parts.push_back({fmt::format("{} left", human_seconds(t.seconds_left)), 2});
    if (std::isfinite(t.loss)) parts.push_back({fmt::format("loss {:.4f}", t.loss), 5});
  }
  if (!values.empty()) {
    parts.push_back({sparkline(values, columns >= 100 ? 30 : 16), 3});
    parts.push_back({fmt::format("{} {}", measure, measure_text(measure, values.back())), 4});
  }
  return "  " + fit_parts(std::move(parts), columns - 2);
}

}  // namespace

WatchCounts count_runs(const RunTable& table) {
  WatchCounts counts;
  double seconds = 0, left = 0;
  bool known = true;
  for (const RunRow& row : table.rows) {
    ++counts.all;
    if (row.complete()) {
      ++counts.done;
      seconds += row.seconds;
    } else if (row.status == "training") {
      ++counts.training;
      known = known && row.live && row.live->seconds_left >= 0;
      if (row.live) left += std::max(0.0, row.live->seconds_left);
    } else if (has_failed(row)) {
      ++counts.failed;
    }
  }
  if (counts.training == 0 || !known || (counts.waiting() > 0 && counts.done == 0)) return counts;
  if (counts.waiting() > 0) left += seconds / static_cast<double>(counts.done) * static_cast<double>(counts.waiting());
  counts.seconds_left = left / static_cast<double>(counts.training);
  return counts;
}

std::string followed_measure(const std::vector<std::string>& names) {
  for (const char* name : {"validation.accuracy", "validation.mse", "validation.loss", "train.loss"}) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  }
  return "";
}

std::string sparkline(const std::vector<double>& values, std::size_t columns) {
  double lo = INFINITY, hi = -INFINITY;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  std::string out;
  const std::size_t n = std::min(columns, values.size());
  for (std::size_t i = 0; i < n; ++i) {
    // Spread over all of them, first and last included.
    const std::size_t at = n == 1 ? values.size() - 1 : i * (values.size() - 1) / (n - 1);
    const double v = values[at];
    if (!std::isfinite(v)) {
      out += " ";
      continue;
    }
    const double part = hi > lo ? (v - lo) / (hi - lo) : 0.5;
    out += kBars[static_cast<std::size_t>(std::min(7.0, std::floor(8 * part)))];
  }
  return out;
}

std::string watch_status(const WatchCounts& c) {
  std::string text =
      fmt::format("{} of {} done, {} training, {} failed, {} waiting", c.done, c.all, c.training, c.failed, c.waiting());
  if (c.seconds_left >= 0) text += fmt::format("  |  {} left", human_seconds(c.seconds_left));
  return text;
}

std::vector<std::string> watch_lines(const RunTable& table, const std::string& title, const WatchPicture& picture) {
  const auto columns = static_cast<std::size_t>(std::max(1, picture.screen.columns - 1));
  const auto rows = static_cast<std::size_t>(std::max(4, picture.screen.rows - 1));
  const WatchCounts counts = count_runs(table);
  const std::vector<std::string> varied = naming_keys(table);
  std::vector<std::string> lines = {fit_parts({{title, 1}, {watch_status(counts), 0}}, columns), bar_line(counts, columns)};
  std::string metric;
  if (const RunRow* best = best_of(table, metric)) {
    lines.push_back(fit_parts({{"best on validation:", 1},
                               {fmt::format("{} {}", metric, measure_text(metric, best->measures.at(metric))), 0},
                               {name_of(*best, varied), 2}},
                              columns));
  }
  std::vector<const RunRow*> training, failed;
  for (const RunRow& row : table.rows) {
    if (row.status == "training") training.push_back(&row);
    if (has_failed(row)) failed.push_back(&row);
  }
  const std::size_t kept = std::min(failed.size(), kMostFailures);
  const std::size_t room = rows > lines.size() + kept + 2 ? rows - lines.size() - kept - 2 : 1;
  for (std::size_t i = 0; i < std::min(training.size(), room); ++i)
    lines.push_back(training_line(*training[i], varied, picture));
  if (training.size() > room) lines.push_back(fmt::format("  and {} more in training", training.size() - room));
  for (std::size_t i = 0; i < kept; ++i) {
    const RunRow& row = *failed[i];
    lines.push_back(
        fit_columns(fmt::format("  {}: {}: {}", row.status, name_of(row, varied), split(row.reason, '\n')[0]), columns));
  }
  if (failed.size() > kept) lines.push_back(fmt::format("  and {} more that failed", failed.size() - kept));
  if (lines.size() > rows) lines.resize(rows);
  return lines;
}

}  // namespace locus::cli
