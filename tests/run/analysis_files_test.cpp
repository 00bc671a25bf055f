// Whether a stored analysis still belongs to the model in the folder.
#include "run/analysis_files.h"
#include "core/json.h"

#include "tests/run/run_testing.h"

namespace locus {
namespace {

class AnalysisFilesTest : public RunFolderTest {
 protected:
  // A finished run whose model depends on the step.
  void finish(std::int64_t step) const {
    RunDirectory run = open(small_identity());
    const SmallCheckpoint small(step);
    run.save_model("final", small.model());
    Summary summary;
    summary.steps = step;
    run.write_summary(summary);
  }
  Json made_now() const { return {{kMadeOf, to_json(RunReader(out_).model_state())}}; }
  Json made_of_several() const { return {{kMadeOf, Json::array({to_json(RunReader(out_).model_state(), out_)})}}; }
};

TEST_F(AnalysisFilesTest, current_until_the_model_changes) {
  finish(10);
  const Json analysis = made_now();
  const Json several = made_of_several();
  EXPECT_EQ(check_analysis_in(out_, analysis).age, AnalysisAge::kCurrent);
  EXPECT_EQ(check_analysis_in(root_, several).age, AnalysisAge::kCurrent);
  finish(10);
  EXPECT_EQ(check_analysis_in(out_, analysis).age, AnalysisAge::kCurrent) << "the same model written again";
  finish(20);
  const AnalysisCheck check = check_analysis_in(out_, analysis);
  EXPECT_EQ(check.age, AnalysisAge::kStale);
  EXPECT_TRUE(contains(check.note, "made at step 10 of another model state (now: step 20)")) << check.note;
  EXPECT_FALSE(check.usable());
  EXPECT_EQ(check_analysis_in(root_, several).age, AnalysisAge::kStale);
  EXPECT_EQ(check_analysis_in(out_, made_now()).age, AnalysisAge::kCurrent);
}

TEST_F(AnalysisFilesTest, what_cannot_be_checked_is_usable_and_unverified) {
  finish(10);
  const Json analysis = made_now();
  for (const Json& old : {Json::object(), Json{{kMadeOf, 3}}, Json{{kMadeOf, nullptr}}}) {
    EXPECT_EQ(check_analysis_in(out_, old).age, AnalysisAge::kUnverified) << old.dump();
    EXPECT_TRUE(check_analysis_in(out_, old).usable());
  }
  fs::remove_all(out_ / "final");
  EXPECT_EQ(check_analysis_in(out_, analysis).age, AnalysisAge::kUnverified) << "gc took the model";
  const Json several = made_of_several();
  fs::rename(out_, root_ / "moved");
  EXPECT_EQ(check_analysis_in(root_, several).age, AnalysisAge::kUnverified);
}

TEST_F(AnalysisFilesTest, a_reference_that_was_trained_on_makes_it_stale) {
  finish(10);
  Json analysis = made_now();
  analysis[kMadeOf][kMadeWith] = made_of_several()[kMadeOf];
  EXPECT_EQ(check_analysis(analysis, RunReader(out_).model_state()).age, AnalysisAge::kCurrent);
  analysis[kMadeOf][kMadeWith][0]["sha256"] = "another";
  EXPECT_EQ(check_analysis(analysis, RunReader(out_).model_state()).age, AnalysisAge::kStale);
}

}  // namespace
}  // namespace locus
