// What a sweep shows while it runs: a table that is redrawn on a terminal, a line for every end elsewhere.
#pragma once

#include <string>

#include "cli/screen.h"
#include "sweep/run.h"

namespace locus::cli {

class SweepView {
 public:
  SweepView(const SweepPlan& plan, std::string metric, bool quiet);
  SweepHooks hooks();
  void finish();

 private:
  void on_event(const SweepEvent& e);
  void on_tick(const SweepProgress& p);
  std::string status_line(const SweepProgress& p, std::size_t columns) const;

  const SweepPlan& plan_;
  std::string metric_;
  bool quiet_;
  bool live_;
  LiveLines lines_;
  SweepProgress last_;
};

// "heldout.accuracy best 97.2 %, median 91.0 %"; for errors the lowest is best.
std::string best_and_median(const std::string& metric, const std::vector<double>& values);
std::string measure_text(const std::string& metric, double value);

}  // namespace locus::cli
