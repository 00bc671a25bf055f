// Kept results say what the run said, and tables show what was kept.
#include "results/keep.h"
#include "results/kept_encodings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "config/identity.h"
#include "config/load.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/file.h"
#include "results/kept_analyses.h"
#include "results/tables.h"
#include "tests/support/fake_run.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

TEST(EncodingLabelTest, tells_runs_apart_that_a_table_must_not_average) {
  RunConfig c;
  c.pe.kind = PeKind::kSinusoidal;
  c.pe.positions = PePositions::kGrid;
  EXPECT_EQ(encoding_label(c), "sinusoidal 2-D");
  c.pe.dropout = 0.1;
  EXPECT_EQ(encoding_label(c), "sinusoidal 2-D, dropout");
  c.pe.dropout_at_eval = true;
  EXPECT_EQ(encoding_label(c), "sinusoidal 2-D, dropout at evaluation");
  RunConfig spatial;
  spatial.pe.kind = PeKind::kRotary;
  spatial.pe.positions = PePositions::kData;
  EXPECT_EQ(encoding_label(spatial), "rotary 2-D") << "the cells of a puzzle";
  spatial.study = "masked";
  EXPECT_EQ(encoding_label(spatial), "rotary 3-D");
  RunConfig random;
  random.pe.sigma = 1;
  random.pe.trainable = Trainable::kNo;
  EXPECT_EQ(encoding_label(random), "random sigma 1");
}

class ResultsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("results-" + std::to_string(::getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(root_ / "docs" / "experiments");
    fs::create_directories(root_ / "results");
  }
  void TearDown() override { fs::remove_all(root_); }

  void keep(const std::string& name, double sigma, int seed, double accuracy) const {
    Json json;
    RunConfig config;
    config.pe.sigma = sigma;
    config.seed = seed;
    json["config"] = to_json(config);
    json["summary"] = {{"status", "finished"}, {"heldout.accuracy", accuracy}};
    json["analyses"] = {{"recovery.r", accuracy / 2}, {"recovery.seed", seed}};
    write_file_atomic((root_ / "results" / (name + ".json")).string(), json.dump());
  }
  std::string fill(const std::string& tables) const {
    const fs::path document = root_ / "docs" / "experiments" / "x.md";
    write_file_atomic(document.string(), "before\n<!-- table main -->old<!-- end -->\nafter\n");
    write_file_atomic((root_ / "docs" / "experiments" / "x.tables.toml").string(), tables);
    return fill_tables(document.string());
  }

  fs::path root_;
};

TEST_F(ResultsTest, relations_are_rank_correlations_over_runs_and_over_means) {
  keep("a", 0.2, 0, 0.9);
  keep("b", 0.2, 1, 0.7);
  keep("c", 1, 0, 0.75);
  keep("d", 2, 0, 0.25);
  const std::string text = fill(R"([main]
from = "results"
unit = "runs"
relate = "heldout.accuracy"
measures = ["recovery.r | half of it", "recovery.seed | seed", "recovery.x | missing"]
published = { "half of it" = "0.96" }
)");
  EXPECT_NE(text.find("| half of it | 4 | 1.00 | – | – | 3 | 1.00 | 0.96 |"), std::string::npos) << text;
  // Seeds 0 1 0 0 against ranks 4 2 3 1: -1 / sqrt(3 * 5); their means 0.5 0 0 against ranks 3 2 1: 1.5 / sqrt(1.5 * 2).
  EXPECT_NE(text.find("| seed | 4 | -0.26 | – | – | 3 | 0.87 | – |"), std::string::npos) << text;
  EXPECT_NE(text.find("| missing | 0 | – | – | – | 0 | – | – |"), std::string::npos) << text;
}

