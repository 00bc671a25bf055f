// Signals, resume, locks and the outputs meant for programs.

#include "core/pe_kind.h"
#include "tests/cli/cli_testing.h"
#include "tests/support/paths.h"

#include "core/json.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

class CommandsTest : public testing::Test {
 protected:
  void SetUp() override {
    write(place_ / "tiny.toml", cli_testing::kTiny);
    write(place_ / "nmar.toml",
          "study = \"masked\"\n[model]\nlayers = 1\nwidth = 8\nreadout = \"masked\"\n[stop]\nepochs = 0\nsteps = 2\n"
          "[nmar]\nsizes = [3, 3]\ntrain_samples = 50\nvalidation_samples = 10\ntest_samples = 10\n");
  }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

// Starts a long training in the background and waits until it has made its second evaluation.
constexpr const char* kStartLong = R"(
"$LOCUS" train tiny.toml stop.epochs=1000000 --out run >long.out 2>long.err &
pid=$!
for i in $(seq 600); do
  [[ $(wc -l <run/metrics.jsonl 2>/dev/null || echo 0) -ge 2 ]] && break
  sleep 0.1
done
)";

std::string long_run() { return "LOCUS='" + locus::test::binary() + "'\n" + std::string(kStartLong); }

TEST_F(CommandsTest, stop_signals_checkpoint_and_exit_75_and_the_run_goes_on) {
  for (const char* signal : {"TERM", "INT", "USR1", "USR2"}) {
    const Result r = place_.shell(long_run() + "kill -" + signal + " $pid; wait $pid; exit $?");
    EXPECT_EQ(r.code, 75) << signal << text_of(place_ / "long.err");
    const Json summary = Json::parse(text_of(place_ / "run/summary.json"));
    EXPECT_EQ(summary["status"], "interrupted");
    EXPECT_FALSE(std::filesystem::exists(place_ / "run/final"));
    const Result again = place_.shell("locus train tiny.toml stop.epochs=2 --out run");
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_NE(again.err.find("resumed from step"), std::string::npos) << again.err;
    EXPECT_EQ(Json::parse(text_of(place_ / "run/summary.json"))["status"], "finished");
    std::filesystem::remove_all(place_ / "run");
  }
}

TEST_F(CommandsTest, a_folder_in_use_is_refused_until_it_is_free) {
  const Result r =
      place_.shell(long_run() + "locus train tiny.toml --out run; code=$?; kill -TERM $pid; wait $pid; exit $code");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_NE(r.err.find("run"), std::string::npos);
  EXPECT_NE(r.err.find("pid"), std::string::npos) << "says who: " << r.err;
}

TEST_F(CommandsTest, a_run_whose_checkpoints_are_all_damaged_begins_anew_and_says_so) {
  ASSERT_EQ(place_.shell("locus train tiny.toml --out run --quiet").code, 0);
  const std::string whole = text_of(place_ / "run/final/model.safetensors");
  const Result r = place_.shell(
      "for f in run/checkpoints/*/state.safetensors; do truncate -s 20 $f; done; locus train tiny.toml --out run");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("cannot be used"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("begins anew"), std::string::npos) << r.err;
  EXPECT_EQ(whole, text_of(place_ / "run/final/model.safetensors"));
}

