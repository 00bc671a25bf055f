// The cells of a sweep: which there are, in which order, and what their hashes depend on.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>

#include "config/pinned_texts.h"
#include "core/error.h"
#include "sweep/plan.h"
#include "sweep/results.h"
#include "tests/support/fake_run.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using testing_support::TempFolder;
using testing_support::write_text;

SweepPlan plan_of(const SweepSource& source, const CellIdentity& identity = {}) {
  return make_plan(load_sweep(source), identity);
}

SweepPlan file_plan(const TempFolder& folder, const std::string& text, std::vector<std::string> overrides = {}) {
  std::ofstream(folder / "base.toml") << "[stop]\nepochs = 3\n";
  std::ofstream(folder / "sweep.toml") << text;
  return plan_of({folder / "sweep.toml", std::move(overrides), {}});
}

std::vector<std::string> names(const SweepPlan& plan) {
  std::vector<std::string> out;
  for (const SweepCell& cell : plan.cells) out.push_back(plan.name(cell));
  return out;
}

TEST(SweepPlanTest, comma_lists_make_a_grid_whole_seeds_one_after_the_other) {
  const SweepPlan plan = plan_of({"", {"seed=0..1", "pe.sigma=0.1,2"}, {}});
  EXPECT_EQ(names(plan), (std::vector<std::string>{"seed=0 pe.sigma=0.1", "seed=0 pe.sigma=2", "seed=1 pe.sigma=0.1",
                                                   "seed=1 pe.sigma=2"}));
  EXPECT_EQ(plan.keys, (std::vector<std::string>{"pe.sigma", "seed"}));
  const SweepPlan other = plan_of({"", {"pe.sigma=0.1,2", "seed=0..1"}, {}});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(other.cells[i].hash, plan.cells[i].hash);
}

TEST(SweepPlanTest, ranges_are_linear_or_logarithmic_and_hit_their_ends) {
  const auto texts = [](const std::string& key, const std::string& text) {
    std::vector<std::string> out;
    for (const FieldValue& v : sweep_values(key, text, "test")) out.push_back(plain_text(v));
    return out;
  };
  EXPECT_EQ(texts("optim.lr", "0.001..0.1:3:log"), (std::vector<std::string>{"0.001", "0.01", "0.1"}));
  EXPECT_EQ(texts("pe.sigma", "0..1:5"), (std::vector<std::string>{"0", "0.25", "0.5", "0.75", "1"}));
  EXPECT_EQ(texts("seed", "3,7..9"), (std::vector<std::string>{"3", "7", "8", "9"}));
  EXPECT_EQ(texts("nmar.sizes", "[1,2],[3]"), (std::vector<std::string>{"[1, 2]", "[3]"}));
  EXPECT_EQ(texts("nmar.sizes", "1,2"), (std::vector<std::string>{"[1, 2]"}));
  for (const char* bad : {"5..3", "0..x", "1..2:0", "0..1:3:log", "0..1:2:odd"})
    EXPECT_THROW(texts("pe.sigma", bad), ConfigError) << bad;
}

TEST(SweepPlanTest, file_with_grid_pairs_and_a_range) {
  const TempFolder folder("sweep_file");
  const SweepPlan plan = file_plan(folder, R"(config = "base.toml"
[set]
model.layers = 2
[grid]
pe.sigma = { from = 0.1, to = 10, steps = 3, scale = "log" }
seed = "0..1"
[[paired]]
model.width = [8, 16]
model.heads = [1, 2]
)");
  EXPECT_EQ(plan.cells.size(), 12u);
  for (const SweepCell& cell : plan.cells) {
    const RunConfig c = plan.config(cell);
    EXPECT_EQ(c.stop.epochs, 3);
    EXPECT_EQ(c.model.layers, 2);
    EXPECT_EQ(c.model.heads, c.model.width / 8);
  }
  EXPECT_EQ(plan.name(plan.cells[0]), "pe.sigma=0.1 seed=0 model.width=8 model.heads=1");
}

TEST(SweepPlanTest, a_condition_merges_cells_that_differ_in_a_meaningless_key) {
  const SweepPlan plan = plan_of({"", {"pe.kind=learned,none", "pe.sigma=0.1,0.5,2"}, {"pe.sigma:pe.kind=learned"}});
  EXPECT_EQ(plan.cells.size(), 4u);
  EXPECT_EQ(plan.cells[3].off, std::vector<std::string>{"pe.sigma"});
  EXPECT_EQ(plan_of({"", {"pe.kind=learned,none", "pe.sigma=0.1,0.5,2"}, {}}).cells.size(), 6u);
}

TEST(SweepPlanTest, cases_have_their_own_lists_and_the_command_line_has_the_last_word) {
  const TempFolder folder("sweep_cases");
  const std::string text = R"(config = "base.toml"
[grid]
seed = "0..2"
[[case]]
name = "learned"
pe.sigma = [0.1, 2.0]
[[case]]
name = "none"
pe.kind = "none"
seed = 0
)";
  EXPECT_EQ(names(file_plan(folder, text)).size(), 7u);
  EXPECT_EQ(names(file_plan(folder, text))[2], "none seed=0");
  EXPECT_EQ(file_plan(folder, text, {"seed=5"}).cells.size(), 3u);
  EXPECT_EQ(file_plan(folder, text, {"seed=5"}).cells[2].seed, 5);
}

