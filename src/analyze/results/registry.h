// All analyses, one row each: what `locus analyze` computes, `locus report`
// shows and `locus results keep` keeps. A program that links the library adds
// its own with register_analysis before it calls the command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct AnalysisJob;  // analyze/analyze.h
struct AnalysisGroupJob;

struct Analysis {
  std::string question;
  std::string needs;                                              // in words
  int version = 1;                                                // raised when the same inputs give other results
  std::string name = {};                                          // R::kName of its result R
  std::vector<std::string> keys = {};                             // of the settings that matter
  std::vector<std::string> figures = {};                          // that show it, by their names in report/registry.h
  ResultType result = {};                                         // how its file is read again
  std::function<AnalysisOutput(const AnalysisJob&)> of_run = {};  // one of these two
  std::function<AnalysisOutput(const AnalysisGroupJob&)> of_group = {};
  bool needs_dataset = false;  // the examples, not only what the run directory holds
  bool by_default = true;      // part of "everything" unless named
  bool reads_results = false;  // of the other analyses of its runs

  bool on_group() const { return of_group != nullptr; }  // of several runs at once
};

// Rows for functions that return a result struct.
template <class F>
Analysis analysis_of_run(Analysis row, F compute) {
  using R = std::invoke_result_t<F, const AnalysisJob&>;
  row.name = R::kName;
  row.result = result_type<R>();
  row.of_run = [compute](const AnalysisJob& job) { return output_of(compute(job)); };
  return row;
}
template <class F>
Analysis analysis_of_group(Analysis row, F compute) {
  using R = std::invoke_result_t<F, const AnalysisGroupJob&>;
  row.name = R::kName;
  row.result = result_type<R>();
  row.of_group = [compute](const AnalysisGroupJob& job) { return output_of(compute(job)); };
  return row;
}

const std::vector<Analysis>& all_analyses();  // those of single runs first
const Analysis* find_analysis(std::string_view name);
// ConfigError when there is one of this name.
void register_analysis(Analysis analysis);

}  // namespace locus
