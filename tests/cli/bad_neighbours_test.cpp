// One run or plan that cannot be read among others that can: it is told of, and the others are shown and kept.

#include "tests/cli/cli_testing.h"

#include "core/json.h"
#include "core/text.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

class BadNeighboursTest : public testing::Test {
 protected:
  void SetUp() override { write(place_ / "tiny.toml", cli_testing::kTiny); }
  void train(const std::string& names) {
    const Result r =
        place_.shell("i=0; for r in " + names +
                     "; do i=$((i+1)); locus train tiny.toml seed=$i --out runs/$r --quiet >/dev/null || exit 1; done");
    ASSERT_EQ(r.code, 0) << r.err;
  }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_F(BadNeighboursTest, one_unreadable_run_is_a_warning_in_every_list) {
  train("a b c");
  const std::string good = text_of(place_ / "runs/b/config.toml");
  const std::string bad[] = {
      repeated("a.", 200000) + "a = 1\n",                             // a key of many parts
      "[" + repeated("a.", 200000) + "a]\n",                          // a section of many parts
      repeated("\"a\" . ", 200000) + "a = 1\n",                       // in quotes, with spaces
      "a = " + repeated("[", 200000) + repeated("]", 200000) + "\n",  // lists in lists
      "a = " + repeated("{a=", 200000) + "1" + repeated("}", 200000) + "\n",
      "seed = \n",
      std::string("\0\0\0", 3),
  };
  for (const std::string& text : bad) {
    write(place_ / "runs/b/config.toml", text);
    for (const char* command : {"runs runs", "report runs --out page.html", "analyze runs --only recovery",
                                "compare runs --by study --metric test.accuracy"}) {
      const Result r = place_.shell(std::string("locus ") + command);
      EXPECT_EQ(r.code, 0) << command << ": " << text.substr(0, 30) << "\n" << r.err.substr(0, 500);
      const bool told = r.err.find("runs/b") != std::string::npos || r.err.find("warning: b: ") != std::string::npos;
      EXPECT_TRUE(told) << command << ": " << r.err.substr(0, 500);
    }
  }
  EXPECT_EQ(place_.shell("locus analyze runs/b").code, 1) << "a run that was asked for by name is an error";
  write(place_ / "runs/b/config.toml", good);
  write(place_ / "runs/b/manifest.json", repeated("[", 200000));
  write(place_ / "runs/c/summary.json", repeated("{\"a\":", 200000));
  const Result r = place_.shell("locus runs runs --json");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(Json::parse(r.out).size(), 3u);
  EXPECT_EQ(place_.shell("locus report runs --out page.html").code, 0);
}

TEST_F(BadNeighboursTest, many_numbers_with_dots_are_no_deep_key) {
  std::string list = "0.5";
  for (int i = 0; i < 300; ++i) list += ", 0.25";
  write(place_ / "many.toml", std::string(cli_testing::kTiny) + "# a.b.c" + repeated(".x", 100) + "\n[nmar]\nsizes = [" +
                                  list + "]\n[series]\nmanifest = \"" + repeated("a.", 100) + "csv\"\n");
  const Result r = place_.shell("locus config many.toml");
  EXPECT_EQ(r.err.find("too many parts"), std::string::npos) << r.err;
}

class DamagedPlanTest : public BadNeighboursTest {
 protected:
  std::string only_plan() const {
    for (const auto& entry : std::filesystem::directory_iterator(place_ / "out/plans")) return entry.path().string();
    return "";
  }
  Result sweep(const std::string& values = "1,2,3") const {
    return place_.shell("locus sweep tiny.toml seed=" + values + " --out out --quiet");
  }
};

TEST_F(DamagedPlanTest, a_sweep_writes_its_damaged_plan_anew) {
  ASSERT_EQ(sweep().code, 0);
  const std::string results = text_of(place_ / "out/results.csv"), plan = text_of(only_plan());
  ASSERT_GT(results.size(), 500u);
  for (const std::string& damaged : {plan.substr(0, plan.size() / 2), std::string(), std::string("[]"),
                                     std::string("{\"keys\":7,\"bases\":\"x\",\"cells\":[1]}"),
                                     std::string("{\"keys\":[1],\"bases\":[],\"cells\":{}}")}) {
    write(only_plan(), damaged);
    const Result listed = place_.shell("locus runs out");
    EXPECT_EQ(listed.code, 0) << listed.err;
    EXPECT_NE(listed.err.find("warning: "), std::string::npos) << listed.err;
    EXPECT_NE(listed.out.find("3 of 3 runs"), std::string::npos) << listed.out;
    const Result r = sweep();
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(text_of(only_plan()), plan);
    EXPECT_EQ(text_of(place_ / "out/results.csv"), results);
  }
}

TEST_F(DamagedPlanTest, results_are_never_replaced_by_fewer) {
  ASSERT_EQ(sweep().code, 0);
  const std::string results = text_of(place_ / "out/results.csv"), file = only_plan(), plan = text_of(file);
  write(file, plan.substr(0, plan.size() / 2));
  Result r = sweep("4,5");  // another sweep cannot mend it
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_NE(r.err.find("plan"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find(file.substr(file.rfind('/'))), std::string::npos) << r.err;
  EXPECT_EQ(text_of(place_ / "out/results.csv"), results);
  std::filesystem::remove(file);
  std::filesystem::remove_all(place_ / "out/plans");
  r = sweep("4,5");
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_NE(r.err.find("no plan in this folder knows"), std::string::npos) << r.err;
  EXPECT_EQ(text_of(place_ / "out/results.csv"), results);
  EXPECT_EQ(sweep().code, 0);  // the sweep that made them
  EXPECT_EQ(sweep("4,5").code, 0);
  EXPECT_GT(text_of(place_ / "out/results.csv").size(), results.size());
}

TEST_F(DamagedPlanTest, a_folder_whose_name_begins_with_a_dash_is_a_folder) {
  const Result r = place_.shell("locus sweep tiny.toml seed=1,2 --out=-x --quiet && locus runs ./-x");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("2 cells finished"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace locus