TEST(SweepPlanTest, skipped_and_impossible_cells) {
  const TempFolder folder("sweep_skip");
  const std::string grid = "[grid]\nmodel.width = [8, 9]\nmodel.heads = [1, 2]\n";
  EXPECT_THROW(file_plan(folder, grid), ConfigError);
  EXPECT_EQ(file_plan(folder, grid + "[[skip]]\nmodel.width = 9\nmodel.heads = 2\n").cells.size(), 3u);
}

TEST(SweepPlanTest, hash_depends_on_what_changes_the_result_only) {
  const auto hash = [](std::vector<std::string> overrides) {
    return plan_of({"", std::move(overrides), {}}).cells.at(0).hash;
  };
  const std::string plain = hash({});
  EXPECT_EQ(hash({"watch.checkpoint_every=3", "watch.checkpoint_seconds=1", "stop.seconds=5"}), plain);
  std::set<std::string> all = {plain};
  for (const char* change : {"seed=1", "pe.sigma=0.3", "stop.epochs=7", "stop.loss_below=0.1", "eval.input_noise=0.1",
                             "lst.pool_seed=2", "watch.snapshots=[1,2]"}) {
    EXPECT_TRUE(all.insert(hash({change})).second) << change;
  }
}

// The pinned signatures of a program in which one encoding computes differently.
CellIdentity with_changed_encoding(const std::string& encoding) {
  CellIdentity identity;
  for (SignaturePin& pin : identity.signatures) {
    if (pin.encoding == encoding && pin.isa == "scalar") pin.hash = "0123456789ab";
  }
  return identity;
}

TEST(SweepPlanTest, a_change_of_one_encoding_makes_cells_of_that_encoding_new) {
  const SweepSource source = {"", {"pe.kind=learned,none,sinusoidal,rotary"}, {}};
  const SweepPlan before = plan_of(source);
  const SweepPlan after = plan_of(source, with_changed_encoding("sinusoidal"));
  ASSERT_EQ(before.cells.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const bool changed = before.config(before.cells[i]).pe.kind == PeKind::kSinusoidal;
    EXPECT_EQ(after.cells[i].hash != before.cells[i].hash, changed) << before.cells[i].text();
    EXPECT_EQ(after.cells[i].version1.empty(), changed) << before.cells[i].text();
    EXPECT_FALSE(before.cells[i].version1.empty());
  }
}

void finish_cell(const SweepFolder& sweep, const std::string& hash) {
  std::filesystem::create_directory(sweep.run(hash));
  Summary summary;
  summary.status = RunStatus::kFinished;
  write_summary_file(sweep.run(hash) / "summary.json", summary);
}

TEST(SweepPlanTest, finished_cells_stay_finished_when_a_key_with_a_default_is_added) {
  const SweepSource source = {"", {"pe.sigma=0.1,2", "seed=0..1"}, {}};
  const TempFolder folder("sweep_new_key");
  const SweepFolder sweep(folder / "out");
  sweep.prepare();
  const SweepPlan before = plan_of(source);
  for (const SweepCell& cell : before.cells) finish_cell(sweep, cell.hash);

  double later = 0.5;
  const IdentityTable table(std::string(kIdentityText) + "run model.later = 0.5\n");
  CellIdentity identity;
  identity.table = &table;
  identity.fields = [&](RunConfig& c) {
    FieldList list = describe(c);
    list.section("model", "");
    list.number("later", later, {}, "a key of a later day");
    return list;
  };
  const auto finished = [&] {
    SweepPlan plan = plan_of(source, identity);
    sweep.adopt(plan);
    return std::count_if(plan.cells.begin(), plan.cells.end(),
                         [&](const SweepCell& cell) { return sweep.outcome(cell.hash).is_final(); });
  };
  EXPECT_EQ(finished(), 4);
  later = 0.75;
  EXPECT_EQ(finished(), 0) << "with another value these are other cells";
}

TEST(SweepPlanTest, cells_of_version_1_keep_their_name_and_their_end) {
  const SweepSource source = {"", {"seed=0..2"}, {}};
  const TempFolder folder("sweep_version1");
  const SweepFolder sweep(folder / "out");
  sweep.prepare();
  const SweepPlan fresh = plan_of(source);
  finish_cell(sweep, fresh.cells[0].version1);
  write_text(sweep.failure(fresh.cells[1].version1), R"({"status": "failed", "reason": "r"})");
  SweepPlan plan = plan_of(source);
  sweep.adopt(plan);
  EXPECT_EQ(plan.cells[0].hash, fresh.cells[0].version1);
  EXPECT_TRUE(sweep.outcome(plan.cells[0].hash).is_final());
  EXPECT_EQ(plan.cells[1].hash, fresh.cells[1].version1) << "its failure is looked for under that name";
  EXPECT_EQ(plan.cells[2].hash, fresh.cells[2].hash);

  SweepPlan changed = plan_of(source, with_changed_encoding("learned"));
  sweep.adopt(changed);
  EXPECT_FALSE(sweep.outcome(changed.cells[0].hash).is_final()) << "the encoding computes differently since";
}

