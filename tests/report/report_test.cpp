// The report as a whole: what is written, that it is the same twice, and that broken or hostile folders do no harm.
#include "report/report.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/fake_run.h"

namespace locus::report {
namespace {

using namespace testing_support;

FakeRun lst_run(double sigma, int seed, double accuracy) {
  FakeRun run;
  run.config.pe.sigma = sigma;
  run.config.seed = seed;
  run.final_accuracy = accuracy;
  return run;
}

TEST(ReportTest, writes_page_figures_and_tables) {
  const TempFolder folder("report_page");
  for (int seed = 0; seed < 3; ++seed) {
    write_fake_run(folder.path() / "runs" / fmt::format("a{}", seed), lst_run(0.2, seed, 0.95 + 0.01 * seed));
    write_fake_run(folder.path() / "runs" / fmt::format("b{}", seed), lst_run(2.0, seed, 0.40 + 0.05 * seed));
  }
  const ReportResult result = write_report({.dirs = {folder / "runs"}, .out = folder / "report.html"});
  EXPECT_EQ(result.runs, 6u);
  const std::string page = read_text(result.page);
  EXPECT_EQ(page.size(), result.bytes);
  EXPECT_NE(page.find("learned σ 0.2 does best: held-out accuracy 96.0 %"), std::string::npos);
  EXPECT_TRUE(fs::exists(fs::path(result.folder) / "accuracy_vs_sigma.svg"));
  EXPECT_TRUE(fs::exists(fs::path(result.folder) / "training_curves.csv"));
}

}  // namespace
}  // namespace locus::report
