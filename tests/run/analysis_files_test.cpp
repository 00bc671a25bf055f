// Whether a stored analysis still belongs to the model in the folder.
#include "run/analysis_files.h"

#include <nlohmann/json.hpp>

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
  nlohmann::json made_now() const { return {{kMadeOf, to_json(model_state(out_))}}; }
  nlohmann::json made_of_several() const { return {{kMadeOf, nlohmann::json::array({to_json(model_state(out_), out_)})}}; }
};

TEST_F(AnalysisFilesTest, current_until_the_model_changes) {
  finish(10);
  const nlohmann::json analysis = made_now();
  const nlohmann::json several = made_of_several();
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
  const nlohmann::json analysis = made_now();
  for (const nlohmann::json& old :
       {nlohmann::json::object(), nlohmann::json{{kMadeOf, 3}}, nlohmann::json{{kMadeOf, nullptr}}}) {
    EXPECT_EQ(check_analysis_in(out_, old).age, AnalysisAge::kUnverified) << old.dump();
    EXPECT_TRUE(check_analysis_in(out_, old).usable());
  }
  fs::remove_all(out_ / "final");
  EXPECT_EQ(check_analysis_in(out_, analysis).age, AnalysisAge::kUnverified) << "gc took the model";
  const nlohmann::json several = made_of_several();
  fs::rename(out_, root_ / "moved");
  EXPECT_EQ(check_analysis_in(root_, several).age, AnalysisAge::kUnverified);
}

TEST_F(AnalysisFilesTest, a_reference_that_was_trained_on_makes_it_stale) {
  finish(10);
  nlohmann::json analysis = made_now();
  analysis[kMadeOf][kMadeWith] = made_of_several()[kMadeOf];
  EXPECT_EQ(check_analysis(analysis, model_state(out_)).age, AnalysisAge::kCurrent);
  analysis[kMadeOf][kMadeWith][0]["sha256"] = "another";
  EXPECT_EQ(check_analysis(analysis, model_state(out_)).age, AnalysisAge::kStale);
}

}  // namespace
}  // namespace locus