TEST_F(CommandsTest, json_outputs_parse_and_hold_what_programs_want) {
  const auto json = [&](const std::string& command) {
    const Result r = place_.shell("locus " + command);
    EXPECT_EQ(r.code, 0) << command << "\n" << r.err;
    return Json::parse(r.out);
  };
  EXPECT_TRUE(json("version --json").contains("version"));
  EXPECT_EQ(json("encodings --json").size(), kPeKindNames.size());
  EXPECT_TRUE(json("config --json")["pe"].contains("sigma"));
  EXPECT_TRUE(json("selfcheck --json")["as_pinned"].get<bool>());
  const Json trained = json("train tiny.toml --out run --json --quiet");
  EXPECT_EQ(trained["status"], "finished");
  EXPECT_TRUE(trained.contains("heldout.accuracy"));
  EXPECT_TRUE(json("eval run --json").contains("test.loss"));
  EXPECT_EQ(json("inspect run --json")["status"], "finished");
  EXPECT_FALSE(json("inspect run/final --json")["tensors"].empty());
  EXPECT_TRUE(json("lst generate puzzles --per-difficulty 20 --json").contains("hash"));
  EXPECT_TRUE(json("lst solve puzzles/train.csv --json")["issues"].empty());
  for (const char* command : {"lst show 0040405210200030 --json", "lst solve 0040405210200030 --json"}) {
    const Json puzzle = json(command);
    EXPECT_EQ(puzzle["answer"], 1);
    EXPECT_EQ(puzzle["target"], Json({2, 3}));
    EXPECT_EQ(puzzle["cells_used"].size(), 3u);
  }
  EXPECT_EQ(json("nmar simulate --config nmar.toml --out net --json")["out"], "net");
  EXPECT_GT(json("inspect net/samples.npz --json")["arrays"].size(), 1u);
}

TEST_F(CommandsTest, summary_holds_status_counts_hash_and_measures_by_condition) {
  ASSERT_EQ(place_.shell("locus train tiny.toml --out run --quiet").code, 0);
  const Json s = Json::parse(text_of(place_ / "run/summary.json"));
  for (const char* key : {"status", "epochs", "steps", "seconds", "config_hash", "train.loss", "train.accuracy",
                          "heldout.loss", "heldout.accuracy", "test.accuracy"})
    EXPECT_TRUE(s.contains(key)) << key;
  const std::string csv = text_of(place_ / "run/metrics.csv");
  EXPECT_TRUE(csv.starts_with("epoch,step,split,condition,measure,value\n"));
  for (const char* file : {"config.toml", "manifest.json", "metrics.jsonl", "predictions.csv", "init/model.safetensors",
                           "final/model.safetensors", "final/config.json"})
    EXPECT_TRUE(std::filesystem::exists(place_ / "run" / file)) << file;
}

TEST_F(CommandsTest, eval_gives_the_numbers_of_the_summary) {
  ASSERT_EQ(place_.shell("locus train tiny.toml --out run --quiet").code, 0);
  const Json s = Json::parse(text_of(place_ / "run/summary.json"));
  const Result r = place_.shell("locus eval run --split heldout --json --export p.csv");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(Json::parse(r.out)["heldout.loss"], s["heldout.loss"]);
  EXPECT_TRUE(text_of(place_ / "p.csv").starts_with("ID,condition,solution,prediction,accuracy\n"));
  ASSERT_EQ(place_.shell("locus eval run --export all.csv").code, 0);
  const std::string all = text_of(place_ / "all.csv");
  EXPECT_TRUE(all.starts_with("ID,condition,solution,prediction,accuracy,split\n"));
  for (const char* split : {",train\n", ",test\n", ",validation\n", ",heldout\n"})
    EXPECT_NE(all.find(split), std::string::npos) << split;
}

