// Writes the sample reports that the browser tests open, when LOCUS_SAMPLE_DIR names a folder for them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "report/report.h"
#include "tests/report/sample_runs.h"

namespace locus::report {
namespace {

using namespace testing_support;

TEST(SamplePages, are_written_where_asked) {
  const char* dir = std::getenv("LOCUS_SAMPLE_DIR");
  if (dir == nullptr) GTEST_SKIP() << "set LOCUS_SAMPLE_DIR to write the pages the browser tests open";
  const fs::path root(dir);
  write_lst_study(root / "lst", {.analyses = true});
  write_masked_study(root / "nmar", {});
  write_masked_study(root / "fmri", {.tokens = 360, .modules = 12, .brain = true});
  write_lst_study(root / "one", {.seeds = 1, .sigmas = {0.2}, .fixed = false});
  SampleOptions many{.seeds = 15, .sigmas = {}, .fixed = true, .epochs = 200, .tables = false};
  for (int i = 0; i < 17; ++i) many.sigmas.push_back(0.1 + 0.1 * i);
  write_lst_study(root / "many", many);
  write_sweep_study(root / "sweep");
  write_broken_study(root / "broken");
  for (const char* name : {"lst", "nmar", "fmri", "one", "many", "sweep", "broken"}) {
    const ReportResult result =
        write_report({.dirs = {(root / name).string()}, .out = (root / (name + std::string(".html"))).string()});
    EXPECT_LT(result.bytes, 5'000'000u) << name;
  }
}

}  // namespace
}  // namespace locus::report
