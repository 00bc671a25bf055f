// A program that links the library brings an analysis and its figure: it is computed, kept and shown like the others.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "analyze/results/registry.h"
#include "io/file.h"
#include "report/analysis.h"
#include "report/registry.h"
#include "report/report.h"
#include "results/kept_analyses.h"
#include "tests/analyze/support.h"

namespace locus::report {
namespace {

using namespace testing_support;

struct ToyRow {
  std::string model;
  double parameters = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("parameters", r.parameters);
  }
};

struct ToyResult {
  static constexpr const char* kName = "toy";
  std::vector<ToyRow> rows;
  std::vector<std::string> notes;

  static void tables(auto& r, auto&& visit) { visit("rows", "", r.rows); }
};

ToyResult count_parameters(const AnalysisJob& job) {
  ToyResult result;
  for (const AnalysisModel& m : job.run.models)
    result.rows.push_back({m.name, static_cast<double>(job.run.structure->layout.floats())});
  return result;
}

Found<Figure> draw_toy(const Inputs& inputs) {
  const RunNumber count = number_of(&ToyResult::rows, &ToyRow::parameters, [](const ToyRow&) { return true; });
  Figure figure{.name = "toy", .title = "Parameters"};
  figure.csv = "run,parameters\n";
  for (const Run& run : inputs.runs) figure.csv += fmt::format("{},{}\n", run.name, count(run));
  if (inputs.runs.empty()) return Found<Figure>::none("no run");
  return Found<Figure>::of(figure);
}

TEST(OwnAnalysisTest, is_computed_kept_and_shown_like_the_others) {
  register_analysis(
      analysis_of_run({.question = "How many parameters?", .needs = "a model", .figures = {"toy"}}, count_parameters));
  register_figure({"toy", "Parameters", "analysis/toy.json", draw_toy});
  EXPECT_THROW(register_analysis(analysis_of_run({.question = "?", .needs = "?"}, count_parameters)), ConfigError);
  EXPECT_THROW(register_figure({"toy", "?", "?", draw_toy}), ConfigError);
  const Dataset data = small_masked();
  TempRuns runs;
  const AnalysisRun run = memory_run(tiny_masked_config(), data);
  const fs::path folder = runs.write("run", run, data);
  AnalyzeOptions options;
  options.run = folder;
  options.names = {"toy"};
  const std::vector<AnalysisOutcome> outcomes = analyze_run(options);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].state, AnalysisState::kComputed) << outcomes[0].message;
  EXPECT_EQ(read_result<ToyResult>(folder).rows.size(), 2u);
  const std::string count = std::to_string(run.structure->layout.floats());
  EXPECT_NE(read_text_file(folder / "analysis/toy.csv").find("final," + count), std::string::npos);
  std::vector<std::string> notes;
  EXPECT_EQ(flat_analyses(RunReader(folder), notes).value("toy.final.parameters", 0.0), std::stod(count));
  const ReportResult page =
      write_report({.dirs = {runs.path().string()}, .out = (runs.path() / "page.html").string(), .figures = {"toy"}});
  EXPECT_EQ(page.figures, std::vector<std::string>{"toy"});
  EXPECT_EQ(read_text_file(runs.path() / "page_files/toy.csv"), "run,parameters\nrun," + count + "\n");
}

TEST(RegistryOfAnalysesTest, every_analysis_names_the_figures_that_show_it) {
  for (const Analysis& analysis : all_analyses()) {
    EXPECT_FALSE(analysis.figures.empty()) << analysis.name << " would be computed and not shown";
    for (const std::string& name : analysis.figures) EXPECT_NO_THROW(find_figure(name)) << analysis.name;
  }
}

}  // namespace
}  // namespace locus::report