TEST_F(CommandsTest, masked_runs_show_their_baselines_wherever_errors_are_shown) {
  const Result trained = place_.shell("locus train nmar.toml --out run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find("test.mse_ridge"), std::string::npos) << trained.out;
  const Json s = Json::parse(text_of(place_ / "run/summary.json"));
  const Result evaluated = place_.shell("locus eval run --json");
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const Json e = Json::parse(evaluated.out);
  for (const char* name : {"test.mse", "test.mse_ridge", "test.mse_zero", "test.mse_mean_visible", "validation.mse_ridge"})
    EXPECT_EQ(e[name], s[name]) << name;
  const Result without = place_.shell("locus eval run --no-baselines --json");
  EXPECT_FALSE(Json::parse(without.out).contains("test.mse_ridge"));
  EXPECT_EQ(place_.shell("locus eval run --export p.csv").code, 2);
}

TEST_F(CommandsTest, a_model_is_not_evaluated_on_other_tokens_than_its_own) {
  for (const char* subject : {"sub-1", "sub-2", "sub-3"}) {
    std::ofstream csv(place_ / (std::string(subject) + ".csv"));
    csv << "a,b,c,d\n";
    for (int i = 0; i < 40; ++i) {
      const bool lacks = subject == std::string("sub-3");
      csv << (i * (subject[4] - '0') * 7 % 11) + 0.5 << ',' << (lacks ? "n/a" : std::to_string(i * 5 % 13)) << ','
          << i * 3 % 7 << ',' << i * 2 % 9 << '\n';
    }
  }
  // Without a table of positions nothing in the model's shape tells the tokens apart.
  ASSERT_EQ(place_
                .shell("locus train nmar.toml --out run pe.kind=none series.source=files 'series.files=[\"sub-[12].csv\"]' "
                       "series.test_last=1 series.split_by=subject --quiet")
                .code,
            0);
  const Result r = place_.shell("locus eval run 'series.test_files=[\"sub-3.csv\"]' series.coverage=drop");
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_NE(r.err.find("other tokens than the run was trained on"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("3 tokens, number 2 is c"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("4 tokens, number 2 is b"), std::string::npos) << r.err;
}

TEST_F(CommandsTest, a_header_of_numbers_names_the_tokens) {
  {
    std::ofstream csv(place_ / "samples.csv");
    csv << "1990,1991,1992,1993\n";
    for (int i = 0; i < 60; ++i) {
      for (int t = 0; t < 4; ++t) csv << ((i * 7 + t * t * 3) % 11) + 0.25 << (t < 3 ? "," : "\n");
    }
  }
  const Result r = place_.shell("locus fit samples.csv stop.steps=1 model.width=8 --out mine");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(text_of(place_ / "mine/similarity.csv").starts_with(",1990,1991,1992,1993\n"));
}

TEST_F(CommandsTest, what_was_understood_of_the_data_is_printed) {
  {
    std::ofstream csv(place_ / "samples.csv");
    csv << "time,a,b,c\n";
    for (int i = 0; i < 60; ++i) csv << i << ',' << i * 7 % 11 << ',' << i * 5 % 13 << ',' << i * 3 % 7 << '\n';
    std::ofstream(place_ / "labels.csv") << "label\nx\ny\ny\n";
  }
  const Result r = place_.shell("locus fit samples.csv --labels labels.csv stop.steps=1 model.width=8 --out mine");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("column 'time' is left out"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("region i is taken to be row i of labels.csv"), std::string::npos) << r.err;
}

TEST_F(CommandsTest, a_table_of_positions_is_matched_by_the_tokens_names) {
  {
    std::ofstream csv(place_ / "samples.csv");
    csv << "a,b,c\n";
    for (int i = 0; i < 60; ++i) csv << i * 7 % 11 << ',' << i * 5 % 13 << ',' << i * 3 % 7 << '\n';
    std::ofstream(place_ / "one.csv") << ",p,q,r,s\na,1,2,3,4\nb,5,6,7,8\nc,9,8,7,5\n";
    std::ofstream(place_ / "two.csv") << ",p,q,r,s\nc,9,8,7,5\na,1,2,3,4\nb,5,6,7,8\n";
    std::ofstream(place_ / "bad.csv") << ",p,q,r,s\nc,9,8,7,5\na,1,2,3,4\nd,5,6,7,8\n";
  }
  const std::string fit = "locus fit samples.csv stop.steps=1 model.width=4 model.heads=1 pe.init=file ";
  ASSERT_EQ(place_.shell(fit + "pe.file=one.csv --out one --quiet").code, 0);
  const Result r =
      place_.shell(fit + "pe.file=two.csv --out two --quiet && cmp one/init/model.safetensors two/init/model.safetensors");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(place_.shell(fit + "pe.file=bad.csv --out bad --quiet").err.find("no row for b"), std::string::npos);
}

TEST_F(CommandsTest, a_manifest_is_checked_like_the_files_it_names) {
  ASSERT_EQ(place_
                .shell("mkdir d; for i in $(seq 40); do echo $((i*7%11)).1,$((i*5%13)).2,$((i*3%7)).3; done >d/a.csv;"
                       "printf 'subject,run,path\\nx,1,a.csv\\n' >d/man.csv")
                .code,
            0);
  const Result r = place_.shell("locus fmri check d/man.csv --json");
  const Json report = Json::parse(r.out);
  EXPECT_EQ(report["regions"], 3);
  EXPECT_EQ(report["runs"][0]["subject"], "x");
  EXPECT_EQ(report["runs"][0]["frames"], 40);
}

TEST_F(CommandsTest, fit_leaves_positions_similarity_and_a_report_named_after_the_columns) {
  {
    std::ofstream csv(place_ / "samples.csv");
    csv << "alpha,beta,gamma,delta,epsilon,zeta\n";
    for (int i = 0; i < 80; ++i) {
      for (int t = 0; t < 6; ++t) csv << ((i * 7 + t * t * 3) % 11) - 5 + 0.1 * ((i + t) % 3) << (t < 5 ? "," : "\n");
    }
  }
  const Result r = place_.shell("locus fit samples.csv stop.steps=20 model.width=16 --out mine");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("mine/report.html"), std::string::npos) << r.out;
  const std::string positions = text_of(place_ / "mine/positions.csv");
  EXPECT_TRUE(positions.starts_with("layer,token,c0,")) << positions.substr(0, 40);
  EXPECT_NE(positions.find("\n1,alpha,"), std::string::npos);
  EXPECT_TRUE(text_of(place_ / "mine/similarity.csv").find("alpha,beta,gamma") != std::string::npos);
  EXPECT_NE(text_of(place_ / "mine/report.html").find("</html>"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(place_ / "mine/report_files/position_map.csv"));
}

TEST_F(CommandsTest, doubts_about_the_data_are_said_before_training) {
  {
    std::ofstream csv(place_ / "wide.csv");
    for (int t = 0; t < 24; ++t) csv << 't' << t << (t < 23 ? "," : "\n");
    for (int i = 0; i < 22; ++i) {
      for (int t = 0; t < 24; ++t) csv << (t == 7 ? 1 : (i * 7 + t * t * 3) % 11) << (t < 23 ? "," : "\n");
    }
  }
  const std::string fit = "locus fit wide.csv series.coverage=drop stop.steps=1 model.width=8 ";
  const Result r = place_.shell(fit + "--out loud");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("warning: a run has fewer frames than regions: is it transposed?"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("left out: t7\n"), std::string::npos) << r.err;
  const Result quiet = place_.shell(fit + "--out silent --quiet");
  ASSERT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_EQ(quiet.err.find("warning"), std::string::npos) << quiet.err;
}

TEST_F(CommandsTest, same_bytes_for_one_and_two_threads) {
  ASSERT_EQ(place_
                .shell("locus train tiny.toml train.shards=4 --out one --threads 1 -q && locus train tiny.toml "
                       "train.shards=4 --out two --threads 2 -q")
                .code,
            0);
  for (const char* file : {"final/model.safetensors", "metrics.csv", "predictions.csv"}) {
    EXPECT_FALSE(text_of(place_ / "one" / file).empty());
    EXPECT_EQ(text_of(place_ / "one" / file), text_of(place_ / "two" / file)) << file;
  }
}

TEST_F(CommandsTest, every_subcommand_has_help_with_an_example) {
  for (const char* command : {"train", "eval", "fit", "inspect", "config", "encodings", "selfcheck", "version",
                              "lst generate", "lst solve", "lst show", "nmar simulate", "fmri check"}) {
    const Result r = place_.shell(std::string("locus ") + command + " --help");
    EXPECT_EQ(r.code, 0) << command;
    EXPECT_NE(r.out.find("Example"), std::string::npos) << command << r.out;
  }
}

TEST_F(CommandsTest, quiet_prints_results_only_and_version_is_one_line) {
  const Result version = place_.shell("locus version");
  EXPECT_EQ(std::count(version.out.begin(), version.out.end(), '\n'), 1);
  EXPECT_TRUE(version.out.starts_with("locus "));
  const Result r = place_.shell("locus train tiny.toml --out run --quiet");
  EXPECT_EQ(r.err, "");
  EXPECT_NE(r.out.find("heldout.accuracy"), std::string::npos);
}

}  // namespace
}  // namespace locus
