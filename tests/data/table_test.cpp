// A user's own table: what its columns are taken for, targets, splits, scales and vocabularies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/rng.h"
#include "data/table/coder.h"
#include "data/table/images.h"
#include "data/table/splits.h"
#include "data/table/targets.h"
#include "data/table/tokens.h"
#include "io/npy.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

class TableTest : public testing::Test {
 protected:
  TableTest()
      : folder_(fs::path(testing::TempDir()) /
                ("locus_table_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TableTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  RawTable table(const std::string& text) {
    config_.file = write("data.csv", text);
    return read_raw_table(config_);
  }
  RawTokens tokens(const std::string& text) { return pick_tokens(table(text), config_, audit_); }
  std::string error(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  bool said(const std::string& part) const {
    for (const std::string& line : audit_.lines()) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }

  fs::path folder_;
  TableConfig config_;
  DataAudit audit_;
};

// Thirty flowers of three kinds; the second token tells them apart.
std::string flowers(const std::string& extra_title = "", const std::function<std::string(int)>& extra = {}) {
  std::string text = "sepal,petal," + (extra_title.empty() ? "" : extra_title + ",") + "species\n";
  const char* names[] = {"setosa", "virginica", "versicolor"};
  for (int i = 0; i < 30; ++i) {
    text += std::to_string(5 + 0.37 * (i * 7 % 11)) + "," + std::to_string(i % 3 + 0.01 * i) + ",";
    if (extra) text += extra(i) + ",";
    text += std::string(names[i % 3]) + "\n";
  }
  return text;
}

TEST_F(TableTest, numbers_and_texts_are_told_apart) {
  const RawTokens t = tokens(flowers("colour", [](int i) { return i % 2 == 0 ? "red" : "blue"; }));
  ASSERT_EQ(t.tokens.size(), 4u);
  EXPECT_FALSE(t.tokens[0].is_category());
  EXPECT_TRUE(t.tokens[2].is_category());
  EXPECT_EQ(t.tokens[2].texts[1], "blue");
  EXPECT_TRUE(said("2 of numbers, 2 of categories (colour, species)"));
}

TEST_F(TableTest, the_target_is_no_token) {
  config_.target = {"species"};
  const RawTable raw = table(flowers());
  const RawTarget target = read_target(raw, config_);
  EXPECT_EQ(target.task, TableTask::kClassify);
  EXPECT_EQ(target.classes, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
  EXPECT_EQ(target.labels[1], 2);
  EXPECT_EQ(target.why, "3 different texts");
  EXPECT_EQ(pick_tokens(raw, config_, audit_).tokens.size(), 2u);
}

TEST_F(TableTest, classes_and_amounts_are_told_from_the_values_and_can_be_overruled) {
  const auto with = [&](const std::function<std::string(int)>& y) {
    config_.target = {"y"};
    return read_target(table(flowers("y", y)), config_);
  };
  EXPECT_EQ(with([](int i) { return std::to_string(i % 4); }).classes, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(with([](int i) { return std::to_string(i); }).task, TableTask::kRegress);
  EXPECT_EQ(with([](int i) { return std::to_string(0.5 * i); }).task, TableTask::kRegress);
  config_.task = TableTask::kRegress;
  const RawTarget amounts = with([](int i) { return std::to_string(i % 4); });
  EXPECT_EQ(amounts.task, TableTask::kRegress);
  EXPECT_EQ(amounts.values(5, 0), 1);
  config_.task = TableTask::kMasked;
  EXPECT_FALSE(with([](int i) { return std::to_string(i); }).is_given());
}

TEST_F(TableTest, numeric_classes_are_sorted_by_value) {
  config_.target = {"y"};
  EXPECT_EQ(read_target(table(flowers("y", [](int i) { return i % 2 == 0 ? "10" : "9"; })), config_).classes,
            (std::vector<std::string>{"9", "10"}));
}

TEST_F(TableTest, several_targets_and_a_target_of_its_own_file) {
  config_.target = {"sepal", "petal"};
  const RawTable raw = table(flowers());
  const RawTarget two = read_target(raw, config_);
  EXPECT_EQ(two.values.cols(), 2);
  EXPECT_EQ(two.names, (std::vector<std::string>{"sepal", "petal"}));
  std::string labels = "kind\n";
  for (int i = 0; i < 30; ++i) labels += i % 2 == 0 ? "a\n" : "b\n";
  config_.target = {write("labels.csv", labels)};
  EXPECT_EQ(read_target(raw, config_).classes, (std::vector<std::string>{"a", "b"}));
  config_.target = {write("short.csv", "kind\na\nb\n")};
  EXPECT_NE(error([&] { read_target(raw, config_); }).find("2 rows"), std::string::npos);
}

TEST_F(TableTest, an_index_and_a_clock_are_left_out_and_a_doubt_waits_for_a_word) {
  EXPECT_EQ(tokens(flowers("index", [](int i) { return std::to_string(i); })).tokens.size(), 3u);
  EXPECT_TRUE(said("column 'index' left out: an index or a clock"));
  EXPECT_FALSE(audit_.has_doubts());
  tokens(flowers("dose", [](int i) { return std::to_string(3 * i); }));
  EXPECT_TRUE(audit_.has_doubts());
  EXPECT_NE(error([&] { audit_.require_no_doubts("data.csv"); }).find("table.skip"), std::string::npos);
  audit_ = {};
  config_.skip = {"dose"};
  EXPECT_EQ(tokens(flowers("dose", [](int i) { return std::to_string(3 * i); })).tokens.size(), 3u);
  config_.skip = {"none"};
  EXPECT_EQ(tokens(flowers("dose", [](int i) { return std::to_string(3 * i); })).tokens.size(), 4u);
  EXPECT_FALSE(audit_.has_doubts());
}

TEST_F(TableTest, people_need_groups) {
  const auto people = [](int i) { return "p" + std::to_string(i / 5); };
  tokens(flowers("participant", people));
  EXPECT_TRUE(audit_.has_doubts());
  audit_ = {};
  config_.groups = "participant";
  EXPECT_EQ(tokens(flowers("participant", people)).tokens.size(), 3u);
  EXPECT_FALSE(audit_.has_doubts());
}

TEST_F(TableTest, a_text_among_numbers_is_told_with_its_line) {
  const std::string text = error([&] {
    tokens(flowers("mass", [](int i) { return i == 7 ? std::string("heavy") : std::to_string(i * 7 % 5 + 0.5); }));
  });
  EXPECT_NE(text.find("text in the column of numbers 'mass'"), std::string::npos) << text;
  EXPECT_NE(text.find("line 9"), std::string::npos) << text;
  EXPECT_NE(text.find("heavy"), std::string::npos) << text;
}

SplitInput split_input(std::int64_t n) {
  SplitInput in;
  in.samples = n;
  in.source = "x";
  for (std::int64_t i = 0; i < n; ++i) {
    in.twin.push_back(i);
    in.places.push_back("line " + std::to_string(i));
    in.labels.push_back(static_cast<std::int32_t>(i % 10 == 0 ? 1 : 0));
  }
  in.classes = {"common", "rare"};
  return in;
}

TEST_F(TableTest, a_stratified_split_keeps_the_shares_of_classes) {
  const SplitInput in = split_input(200);
  const SampleSplit s = split_samples(in, config_, audit_);
  EXPECT_EQ(s.kind, TableSplit::kStratified);
  for (const auto& [side, rare, all] :
       {std::tuple{Side::kTest, 4, 40}, {Side::kValidation, 2, 20}, {Side::kTrain, 14, 140}}) {
    const auto samples = s.samples_of(side);
    EXPECT_EQ(samples.size(), static_cast<std::size_t>(all));
    EXPECT_EQ(std::count_if(samples.begin(), samples.end(),
                            [&](std::int64_t i) { return in.labels[static_cast<std::size_t>(i)] == 1; }),
              rare);
  }
  config_.split_seed = 2;
  EXPECT_NE(split_samples(in, config_, audit_).side, s.side);
}

TEST_F(TableTest, groups_and_equal_samples_stay_on_one_side) {
  SplitInput in = split_input(200);
  for (std::int64_t i = 0; i < 200; ++i) in.groups.push_back(static_cast<std::int32_t>(i / 8));
  in.twin[199] = 0;  // joins the first and the last group
  const SampleSplit s = split_samples(in, config_, audit_);
  EXPECT_EQ(s.kind, TableSplit::kGroup);
  for (std::int64_t i = 0; i < 200; ++i)
    EXPECT_EQ(s.side[static_cast<std::size_t>(i)], s.side[static_cast<std::size_t>(i / 8 * 8)]);
  EXPECT_EQ(s.side[199], s.side[0]);
  EXPECT_NEAR(static_cast<double>(s.samples_of(Side::kTest).size()), 40, 8);
}

TEST_F(TableTest, time_takes_the_end_and_leaks_are_doubts) {
  SplitInput in = split_input(100);
  config_.split = TableSplit::kTime;
  const SampleSplit s = split_samples(in, config_, audit_);
  EXPECT_EQ(s.samples_of(Side::kTest).front(), 80);
  EXPECT_EQ(s.samples_of(Side::kValidation).front(), 70);
  EXPECT_FALSE(audit_.has_doubts());
  in.twin[90] = 3;
  split_samples(in, config_, audit_);
  EXPECT_TRUE(audit_.has_doubts());
  EXPECT_TRUE(said("1 of 20 test samples equal one in training (line 90 and line 3)"));
  audit_ = {};
  config_.leaks = SplitLeaks::kAllow;
  split_samples(in, config_, audit_);
  EXPECT_FALSE(audit_.has_doubts());
}

TEST_F(TableTest, a_given_split_is_taken_and_judged) {
  SplitInput in = split_input(20);
  in.given.assign(20, "train");
  in.given[3] = "Test";
  in.given[4] = "val";
  config_.split = TableSplit::kGiven;
  const SampleSplit s = split_samples(in, config_, audit_);
  EXPECT_EQ(s.samples_of(Side::kTest), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(s.samples_of(Side::kValidation), (std::vector<std::int64_t>{4}));
  in.given[5] = "maybe";
  EXPECT_NE(error([&] { split_samples(in, config_, audit_); }).find("'maybe'"), std::string::npos);
  in.given.assign(20, "train");
  in.given[0] = in.given[10] = "test";
  EXPECT_NE(error([&] { split_samples(in, config_, audit_); }).find("never sees"), std::string::npos);
  in.given.assign(20, "train");
  EXPECT_NE(error([&] { split_samples(in, config_, audit_); }).find("no sample is left for testing"), std::string::npos);
}

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = from; i < to; ++i) out.push_back(i);
  return out;
}

TEST_F(TableTest, scales_and_vocabularies_come_from_training_alone) {
  config_.target = {"petal"};
  const RawTable raw = table(flowers("colour", [](int i) { return i >= 20 ? "violet" : i % 2 == 0 ? "red" : "blue"; }));
  const RawTokens t = pick_tokens(raw, config_, audit_);
  const RawTarget target = read_target(raw, config_);
  const auto train = range(0, 20);
  const TableCoder coder = fit_coder({t, target, train}, config_, audit_);
  ASSERT_EQ(coder.tokens.size(), 3u);
  EXPECT_EQ(coder.tokens[1].vocabulary, (std::vector<std::string>{"blue", "red"}));
  EXPECT_EQ(coder.features, 1 + 2 + 3);
  double mean = 0, squares = 0;
  for (int i = 0; i < 20; ++i) mean += t.tokens[0].numbers[static_cast<std::size_t>(i)] / 20;
  for (int i = 0; i < 20; ++i) squares += std::pow(t.tokens[0].numbers[static_cast<std::size_t>(i)] - mean, 2) / 20;
  EXPECT_NEAR(coder.tokens[0].mean[0], mean, 1e-12);
  EXPECT_NEAR(coder.tokens[0].sd[0], std::sqrt(squares), 1e-12);
  const CodedTokens e = coder.encode(t, range(18, 22));
  // Sample 18 is red: the second word; sample 20 is violet, which training never saw.
  EXPECT_EQ(std::vector<float>(e.values.begin() + 6, e.values.begin() + 12), (std::vector<float>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(std::vector<float>(e.values.begin() + 2 * 18 + 6, e.values.begin() + 2 * 18 + 12),
            (std::vector<float>{0, 0, 0, 0, 0, 0}));
  const TableCoder again = TableCoder::from_json(Json::parse(coder.to_json().dump()));
  EXPECT_EQ(again.encode(t, range(0, 30)).values, coder.encode(t, range(0, 30)).values);
  EXPECT_EQ(again.target_sd, coder.target_sd);
}

TEST_F(TableTest, categories_alone_become_ids) {
  const RawTokens t = tokens("a,b\nx,u\ny,v\nx,v\ny,u\nz,u\n");
  RawTarget target;
  target.task = TableTask::kClassify;
  const TableCoder coder = fit_coder({t, target, range(0, 4)}, config_, audit_);
  EXPECT_TRUE(coder.ids);
  EXPECT_EQ(coder.features, 4);
  EXPECT_EQ(coder.encode(t, range(0, 5)).ids, (std::vector<std::int16_t>{0, 2, 1, 3, 0, 3, 1, 2, -1, 2}));
  // Where the tokens themselves are predicted, each is a vector of its kinds.
  const TableCoder values = fit_coder({t, {}, range(0, 4)}, config_, audit_);
  EXPECT_FALSE(values.ids);
  EXPECT_EQ(values.encode(t, range(0, 1)).values, (std::vector<float>{1, 0, 0, 0, 0, 0, 1, 0}));
}

TEST_F(TableTest, constant_tokens_are_left_out_by_name_or_kept) {
  const auto text = flowers("flat", [](int) { return "1"; });
  const RawTokens t = tokens(text);
  EXPECT_EQ(fit_coder({t, {}, range(0, 30)}, config_, audit_).tokens.size(), 3u);
  EXPECT_TRUE(said("1 constant or almost, left out (table.constant=keep keeps them): flat"));
  config_.constant = ConstantTokens::kKeep;
  const TableCoder kept = fit_coder({t, {}, range(0, 30)}, config_, audit_);
  ASSERT_EQ(kept.tokens.size(), 4u);
  EXPECT_EQ(kept.tokens[2].sd[0], 1.0);
}

TEST_F(TableTest, missing_values_wait_for_a_word_and_become_hidden) {
  const RawTokens t =
      tokens(flowers("mass", [](int i) { return i == 4 ? std::string() : std::to_string(i * 7 % 5 + 0.5); }));
  fit_coder({t, {}, range(0, 30)}, config_, audit_);
  EXPECT_TRUE(audit_.has_doubts());
  EXPECT_TRUE(said("first in line 6"));
  audit_ = {};
  config_.missing = MissingValues::kMask;
  const TableCoder coder = fit_coder({t, {}, range(0, 30)}, config_, audit_);
  EXPECT_FALSE(audit_.has_doubts());
  const CodedTokens e = coder.encode(t, range(3, 6));
  EXPECT_EQ(e.missing, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
}

TEST_F(TableTest, vectors_come_from_arrays_of_three_axes) {
  std::vector<double> values(10 * 3 * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * i % 17);
  config_.file = (folder_ / "x.npy").string();
  write_npy(config_.file, tensor_view<double>("", {10, 3, 2}, values));
  const RawTokens t = pick_tokens(read_raw_table(config_), config_, audit_);
  EXPECT_EQ(t.tokens.size(), 3u);
  EXPECT_EQ(t.features, 2);
  EXPECT_EQ(t.tokens[1].numbers[2], values[8]);
  const TableCoder coder = fit_coder({t, {}, range(0, 10)}, config_, audit_);
  EXPECT_EQ(coder.encode(t, range(0, 10)).values.size(), values.size());
}

TEST_F(TableTest, arrays_of_one_file_hold_samples_and_target) {
  std::vector<double> x(12 * 3), y(12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 13);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i % 2);
  config_.file = (folder_ / "x.npz").string();
  const std::vector<TensorView> arrays = {tensor_view<double>("X", {12, 3}, x), tensor_view<double>("y", {12}, y)};
  write_npz(config_.file, arrays);
  config_.target = {"y"};
  const RawTable raw = read_raw_table(config_);
  EXPECT_EQ(raw.columns.size(), 3u);
  EXPECT_EQ(read_target(raw, config_).classes, (std::vector<std::string>{"0", "1"}));
}

TEST_F(TableTest, pictures_become_pixels_or_patches_and_one_order_shuffles_all) {
  std::vector<double> values(6 * 4 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  ImagesConfig images;
  images.files = (folder_ / "x.npy").string();
  write_npy(images.files, tensor_view<double>("", {6, 4, 4}, values));
  const RawImages pixels = read_images(images, audit_);
  EXPECT_EQ(pixels.tokens.tokens.size(), 16u);
  EXPECT_EQ(pixels.tokens.tokens[6].name, "r2c3");
  EXPECT_EQ(pixels.tokens.tokens[6].numbers[2], 2 * 16 + 6);
  EXPECT_EQ(pixels.tokens.places.coordinates(6, 1), 2);
  images.patch = 2;
  const RawImages patches = read_images(images, audit_);
  EXPECT_EQ(patches.tokens.features, 4);
  EXPECT_EQ(patches.tokens.tokens[3].numbers[0], 10);
  EXPECT_EQ(std::vector<double>(patches.tokens.tokens[1].numbers.begin(), patches.tokens.tokens[1].numbers.begin() + 4),
            (std::vector<double>{2, 3, 6, 7}));
  images.patch = 1;
  images.shuffle = 5;
  const RawImages shuffled = read_images(images, audit_);
  const auto order = shuffled_order(16, 5);
  EXPECT_NE(order, shuffled_order(16, 6));
  for (std::size_t t = 0; t < 16; ++t)
    EXPECT_EQ(shuffled.tokens.tokens[t].numbers, pixels.tokens.tokens[static_cast<std::size_t>(order[t])].numbers);
  images.patch = 3;
  EXPECT_NE(error([&] { read_images(images, audit_); }).find("a divisor of the height 4"), std::string::npos);
}

TEST_F(TableTest, the_audit_survives_writing) {
  audit_.fact("samples", "30");
  audit_.doubt("missing", "2 values", "--missing mask");
  const DataAudit again = DataAudit::from_json(Json::parse(audit_.to_json().dump()));
  EXPECT_EQ(again.lines(), audit_.lines());
  EXPECT_TRUE(again.has_doubts());
}

}  // namespace
}  // namespace locus
