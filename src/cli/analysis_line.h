// Progress of analyses: which run, what is computed, how far it is and how long it will take; one line on a terminal.
#pragma once

#include <chrono>
#include <string>

#include "analyze/settings.h"
#include "cli/screen.h"

namespace locus::cli {

class AnalysisLine {
 public:
  AnalysisLine(bool quiet, std::size_t runs);
  void begin(const std::string& run);  // the next of the runs
  AnalyzeProgress hook();
  void clear();

  // Seconds left, by the part that is done; negative while that cannot be told.
  static double seconds_left(double seconds, double done);

 private:
  void update(const std::string& what, double done);

  using Clock = std::chrono::steady_clock;
  bool live_;
  std::size_t runs_;
  std::size_t number_ = 0;
  std::string run_;
  std::string what_;  // the first word of what is computed: an analysis tells of its models one after the other
  Clock::time_point all_began_ = Clock::now();
  Clock::time_point run_began_ = Clock::now();
  Clock::time_point began_ = Clock::now();
  LiveLines line_;
};

}  // namespace locus::cli
