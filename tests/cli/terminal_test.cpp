// What stands on a terminal while commands work: an emulator draws it, so that lines which wrap, flicker or flash are seen.

#include "tests/cli/cli_testing.h"
#include "tests/support/paths.h"

#include <sstream>

#include "core/json.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

constexpr const char* kMasked =
    "study = \"masked\"\n[model]\nlayers = 1\nwidth = 8\nreadout = \"masked\"\n[stop]\nepochs = 0\nsteps = 400\n"
    "[watch]\neval_steps = 100\n"
    "[nmar]\nsizes = [3, 3]\ntrain_samples = 200\nvalidation_samples = 50\ntest_samples = 50\n";

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("/usr/bin/python3 -c 'import pyte' >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "no /usr/bin/python3 with pyte, a terminal emulator";
    write(place_ / "tiny.toml", cli_testing::kTiny);
    write(place_ / "masked.toml", kMasked);
  }

  // The command on a terminal of that size; `options` of tests/cli/terminal_emulator.py.
  Json watch(const std::string& size, const std::string& command, const std::string& options = "") const {
    const Result r = place_.shell("/usr/bin/python3 -B '" + locus::test::source_dir() + "/tests/cli/terminal_emulator.py' " +
                                  size + " " + options + " -- '" + locus::test::binary() + "' " + command);
    EXPECT_EQ(r.code, 0) << r.err;
    return Json::parse(r.out);
  }

  static void expect_calm(const Json& seen, const std::string& what) {
    EXPECT_TRUE(seen["wrapped"].empty()) << what << ": " << seen["wrapped"].dump();
    EXPECT_EQ(seen["flickers"], 0) << what;
  }

  static int lines_with(const Json& seen, const std::string& text) {
    int n = 0;
    for (const Json& line : seen["seen"]) n += line.get<std::string>().find(text) != std::string::npos ? 1 : 0;
    return n;
  }

  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(TerminalTest, progress_neither_wraps_nor_flickers_in_80_and_120_columns) {
  for (const char* size : {"80 24", "120 40", "60 16"}) {
    const std::string out = std::string(size).substr(0, 2);
    const Json train = watch(size, "train tiny.toml stop.epochs=400 --out run" + out);
    expect_calm(train, size);
    EXPECT_EQ(train["code"], 0);
    EXPECT_GT(lines_with(train, "loss "), 1) << train.dump();
    expect_calm(watch(size, "train masked.toml --out masked" + out), size);
    const Json sweep = watch(size, "sweep tiny.toml pe.sigma=0.1,0.25,0.5,1,2 seed=0..1 --jobs 2 --out sweep" + out);
    expect_calm(sweep, size);
    EXPECT_EQ(sweep["code"], 0);
  }
}

TEST_F(TerminalTest, no_loss_of_zero_flashes_between_two_epochs) {
  const Json seen = watch("120 40", "train tiny.toml stop.epochs=600 --out run");
  EXPECT_GT(lines_with(seen, "loss "), 1);
  EXPECT_EQ(lines_with(seen, "loss 0.0000"), 0) << seen["seen"].dump();
}

TEST_F(TerminalTest, a_window_made_smaller_leaves_nothing_torn) {
  const Json seen = watch("120 40", "train tiny.toml stop.epochs=1500 --out run", "--when 'epoch' --resize 60");
  EXPECT_EQ(seen["code"], 0);
  expect_calm(seen, "resized");
}

TEST_F(TerminalTest, an_interrupted_training_says_that_the_same_command_goes_on) {
  const Json seen = watch("80 24", "train tiny.toml stop.epochs=1000000 --out run", "--when 'epoch 2' --type '\\x03'");
  EXPECT_EQ(seen["code"], 75) << seen.dump();
  EXPECT_EQ(lines_with(seen, "the same command goes on from here"), 1) << seen["screen"].dump();
  EXPECT_LT(seen["seconds"].get<double>(), 20);
}

TEST_F(TerminalTest, an_interrupt_while_analysing_is_heeded_at_once) {
  std::ofstream csv(place_ / "samples.csv");
  for (int i = 0; i < 400; ++i) {
    for (int t = 0; t < 90; ++t) csv << ((i * (t % 7 + 3) + t * t * 3) % 97) * 0.1 << (t < 89 ? "," : "\n");
  }
  csv.close();
  const Json seen = watch("80 24", "fit samples.csv stop.steps=3 --out mine", "--when 'Analysing' --type '\\x03'");
  EXPECT_EQ(seen["code"], 75) << seen.dump();
  EXPECT_LT(seen["seconds"].get<double>(), 3);
  EXPECT_EQ(lines_with(seen, "stopped while analysing"), 1) << seen["screen"].dump();
  const Result again = place_.shell("locus fit samples.csv stop.steps=3 --out mine");
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(TerminalTest, messages_are_broken_between_words) {
  const Json seen = watch("60 24", "train tiny.toml sigma=0.5 --out run");
  EXPECT_EQ(seen["code"], 2);
  expect_calm(seen, "an error");
}

// What a run remembers of its data, as a user who works from another folder meets it.
class ElsewhereTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* subject : {"sub-1", "sub-2", "sub-3"}) {
      std::ofstream csv(place_ / (std::string(subject) + ".csv"));
      csv << "a,b,c,d,e\n";
      for (int i = 0; i < 60; ++i) {
        const int k = subject[4] - '0';
        csv << (i * k * 7 % 11) + 0.5 << ',' << i * 5 % 13 << ',' << i * 3 % 7 << ',' << i * 2 % 9 << ',' << (i * i + k) % 17
            << '\n';
      }
    }
  }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(ElsewhereTest, eval_and_analyze_find_the_data_and_miss_them_aloud) {
  const Result fit =
      place_.shell("locus fit sub-1.csv sub-2.csv sub-3.csv stop.steps=5 model.width=8 --out runs/one --quiet");
  ASSERT_EQ(fit.code, 0) << fit.err;
  const Result eval = place_.shell("mkdir elsewhere; cd elsewhere; locus eval ../runs/one --json");
  EXPECT_EQ(eval.code, 0) << eval.err;
  const Result analyze = place_.shell("cd elsewhere; locus analyze ../runs/one --force --only attention");
  EXPECT_EQ(analyze.code, 0) << analyze.out << analyze.err;
  EXPECT_NE(analyze.out.find("computed"), std::string::npos) << analyze.out;
  const Result lost = place_.shell("rm sub-*.csv; locus analyze runs/one --force --only attention");
  EXPECT_EQ(lost.code, 1) << lost.out << lost.err;
  EXPECT_NE(lost.err.find("1 analyses are missing"), std::string::npos) << lost.err;
}