TEST(SweepPlanTest, hash_follows_the_contents_of_data_files) {
  const TempFolder folder("sweep_data");
  const std::vector<std::string> overrides = {"study=masked", "model.readout=masked", "series.source=files",
                                              "series.files=" + (folder / "*.csv")};
  std::ofstream(folder / "a.csv") << "1,2\n";
  const std::string first = plan_of({"", overrides, {}}).cells.at(0).hash;
  EXPECT_EQ(plan_of({"", overrides, {}}).cells.at(0).hash, first);
  std::ofstream(folder / "a.csv") << "1,3\n";
  EXPECT_NE(plan_of({"", overrides, {}}).cells.at(0).hash, first);
}

TEST(SweepPlanTest, shards_count_from_zero_or_one_and_cover_every_cell_once) {
  const SweepPlan plan = plan_of({"", {"seed=0..9"}, {}});
  for (const int first : {0, 1}) {
    std::multiset<std::int64_t> seen;
    for (int i = 0; i < 3; ++i) {
      for (const std::int64_t c : shard_cells(plan, fmt::format("{}/3", i + first))) seen.insert(c);
    }
    EXPECT_EQ(seen.size(), 10u);
    EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()).size(), 10u);
  }
  for (const char* bad : {"4/3", "1", "a/2", "1/0", "-1/2"}) EXPECT_THROW(shard_cells(plan, bad), ConfigError) << bad;
}

TEST(SweepPlanTest, mistakes_in_a_file_name_the_place) {
  const TempFolder folder("sweep_bad");
  for (const char* text : {"[gird]\nseed = [1]\n[set]\n", "[grid]\npe.sigm = [1]\n", "[grid]\nseed = []\n",
                           "[[paired]]\nmodel.width = [8, 16]\nmodel.heads = [1]\n", "[grid]\nseed = [1.5]\n",
                           "[[when]]\nkey = \"pe.sigma\"\n", "[paired]\nseed = [1]\n"}) {
    try {
      file_plan(folder, text);
      ADD_FAILURE() << text;
    } catch (const ConfigError& e) {
      EXPECT_NE(e.parts().where.find("sweep.toml:"), std::string::npos) << text << e.what();
    }
  }
}

// Processor time with room for any build and machine: it catches work that grows with the square of the cells, no more.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
constexpr double kPlanSeconds = 20;
constexpr double kCollectSeconds = 10;

TEST(SweepPlanTest, ten_thousand_cells_are_planned_quickly) {
  const double start = cpu_seconds();
  const SweepPlan plan = plan_of({"", {"pe.sigma=0.01..10:100:log", "optim.lr=1e-5..1e-2:10:log", "seed=0..9"}, {}});
  EXPECT_EQ(plan.cells.size(), 10000u);
  EXPECT_LT(cpu_seconds() - start, kPlanSeconds);
}

// A tenth of ten thousand in a tenth of the time they may take: making and removing so many folders is slow on some disks.
TEST(SweepPlanTest, a_thousand_cells_are_collected_quickly) {
  const SweepPlan plan = plan_of({"", {"pe.sigma=0.01..10:100:log", "seed=0..9"}, {}});
  const TempFolder folder("sweep_many");
  const SweepFolder sweep(folder / "out");
  sweep.prepare();
  sweep.write_plan(plan);
  Summary summary;
  summary.status = RunStatus::kFinished;
  for (const char* split : {"train", "test", "validation", "heldout"}) {
    for (const char* measure : {"loss", "accuracy", "accuracy.binary", "accuracy.ternary", "accuracy.quaternary"})
      summary.values.emplace_back(fmt::format("{}.{}", split, measure), 0.25);
  }
  write_summary_file(folder / "summary.json", summary);
  for (const SweepCell& cell : plan.cells) {
    std::filesystem::create_directory(sweep.run(cell.hash));
    std::filesystem::create_hard_link(folder / "summary.json", sweep.run(cell.hash) / "summary.json");
  }
  const double start = cpu_seconds();
  write_results(sweep);
  EXPECT_LT(cpu_seconds() - start, kCollectSeconds);
  std::ifstream csv(folder / "out/results.csv");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(csv), {}, '\n'), 1 + 1000 * 20);
}

TEST(SweepFilesTest, the_committed_sweeps_are_readable) {
  const std::filesystem::path root = locus::test::source_dir();
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "configs/sweeps")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(load_sweep({entry.path().string(), {}, {}})) << entry.path();
    ++found;
  }
  EXPECT_GE(found, 5);
}

TEST(DataIdentityTest, an_unknown_source_is_an_error_and_not_one_without_files) {
  RunConfig config;
  FileHashes files;
  EXPECT_EQ(data_identity(config, files), "");
  config.study = "maskd";
  EXPECT_THROW(data_identity(config, files), ConfigError);
}

}  // namespace
}  // namespace locus
