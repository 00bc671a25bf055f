// Everything figures are made from: runs, grouped into settings that differ in more than the seed, the measure
// that answers the question, and estimates over seeds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/plot.h"
#include "report/runs.h"
#include "report/scale.h"

namespace locus::report {

// Runs that differ in nothing but the seed (and in how they were watched or stopped).
struct Group {
  std::string label;            // "learned σ 0.2", "2-D sinusoid, model.width=64"
  std::string encoding;         // without the other keys
  std::string others;           // "model.width=64"; empty when nothing else varies
  std::optional<double> sigma;  // for encodings that start at random with that spread and are trained
  std::vector<int> runs;
  std::string colour;  // class
};

// "heldout.accuracy": which split and measure answer the question.
struct Measure {
  std::string split, name;  // "heldout", "accuracy"
  bool higher_is_better = true;

  static Measure of(const std::string& metric);  // "heldout.accuracy"
  std::string key() const { return split + "." + name; }
  bool is_fraction() const;
  std::optional<std::pair<double, double>> possible() const {
    return is_fraction() ? std::optional(std::pair(0.0, 1.0)) : std::nullopt;
  }
  AxisUnit unit() const { return is_fraction() ? AxisUnit::kPercent : AxisUnit::kPlain; }
  std::string label() const;                  // "held-out accuracy (%)"
  std::string words() const;                  // "held-out accuracy"
  std::string show(double value) const;       // "95.6 %", "0.735"
  std::string show_difference(double) const;  // "2.1 points", "0.012"
};

struct Inputs {
  std::vector<Run> runs;
  std::vector<Group> groups;  // learned by σ first, then the others by label
  std::optional<Measure> measure;
  std::vector<std::string> varying;  // config keys that differ between usable runs, seed and bookkeeping left out
  std::vector<Warning> warnings;
  Results group_analyses;  // of several runs: DIR/analysis beside them

  const RunConfig& config(int run) const { return *runs[static_cast<std::size_t>(run)].config; }
  const Run& run(int i) const { return runs[static_cast<std::size_t>(i)]; }
};

// Builds groups, measure and warnings from loaded runs.
Inputs make_inputs(std::vector<Run> runs);

// The encoding's name with its Greek letter: "learned σ 0.2", "sinusoidal 2-D", "none, causal".
std::string encoding_words(const RunConfig& config);

// The text of one config field of a run; "" for unknown keys.
std::string config_text(const RunConfig& config, const std::string& key);

// Finite values of a metric over the runs of a group, in the order of the runs.
std::vector<double> values_of(const Inputs& inputs, const Group& group, const std::string& metric);

// Mean with Student's 95 % interval over runs; NaN for none. No interval below three runs: of two it is 13 standard
// errors to each side and tells nothing that the two values do not.
Estimate mean_over_runs(const std::vector<double>& values, double x);

std::string split_words(const std::string& split);  // "held-out", "test", ...

// At most `limit` groups that have the measure: all when they fit, else the best, the worst and evenly between.
std::vector<int> representative_groups(const Inputs& inputs, std::size_t limit);

// The run of a group nearest to its median in the measure.
int median_run(const Inputs& inputs, const Group& group);

}  // namespace locus::report