TEST_F(ElsewhereTest, a_sweep_over_the_configuration_of_a_run_finds_its_data_from_anywhere) {
  ASSERT_EQ(place_.shell("locus fit sub-1.csv sub-2.csv sub-3.csv stop.steps=5 model.width=8 --out runs/one --quiet").code,
            0);
  const Result sweep =
      place_.shell("mkdir elsewhere; cd elsewhere; locus sweep ../runs/one/config.toml seed=0..1 --out ../runs/seeds");
  EXPECT_EQ(sweep.code, 0) << sweep.out << sweep.err;
  EXPECT_NE(sweep.out.find("locus report ../runs/seeds"), std::string::npos) << sweep.out;
  const Result train = place_.shell("cd elsewhere; locus train ../runs/one/config.toml seed=7 --out ../runs/seven");
  EXPECT_EQ(train.code, 0) << train.out << train.err;
  const Result report = place_.shell("locus report runs/seeds");
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_NE(report.out.find("(2 runs)"), std::string::npos) << report.out;
}

TEST_F(ElsewhereTest, runs_of_different_data_are_told_apart) {
  ASSERT_EQ(place_.shell("locus fit sub-1.csv stop.steps=3 model.width=8 --out runs/table --quiet").code, 0);
  ASSERT_EQ(place_.shell("locus fit sub-2.csv stop.steps=3 model.width=8 --out runs/other --quiet").code, 0);
  const Result report = place_.shell("locus report runs");
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_NE(report.out.find("sub-1.csv: On test data"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("sub-2.csv: On test data"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("cannot be compared"), std::string::npos) << report.out;
}

TEST_F(ElsewhereTest, fit_takes_files_of_several_subjects_or_their_folder_and_ends_with_an_answer) {
  const Result many = place_.shell("locus fit sub-1.csv sub-2.csv sub-3.csv stop.steps=5 model.width=8 --out many");
  ASSERT_EQ(many.code, 0) << many.err;
  EXPECT_NE(many.out.find("You may not say yet"), std::string::npos) << many.out;
  EXPECT_NE(many.out.find("ridge regression"), std::string::npos) << many.out;
  const Result folder =
      place_.shell("mkdir rest; mv sub-*.csv rest; locus fit rest stop.steps=5 model.width=8 --out folder");
  ASSERT_EQ(folder.code, 0) << folder.err;
  EXPECT_EQ(text_of(place_ / "many/similarity.csv"), text_of(place_ / "folder/similarity.csv"));
  const std::string log = text_of(place_ / "many/log.txt");
  EXPECT_NE(log.find("step 5: "), std::string::npos) << log;
}

TEST_F(ElsewhereTest, gc_that_keeps_nothing_gives_back_most_of_the_disk) {
  ASSERT_EQ(place_.shell("locus fit sub-1.csv sub-2.csv sub-3.csv stop.steps=5 --out runs/one --quiet").code, 0);
  const auto size = [&] { return std::stod(place_.shell("du -sb runs | cut -f1").out); };
  const double before = size();
  const Result r = place_.shell("locus gc runs/one --keep nothing --yes");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_LT(size(), 0.6 * before);
  EXPECT_TRUE(std::filesystem::exists(place_ / "runs/one/summary.json"));
  EXPECT_TRUE(std::filesystem::exists(place_ / "runs/one/analysis/recovery.json"));
  EXPECT_TRUE(std::filesystem::exists(place_ / "runs/one/report.html"));
}

TEST(PlainTest, nothing_but_lines_where_there_is_no_terminal) {
  Workplace place("plain");
  write(place / "tiny.toml", cli_testing::kTiny);
  const Result r = place.shell("locus train tiny.toml stop.epochs=5 --out run");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err.find_first_of("\r\033"), std::string::npos) << r.err;
  std::istringstream lines(r.err);
  for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 80u) << line;
  EXPECT_EQ(r.err.find("finished"), std::string::npos) << "the end is told once: " << r.err;
  EXPECT_NE(r.out.find("finished after 5 epochs"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("locus report run"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace locus
