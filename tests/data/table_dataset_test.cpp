// A user's table as a data set: splits, groups, missing values, and simple predictors on the same samples.
#include "data/table/dataset.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "config/table_config.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "data/datasets.h"
#include "data/plain.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

class TableDatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("locus-table-dataset-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    config_.study = "table";
    config_.task = "classify";
    config_.model.readout = Readout::kMean;
    table().file = (folder_ / "t.csv").string();
    table().target = {"kind"};
    write(0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  TableConfig& table() { return config_.own.of<TableConfig>(); }

  // 200 samples; a tells the kind apart, b does not. Every `lost`-th value of b is missing (0: none).
  void write(int lost) {
    std::ofstream out(folder_ / "t.csv");
    out << "a,b,subject,kind\n";
    Rng rng(2, "table");
    for (int i = 0; i < 200; ++i) {
      out << (i % 2 == 0 ? 1 : -1) + 0.3 * rng.normal() << ',';
      const double b = rng.normal();
      if (lost == 0 || i % lost != 0) out << b;
      out << ",p" << i / 10 << ',' << (i % 2 == 0 ? "up" : "down") << '\n';
    }
  }

  fs::path folder_;
  RunConfig config_;
};

TEST_F(TableDatasetTest, people_without_a_word_are_a_doubt_and_with_one_stay_whole) {
  EXPECT_THROW(make_dataset(config_), DataError);
  table().groups = "subject";
  const Dataset d = make_dataset(config_);
  EXPECT_EQ(d.class_names, (std::vector<std::string>{"down", "up"}));
  EXPECT_EQ(d.tokens, 2);
  std::set<std::int32_t> train(d.split("train").cluster.begin(), d.split("train").cluster.end());
  for (const std::int32_t c : d.split("test").cluster) EXPECT_FALSE(train.contains(c));
}

TEST_F(TableDatasetTest, missing_values_are_hidden_and_never_asked_for) {
  write(4);
  table().groups = "subject";
  table().missing = MissingValues::kMask;
  const Dataset classes = make_dataset(config_);
  const Examples& train = classes.split("train");
  ASSERT_EQ(train.masks.size(), train.missing.size());
  for (std::size_t i = 0; i < train.masks.size(); ++i) EXPECT_EQ(train.masks[i], train.missing[i] != 0 ? kMissing : kShown);
  EXPECT_GT(std::count(train.masks.begin(), train.masks.end(), kMissing), 0);

  config_.task = "masked";
  config_.model.readout = Readout::kMasked;
  table().skip = {"kind"};
  const Dataset hidden = make_dataset(config_);
  for (const auto& [name, e] : hidden.splits) {
    for (std::size_t i = 0; i < e.masks.size(); ++i) EXPECT_EQ(e.masks[i] == kMissing, e.missing[i] != 0);
    for (std::int64_t i = 0; i < e.count; ++i)
      EXPECT_EQ(std::count(e.masks.begin() + 2 * i, e.masks.begin() + 2 * i + 2, kHidden), 1) << name;
  }
}

TEST_F(TableDatasetTest, simple_predictors_learn_what_one_token_tells) {
  table().groups = "subject";
  Dataset d = make_dataset(config_);
  ThreadPool pool(1);
  add_baselines(d, pool);
  const auto& test = d.baselines.at("test");
  EXPECT_NEAR(test.at("majority"), 0.5, 0.1);
  for (const char* name : {"logistic", "knn", "mlp"}) EXPECT_GT(test.at(name), 0.95) << name;
}

TEST_F(TableDatasetTest, the_same_table_gives_the_same_data_and_another_seed_another_split) {
  table().groups = "none";
  const Dataset a = make_dataset(config_), b = make_dataset(config_);
  EXPECT_EQ(a.hash, b.hash);
  table().split_seed = 2;
  EXPECT_NE(make_dataset(config_).hash, a.hash);
}

TEST_F(TableDatasetTest, what_a_run_keeps_reads_raw_samples_as_training_did) {
  table().groups = "none";
  DataAudit audit;
  const TableData data = read_table_data(config_, audit);
  const TableCoder again = TableCoder::from_json(Json::parse(data.dataset.description.at(kCoderKey)));
  DataAudit unsaid;
  const RawData raw = read_raw_data(config_, unsaid);
  EXPECT_EQ(code_samples(again, raw.tokens, {0, 5, 9}).values, code_samples(data.coder, raw.tokens, {0, 5, 9}).values);
}

}  // namespace
}  // namespace locus
