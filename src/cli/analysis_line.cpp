#include "cli/analysis_line.h"

#include <fmt/core.h>

#include "cli/terminal.h"
#include "core/clock.h"
#include "core/text.h"

namespace locus::cli {
namespace {

constexpr double kSecondsToJudge = 1;
constexpr double kPartToJudge = 0.02;

}  // namespace

AnalysisLine::AnalysisLine(bool quiet, std::size_t runs) : live_(!quiet && stderr_is_terminal()), runs_(runs) {}

void AnalysisLine::begin(const std::string& run) {
  ++number_;
  run_ = run;
  what_.clear();
  run_began_ = Clock::now();
}

AnalyzeProgress AnalysisLine::hook() {
  return [this](const std::string& what, double done) { update(what, done); };
}

double AnalysisLine::seconds_left(double seconds, double done) {
  if (seconds < kSecondsToJudge || done < kPartToJudge) return -1;
  return seconds * (1 - done) / done;
}

void AnalysisLine::update(const std::string& what, double done) {
  if (!live_) return;
  if (const std::string word = split(what, ' ')[0]; word != what_) {
    what_ = word;
    began_ = Clock::now();
  }
  std::vector<LinePart> parts;
  if (runs_ > 1) parts.push_back({fmt::format("run {} of {}", number_, runs_), 1});
  parts.push_back({run_, 3});
  parts.push_back({what, 0});
  parts.push_back({fmt::format("{:.0f} %", 100 * done), 0});
  if (const double left = seconds_left(seconds_since(began_), done); left >= 0)
    parts.push_back({fmt::format("{} left", human_seconds(left)), 1});
  if (runs_ > 1 && number_ > 1 && number_ < runs_) {
    const double each = (seconds_since(all_began_) - seconds_since(run_began_)) / static_cast<double>(number_ - 1);
    const double left = each * static_cast<double>(runs_ - number_ + 1) - seconds_since(run_began_);
    parts.push_back({fmt::format("all runs {}", human_seconds(std::max(0.0, left))), 2});
  }
  line_.draw({fit_parts(std::move(parts), static_cast<std::size_t>(screen_size().columns - 1))});
}

void AnalysisLine::clear() { line_.clear(); }

}  // namespace locus::cli
