// locus tune and locus advise as a user runs them: tiny runs, any number of jobs, killed on the way, and what is refused.
#include <gtest/gtest.h>

#include <sstream>

#include "core/json.h"
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;

constexpr const char* kConfig = R"([model]
layers = 1
width = 8
[train]
batch = 16
[stop]
epochs = 0
steps = 64
[lst]
per_difficulty = 20
heldout_items = 2
min_distance = 0.3
)";

class TuneTest : public ::testing::Test {
 protected:
  TuneTest() { cli_testing::write(place_ / "tiny.toml", kConfig); }

  Result tune(const std::string& arguments) const {
    return place_.shell("locus tune tiny.toml --quiet --no-report --budget 2runs " + arguments);
  }
  // Steps that all processes computed, and the length of all runs, by the runs' own logs and summaries.
  std::pair<std::int64_t, std::int64_t> computed(const std::string& folder) const {
    const Result r = place_.shell("cat " + folder + "/cells/*/log.txt | grep -o 'computed steps [0-9]* to [0-9]*'");
    std::istringstream lines(r.out);
    std::int64_t sum = 0, from = 0, to = 0;
    for (std::string a, b, c; lines >> a >> b >> from >> c >> to;) sum += to - from;
    return {sum, Json::parse(text_of(place_ / (folder + "/search.json"))).at("spent_steps").get<std::int64_t>()};
  }
  void refused(const std::string& arguments, const std::string& words) const {
    const Result r = place_.shell("locus tune " + arguments + " --out refused");
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(words), std::string::npos) << r.err;
    EXPECT_FALSE(std::filesystem::exists(place_ / "refused"));
  }

  Workplace place_{"tune"};
};

TEST_F(TuneTest, choices_do_not_depend_on_the_number_of_jobs) {
  ASSERT_EQ(tune("--jobs 1 --out one").code, 0);
  ASSERT_EQ(tune("--jobs 3 --out three").code, 0);
  EXPECT_EQ(text_of(place_ / "one/search.json"), text_of(place_ / "three/search.json"));
  EXPECT_EQ(text_of(place_ / "one/best.toml"), text_of(place_ / "three/best.toml"));
  const auto [steps, spent] = computed("one");
  EXPECT_EQ(steps, spent);
  EXPECT_LE(spent, 128);
  const Result trained = place_.shell("locus train one/best.toml --quiet --out best");
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(place_.shell("locus compare one --by pe.sigma --metric validation.accuracy").code, 0);
}

TEST_F(TuneTest, a_killed_search_goes_on_to_the_same_answer_and_computes_no_step_twice) {
  const std::string longer = "stop.steps=8000 --budget 1runs ";
  ASSERT_EQ(place_.shell("locus tune tiny.toml --quiet --no-report --jobs 2 --out calm " + longer).code, 0);
  // Killed while its workers train: each of these goes on from where the one before was stopped. No function of the shell:
  // $! is to be the search itself.
  const std::string search =
      "'" + locus::test::binary() + "' tune tiny.toml --quiet --no-report --jobs 2 --out torn " + longer;
  // At least six times, and until a run was stopped on its way: a quick machine may be between two runs.
  const Result r = place_.shell("for i in $(seq 60); do\n" + search +
                                " & parent=$!\n"
                                "for w in $(seq 400); do pgrep -P $parent >/dev/null && break; sleep 0.02; done\n"
                                "sleep 0.$((i % 6))$((i % 10)); kill -KILL $parent; wait $parent\n"
                                "[ $i -ge 6 ] && cat torn/cells/*/log.txt | grep -q interrupted && break\n"
                                "done 2>/dev/null\n" +
                                search + " >/dev/null || exit 1\ncat torn/cells/*/log.txt | grep -c interrupted");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(text_of(place_ / "calm/search.json"), text_of(place_ / "torn/search.json")) << r.out;
  const auto [steps, spent] = computed("torn");
  EXPECT_EQ(steps, spent) << r.out;
  EXPECT_GT(std::atoi(r.out.c_str()), 0) << "no run was stopped on its way";
}

TEST_F(TuneTest, a_finished_search_is_answered_again_without_training) {
  ASSERT_EQ(tune("--out again").code, 0);
  const auto before = computed("again").first;
  const Result r = tune("--out again --json");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(computed("again").first, before);
  EXPECT_FALSE(Json::parse(r.out).at("sentences").empty());
}

TEST_F(TuneTest, another_question_in_the_same_folder_is_refused) {
  ASSERT_EQ(tune("--out same").code, 0);
  const Result r = tune("optim.lr=1e-3 --out same");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("optim.lr"), std::string::npos) << r.err;
}

TEST_F(TuneTest, what_cannot_be_searched_is_refused_before_anything_is_written) {
  refused("tiny.toml --metric test.accuracy", "only the validation split may decide");
  refused("tiny.toml --metric heldout.accuracy", "too good");
  refused("tiny.toml --budget 3", "not a budget");
  refused("tiny.toml --budget 10steps", "too small");
  refused("tiny.toml stop.seconds=3", "by the clock");
  refused("tiny.toml seed=0..3", "seeds are chosen by the search");
  refused("tiny.toml pe.kind=none", "sigma decides nothing");
  refused("tiny.toml pe.sigma=2..1", "not a range");
  refused("pe.sigma=0.1..1", "no configuration and no data");
}

TEST_F(TuneTest, readability_compares_what_two_seeds_learned) {
  const Result r = tune("--aim readability --json --out readable");
  ASSERT_EQ(r.code, 0) << r.err;
  const double score = Json::parse(r.out).at("score").get<double>();
  EXPECT_GE(score, -1.0);
  EXPECT_LE(score, 1.0);
  EXPECT_NE(text_of(place_ / "readable/candidates.csv").find("readability"), std::string::npos);
}

TEST_F(TuneTest, the_report_of_a_search_has_its_figure) {
  const Result r =
      place_.shell("locus tune tiny.toml --quiet --budget 2runs --out seen && locus plot search seen --out search.svg");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(text_of(place_ / "seen/report.html").find("fig-search"), std::string::npos);
  EXPECT_NE(text_of(place_ / "search.svg").find("<svg"), std::string::npos);
}

TEST_F(TuneTest, advice_is_a_range_with_the_start_inside) {
  const Result r = place_.shell("locus advise tiny.toml --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json json = Json::parse(r.out);
  const double sigma = json.at("sigma").get<double>();
  EXPECT_LE(json.at("range").at(0).get<double>(), sigma);
  EXPECT_GE(json.at("range").at(1).get<double>(), sigma);
  EXPECT_EQ(json.at("facts").size(), 3u);
  // A rate so high that ten steps pass the content leaves one value.
  const Json fast = Json::parse(place_.shell("locus advise tiny.toml optim.lr=1 --json").out);
  EXPECT_EQ(fast.at("range").at(0).get<double>(), fast.at("range").at(1).get<double>());
  EXPECT_EQ(place_.shell("locus advise tiny.toml pe.kind=none").code, 2);
}

}  // namespace
}  // namespace locus