TEST_F(ResultsTest, a_measure_that_only_follows_sigma_is_nothing_given_sigma) {
  int file = 0;
  for (const double sigma : {0.2, 0.5, 1.0, 2.0}) {
    for (const std::int64_t seed : {0, 1, 2, 3}) {
      // Accuracy falls with sigma and rises with the seed; "recovery.r" is half of it, "recovery.seed" the seed.
      keep(std::to_string(file++), sigma, seed, 0.9 - 0.2 * sigma + 0.001 * static_cast<double>(seed));
    }
  }
  const std::string text = fill(R"([main]
from = "results"
unit = "runs"
relate = "heldout.accuracy"
measures = ["recovery.r | half of it", "recovery.seed | seed"]
)");
  EXPECT_NE(text.find("| half of it | 16 | 1.00 | 1.00 to 1.00 | 1.00 | 4 | 1.00 | – |"), std::string::npos) << text;
  const std::size_t row = text.find("| seed | 16 | 0.2");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_NE(text.find("| 1.00 |", row), std::string::npos) << "given sigma only the seed is left: " << text;
}

TEST_F(ResultsTest, a_column_may_be_a_ratio_of_two_values) {
  keep("a", 0.5, 2, 0.9);
  const std::string text = fill(R"([main]
from = "results"
unit = "seeds"
measures = ["heldout.accuracy / recovery.r | ratio | 1 | 1", "heldout.accuracy / recovery.x | none | 1 | 1"]
)");
  EXPECT_NE(text.find("| learned sigma 0.5 | 1 | 2.0 | – |"), std::string::npos) << text;
}

TEST_F(ResultsTest, a_table_without_a_unit_is_refused) {
  EXPECT_THROW(fill("[main]\nfrom = \"results\"\nmeasures = [\"heldout.accuracy\"]\n"), DataError);
}

TEST_F(ResultsTest, differences_are_paired_by_seed_and_tested) {
  keep("a0", 0.1, 0, 0.50);
  keep("a1", 0.1, 1, 0.60);
  keep("a2", 0.1, 2, 0.70);
  keep("b0", 2, 0, 0.61);
  keep("b1", 2, 1, 0.69);
  keep("b2", 2, 2, 0.80);
  keep("c0", 1, 0, 0.55);
  const std::string text = fill(R"([main]
from = "results"
unit = "seeds"
against = "learned sigma 0.1"
measures = ["heldout.accuracy | accuracy | 1 | 2"]
)");
  // Differences 0.11, 0.09, 0.10: t = 0.1 / (0.01 / sqrt 3) = 17.3, two degrees of freedom.
  EXPECT_NE(text.find("| learned sigma 2 | 3 | 0.10 ± 0.01 | 0.0033 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| learned sigma 1 | 1 | 0.05 | – |"), std::string::npos) << text;
}

TEST_F(ResultsTest, tables_show_means_deviations_and_every_run) {
  keep("a", 0.5, 0, 0.9);
  keep("b", 0.5, 1, 0.8);
  keep("c", 2, 0, 0.25);
  const std::string text = fill(R"([main]
from = "results"
unit = "seeds"
measures = ["heldout.accuracy | held-out % | 100 | 1", "heldout.accuracy | each | 100 | 0 | each", "recovery.r | r | 1 | 2"]
published = { "learned sigma 2" = "37.7" }
)");
  EXPECT_NE(text.find("| encoding | n (seeds) | held-out % | each | r | published |"), std::string::npos) << text;
  EXPECT_NE(text.find("| learned sigma 0.5 | 2 | 85.0 ± 7.1 | 90, 80 | 0.43 ± 0.04 | – |"), std::string::npos) << text;
  EXPECT_NE(text.find("| learned sigma 2 | 1 | 25.0 | 25 | 0.12 | 37.7 |"), std::string::npos) << text;
  EXPECT_EQ(text.find("old"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 6), "after\n");
}

