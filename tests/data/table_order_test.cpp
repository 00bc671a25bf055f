// A user's table, its targets and its pictures: what belongs to a sample or a token does not depend on the order of rows,
// columns or files, and what cannot be known is asked.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "data/table/coder.h"
#include "data/table/images.h"
#include "data/table/targets.h"
#include "data/table/tokens.h"
#include "io/file.h"
#include "tests/support/png_files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Order = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

constexpr std::int64_t kSamples = 24;
constexpr std::int64_t kTokens = 5;

// What is planted for a sample and a token.
double value(std::int64_t sample, std::int64_t token) {
  return static_cast<double>(100 * (token + 1)) + static_cast<double>((sample * (7 + 2 * token)) % 23) / 4;
}
std::string kind(std::int64_t sample) { return sample % 3 == 0 ? "cat" : sample % 3 == 1 ? "dog" : "owl"; }

Order in_turn(std::int64_t n) {
  Order out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

class TableOrderTest : public testing::Test {
 protected:
  TableOrderTest()
      : folder_(fs::path(testing::TempDir()) /
                ("locus_table_order_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TableOrderTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static std::string error(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  // Samples and columns in any order; `names` gives a column "id".
  std::string table(const Order& rows, const Order& columns, bool names = true) const {
    std::string text = names ? "id" : "";
    for (const std::int64_t c : columns) text += fmt::format("{}t{}", text.empty() ? "" : ",", c);
    text += "\n";
    for (const std::int64_t r : rows) {
      std::string line = names ? fmt::format("s{}", r) : "";
      for (const std::int64_t c : columns) line += fmt::format("{}{}", line.empty() ? "" : ",", value(r, c));
      text += line + "\n";
    }
    return write("data.csv", text);
  }
  std::string labels(const Order& rows, const std::string& title = "id") const {
    std::string text = title + ",kind\n";
    for (const std::int64_t r : rows) text += fmt::format("s{},{}\n", r, kind(r));
    return write("labels.csv", text);
  }

  fs::path folder_;
  TableConfig config_;
  DataAudit audit_;
};

TEST_F(TableOrderTest, a_target_of_another_file_goes_by_the_names_of_the_samples) {
  Rng rng(3, "table order");
  Order rows = in_turn(kSamples), columns = in_turn(kTokens), other = rows;
  for (int round = 0; round < 12; ++round) {
    config_.file = table(rows, columns);
    config_.target = {labels(other)};
    const RawTable raw = read_raw_table(config_);
    const RawTarget target = read_target(raw, config_);
    const RawTokens tokens = pick_tokens(raw, config_, audit_);
    const TableCoder coder = fit_coder({tokens, target, rows}, config_, audit_);
    EXPECT_EQ(target.names, (Names{"kind"}));
    ASSERT_EQ(coder.tokens.size(), static_cast<std::size_t>(kTokens));
    const CodedTokens coded = coder.encode(tokens, in_turn(kSamples));
    for (std::int64_t i = 0; i < kSamples; ++i) {
      const std::int64_t sample = rows[static_cast<std::size_t>(i)];
      EXPECT_EQ(target.classes[static_cast<std::size_t>(target.labels[static_cast<std::size_t>(i)])], kind(sample));
      for (std::size_t t = 0; t < coder.tokens.size(); ++t) {
        const TokenCode& code = coder.tokens[t];
        const double seen = coded.values[static_cast<std::size_t>(i) * coder.tokens.size() + t] * code.sd[0] + code.mean[0];
        EXPECT_NEAR(seen, value(sample, std::stoi(code.name.substr(1))), 1e-4) << round;
      }
    }
    rng.shuffle(std::span(rows));
    rng.shuffle(std::span(columns));
    rng.shuffle(std::span(other));
  }
}

TEST_F(TableOrderTest, rows_that_are_named_by_what_the_table_lacks_are_refused) {
  Order turned = in_turn(kSamples);
  std::reverse(turned.begin(), turned.end());
  config_.file = table(in_turn(kSamples), in_turn(kTokens), false);
  const RawTable nameless = read_raw_table(config_);
  config_.target = {labels(turned)};
  EXPECT_NE(error([&] { read_target(nameless, config_); }).find("nothing tells which of the table"), std::string::npos);
  config_.file = table(in_turn(kSamples), in_turn(kTokens));
  const RawTable named = read_raw_table(config_);
  turned.back() = 77;
  config_.target = {labels(turned)};
  const std::string other = error([&] { read_target(named, config_); });
  EXPECT_NE(other.find("no row for 1 of 24: s0"), std::string::npos) << other;
}

TEST_F(TableOrderTest, an_index_that_counts_the_rows_is_no_target) {
  config_.file = table(in_turn(kSamples), in_turn(kTokens), false);
  const RawTable raw = read_raw_table(config_);
  for (const char* title : {"", "index", "Unnamed: 0"}) {
    std::string text = std::string(title) + ",y\n";
    for (int i = 0; i < kSamples; ++i) text += fmt::format("{},{}\n", i, 0.5 * (i * 7 % 11));
    config_.target = {write("y.csv", text)};
    const RawTarget target = read_target(raw, config_);
    EXPECT_EQ(target.names, (Names{"y"})) << title;
    EXPECT_EQ(target.values(3, 0), 5.0) << title;
  }
}

TEST_F(TableOrderTest, two_columns_of_one_name_are_refused) {
  config_.file = write("data.csv", "a,b,a\n1,2,3\n4,5,7\n");
  EXPECT_NE(error([&] { read_raw_table(config_); }).find("two columns have one name"), std::string::npos);
}

TEST_F(TableOrderTest, columns_without_a_name_stay_apart_when_all_are_kept) {
  config_.file = write("data.csv", ",,x\n1,20,3\n4,50,7\n6,90,2\n");
  config_.skip = {"none"};
  const RawTokens tokens = pick_tokens(read_raw_table(config_), config_, audit_);
  const Order all = in_turn(3);
  const CodedTokens coded = fit_coder({tokens, {}, all}, config_, audit_).encode(tokens, all);
  EXPECT_NE(coded.values[0], coded.values[1]);
  EXPECT_EQ(tokens.tokens[0].name, "column 1");
}

TEST_F(TableOrderTest, naming_one_column_keeps_the_others_out) {
  std::string text = "index,participant,dose,a\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("{},{},{},{}\n", i, i, 3 * i, i * 7 % 11 + 0.5);
  config_.file = write("data.csv", text);
  config_.skip = {"dose"};
  const RawTokens tokens = pick_tokens(read_raw_table(config_), config_, audit_);
  ASSERT_EQ(tokens.tokens.size(), 1u);
  EXPECT_EQ(tokens.tokens[0].name, "a");
}

TEST_F(TableOrderTest, marks_for_missing_values_and_decimal_commas_make_no_categories) {
  const auto column = [&](const std::function<std::string(int)>& cell) {
    std::string text = "mass;a\n";
    for (int i = 0; i < 30; ++i) text += cell(i) + fmt::format(";{}\n", i * 7 % 11);
    config_.file = write("data.csv", text);
    return error([&] { pick_tokens(read_raw_table(config_), config_, audit_); });
  };
  EXPECT_NE(column([](int i) { return i % 3 == 0 ? "?" : fmt::format("{}.5", i); }).find("'?' (10 of 30"),
            std::string::npos);
  EXPECT_NE(column([](int i) { return fmt::format("{},5", i % 7); }).find("decimal point"), std::string::npos);
  EXPECT_EQ(column([](int i) { return i % 3 == 0 ? "one" : "two"; }), "");
  config_.categories = {"mass"};
  EXPECT_EQ(column([](int i) { return i % 3 == 0 ? "?" : fmt::format("{}", i % 4); }), "");
}

TEST_F(TableOrderTest, the_end_of_the_table_is_the_end_of_time_only_in_its_order) {
  for (const bool sorted : {true, false}) {
    std::string text = "year,date,a\n";
    for (int i = 0; i < 30; ++i) {
      const int day = sorted ? i : 29 - i;
      text += fmt::format("{},2020-01-{:02},{}\n", 1990 + day, day + 1, i * 7 % 11 + 0.5);
    }
    config_.file = write("data.csv", text);
    config_.split = TableSplit::kTime;
    DataAudit audit;
    pick_tokens(read_raw_table(config_), config_, audit);
    const std::string said = join(audit.lines(), "\n");
    EXPECT_EQ(said.find("not in the order of this column") == std::string::npos, sorted) << said;
  }
}

// Pictures of one grey value each, told by their names.
class PictureOrderTest : public TableOrderTest {
 protected:
  static std::string name_of(std::int64_t sample) { return fmt::format("p{}.png", sample); }
  void write_pictures() {
    for (std::int64_t i = 0; i < kSamples; ++i) {
      std::string pixels(4, static_cast<char>(10 + i));
      pixels[1] = static_cast<char>(200 - i);
      write_grey(folder_ / "pictures" / name_of(i), pixels);
    }
    images_.files = (folder_ / "pictures").string();
  }
  // 2 x 2 pixels of 8 bits, or 2 x 1 of 16.
  static void write_grey(const fs::path& path, const std::string& pixels, int bits = 8) {
    fs::create_directories(path.parent_path());
    write_file_atomic(path, png_files::grey(pixels, 2, bits));
  }
  ImagesConfig images_;
};

TEST_F(PictureOrderTest, labels_of_a_folder_go_by_the_names_of_its_files) {
  write_pictures();
  const RawImages pictures = read_images(images_, audit_);
  Order rows = in_turn(kSamples);
  Rng rng(4, "pictures");
  for (int round = 0; round < 6; ++round) {
    std::string text = "picture,kind\n";
    for (const std::int64_t r : rows)
      text += fmt::format("{},{}\n", round % 2 == 0 ? name_of(r) : fmt::format("p{}", r), kind(r));
    config_.target = {write("labels.csv", text)};
    const RawTarget target = read_target(pictures.outside, config_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kSamples); ++i) {
      const auto sample = static_cast<std::int64_t>(pictures.tokens.tokens[0].numbers[i]) - 10;
      EXPECT_EQ(target.classes[static_cast<std::size_t>(target.labels[i])], kind(sample)) << round;
    }
    rng.shuffle(std::span(rows));
  }
}

TEST_F(PictureOrderTest, labels_of_a_folder_without_names_are_refused) {
  write_pictures();
  const RawImages pictures = read_images(images_, audit_);
  std::string text = "kind\n";
  for (std::int64_t i = 0; i < kSamples; ++i) text += kind(i) + "\n";  // p10 stands before p2 in the folder
  config_.target = {write("labels.csv", text)};
  const std::string message = error([&] { read_target(pictures.outside, config_); });
  EXPECT_NE(message.find("nothing tells which row belongs to which file"), std::string::npos) << message;
  EXPECT_NE(message.find("p0.png"), std::string::npos) << message;
}

TEST_F(PictureOrderTest, two_depths_and_other_kinds_of_pictures_are_refused) {
  write_pictures();
  write_grey(folder_ / "pictures" / "zz.png", std::string("\1\0\2\0\3\0\4\0", 8), 16);
  EXPECT_NE(error([&] { read_images(images_, audit_); }).find("two scales"), std::string::npos);
  fs::remove(folder_ / "pictures" / "zz.png");
  EXPECT_EQ(error([&] { read_images(images_, audit_); }), "");
  std::ofstream(folder_ / "pictures" / "p99.JPG") << "x";
  EXPECT_NE(error([&] { read_images(images_, audit_); }).find("p99.JPG"), std::string::npos);
}

}  // namespace
}  // namespace locus