// Two widths, the same seed twice, or two data sets in one folder: their mean is that of nothing.
TEST_F(ResultsTest, a_row_never_averages_runs_that_are_no_repetitions) {
  keep("a", 0.5, 0, 0.9);
  keep("b", 0.5, 1, 0.8);
  const auto change = [&](const std::string& from, const std::string& to, const std::function<void(Json&)>& edit) {
    Json json = Json::parse(read_text_file(root_ / "results" / (from + ".json")));
    edit(json);
    write_file_atomic(root_ / "results" / (to + ".json"), json.dump());
  };
  const std::string means = "[main]\nfrom = \"results\"\nunit = \"seeds\"\nmeasures = [\"heldout.accuracy | x | 1 | 2\"]\n";
  EXPECT_NE(fill(means).find("| learned sigma 0.5 | 2 | 0.85 ± 0.07 |"), std::string::npos);
  change("b", "c", [](Json& j) { j["config"]["model"]["width"] = 32; });
  try {
    fill(means);
    FAIL() << "two widths in one mean";
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("model.width"), std::string::npos) << e.what();
  }
  EXPECT_NE(fill(means + "where = [\"model.width=32\"]\n").find("| 1 | 0.80 |"), std::string::npos);
  EXPECT_NE(fill(means + "over = [\"model.width\"]\n").find("| 3 | 0.83 ± 0.06 |"), std::string::npos);
  fs::remove(root_ / "results" / "c.json");
  change("b", "c", [](Json& j) {
    j["config"]["seed"] = 2;
    j["summary"]["data_hash"] = "other";
  });
  EXPECT_THROW(fill(means), DataError);
  change("b", "c", [](Json& j) {
    j["config"]["seed"] = 2;
    j["summary"].erase("heldout.accuracy");
  });
  EXPECT_NE(fill(means).find("| 3 | 0.85 ± 0.07 (2 of 3) |"), std::string::npos) << fill(means);
}

TEST_F(ResultsTest, where_chooses_runs_and_a_wrong_column_is_reported) {
  keep("a", 0.5, 0, 0.9);
  keep("b", 0.5, 1, 0.8);
  const std::string text =
      fill("[main]\nfrom = \"results\"\nunit = \"seeds\"\nwhere = [\"seed=1\"]\nmeasures = [\"heldout.accuracy\"]\n");
  EXPECT_NE(text.find("| learned sigma 0.5 | 1 | 0.8 |"), std::string::npos) << text;
  EXPECT_THROW(fill("[main]\nfrom = \"results\"\nunit = \"seeds\"\nmeasures = [\"heldout.accuracy | x | many\"]\n"),
               DataError);
  EXPECT_THROW(fill("[other]\nfrom = \"results\"\n"), DataError);
}

TEST_F(ResultsTest, runs_that_differ_in_any_key_that_matters_are_kept_apart_and_again_in_their_own_file) {
  const std::vector<std::vector<std::string>> differences = {{},
                                                             {"stop.epochs=7"},
                                                             {"stop.loss_below=0.5"},
                                                             {"watch.eval_limit=3"},
                                                             {"watch.snapshots=[1]"},
                                                             {"eval.input_noise=0.2"}};
  testing_support::FakeRun run;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    run.config = {};
    for (const std::string& o : differences[i]) apply_override(run.config, o);
    testing_support::write_fake_run(root_ / "runs" / std::to_string(i), run);
  }
  const std::string to = (root_ / "kept").string();
  const KeptResults first = keep_results({(root_ / "runs").string()}, to);
  const auto files = [&] { return std::distance(fs::directory_iterator(to), fs::directory_iterator()); };
  EXPECT_EQ(first.written.size(), 6u);
  EXPECT_EQ(files(), 6);
  EXPECT_EQ(keep_results({(root_ / "runs").string()}, to).written, first.written);
  EXPECT_EQ(files(), 6);
  // How often checkpoints are written, and where the data lie, are no differences.
  run.config = {};
  run.config.watch.checkpoint_every = 3;
  run.config.series.files = {"/elsewhere/*.h5"};
  testing_support::write_fake_run(root_ / "more" / "a", run);
  EXPECT_EQ(keep_results({(root_ / "more").string()}, to).written, std::vector<std::string>{first.written[0]});
  EXPECT_EQ(files(), 6);
}

TEST_F(ResultsTest, the_same_run_in_two_folders_is_kept_once_and_said) {
  testing_support::FakeRun run;
  testing_support::write_fake_run(root_ / "runs" / "a", run);
  run.final_accuracy = 0.5;
  testing_support::write_fake_run(root_ / "runs" / "b", run);
  const KeptResults kept = keep_results({(root_ / "runs").string()}, (root_ / "kept").string());
  EXPECT_EQ(kept.written.size(), 1u);
  ASSERT_FALSE(kept.notes.empty());
  EXPECT_NE(kept.notes.back().find("runs/b: left out, another folder holds the same run"), std::string::npos);
}

TEST_F(ResultsTest, an_encoding_of_an_earlier_training_does_not_stay_beside_new_numbers) {
  testing_support::FakeRun run;
  testing_support::write_fake_run(root_ / "run", run);
  const std::string to = (root_ / "kept").string();
  const fs::path encoding = kept_encoding_file(keep_results({(root_ / "run").string()}, to).written.at(0));
  testing_support::write_text(encoding, "of the first training");
  keep_results({(root_ / "run").string()}, to);
  EXPECT_TRUE(fs::exists(encoding)) << "it is still of this training";
  run.final_accuracy = 0.5;
  testing_support::write_fake_run(root_ / "run", run);
  keep_results({(root_ / "run").string()}, to);
  EXPECT_FALSE(fs::exists(encoding));
}

TEST_F(ResultsTest, a_file_under_its_name_of_version_1_is_replaced_when_it_is_of_the_same_run_only) {
  testing_support::FakeRun run;
  testing_support::write_fake_run(root_ / "run", run);
  const std::string digits = config_identity(run.config, "da7a").version1.substr(0, 8);
  const fs::path old = root_ / "kept" / ("learned-sigma-0.2-seed0-" + digits + ".json");
  fs::create_directories(root_ / "kept");
  const auto write_old = [&](const RunConfig& config) {
    Json json;
    json["config"] = to_json(config);
    json["summary"] = {{"status", "finished"}};
    write_file_atomic(old, json.dump());
  };
  write_old(run.config);
  EXPECT_EQ(keep_results({(root_ / "run").string()}, (root_ / "kept").string()).written,
            std::vector<std::string>{old.string()});
  RunConfig other = run.config;
  other.stop.epochs = 9;
  write_old(other);
  const std::string before = read_text_file(old);
  const KeptResults apart = keep_results({(root_ / "run").string()}, (root_ / "kept").string());
  EXPECT_NE(apart.written.at(0), old.string());
  EXPECT_EQ(read_text_file(old), before) << "another run's file";
}

TEST_F(ResultsTest, analyses_become_named_numbers) {
  fs::create_directories(root_ / "analysis");
  const auto write = [&](const char* name, const Json& json) {
    write_file_atomic((root_ / "analysis" / name).string(), json.dump());
  };
  write("recovery.json",
        {{"available", true},
         {"truths",
          {{{"model", "final"}, {"epoch", -1}, {"layer", 0}, {"code", "raw"}, {"truth", "W"}, {"pearson", 0.123456789}},
           {{"model", "snapshots/5"}, {"epoch", 5}, {"layer", 0}, {"code", "raw"}, {"truth", "W"}, {"pearson", 1}}}}});
  write("interventions.json",
        {{"available", true},
         {"rows",
          {{{"kind", "shuffled"}, {"layer", -1}, {"token", -1}, {"repeat", 0}, {"split", "heldout"}, {"accuracy", 0.2}},
           {{"kind", "shuffled"}, {"layer", -1}, {"token", -1}, {"repeat", 1}, {"split", "heldout"}, {"accuracy", 0.4}},
           {{"kind", "shuffled"}, {"layer", 2}, {"token", -1}, {"repeat", 0}, {"split", "heldout"}, {"accuracy", 0.9}},
           {{"kind", "lesion"}, {"layer", -1}, {"token", 3}, {"repeat", 0}, {"split", "heldout"}, {"accuracy", 0.7}}}}});
  write("networks.json", {{"available", false}, {"rows", {{{"model", "final"}, {"q", 1}}}}});
  write("other.json", {{"available", true}, {"rows", {{{"model", "final"}, {"q", 1}}}}});
  std::vector<std::string> notes;
  const Json flat = flat_analyses(RunReader(root_), notes);
  EXPECT_NE(join(notes, "\n").find("other.json left out: this program has no such analysis"), std::string::npos);
  EXPECT_EQ(flat.size(), 2u) << flat.dump();
  EXPECT_EQ(flat.value("recovery.truths.final.layer0.raw.W.pearson", 0.0), 0.123457);
  EXPECT_NEAR(flat.value("interventions.shuffled.heldout.accuracy", 0.0), 0.3, 1e-12);
}

}  // namespace
}  // namespace locus
