// A user's own tables and pictures: each kind from one command to a report, and mistakes in them told in the user's words.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/json.h"
#include "io/file.h"
#include "io/picture.h"
#include "tests/cli/cli_testing.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

// A number between 0 and 1 that looks like chance.
double noise(int i, int k) { return std::fmod(std::abs(std::sin(12.9898 * i + 78.233 * k)) * 43758.5453, 1.0); }

// 90 samples of three kinds; x and y tell them apart, z says nothing.
std::string flowers(const std::string& titles = "", const std::function<std::string(int)>& more = {}) {
  const char* kinds[] = {"setosa", "versicolor", "virginica"};
  std::string text = "x,y,z," + (titles.empty() ? "" : titles + ",") + "species\n";
  for (int i = 0; i < 90; ++i) {
    text += std::to_string(i % 3 + noise(i, 1)) + "," + std::to_string((i % 3 == 1 ? 2 : 0) + noise(i, 2)) + "," +
            std::to_string(noise(i, 3)) + ",";
    if (more) text += more(i) + ",";
    text += std::string(kinds[i % 3]) + "\n";
  }
  return text;
}

std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

// 60 pictures of 4 x 4 pixels: class 0 is bright above, class 1 below.
int pixel(int i, int p) { return static_cast<int>(40 * noise(i, p)) + ((i % 2 == 0) == (p < 8) ? 180 : 0); }

void write_idx(const Workplace& place) {
  std::string pictures = std::string("\0\0\x08\x03", 4) + big_endian(60) + big_endian(4) + big_endian(4);
  std::string labels = std::string("\0\0\x08\x01", 4) + big_endian(60);
  for (int i = 0; i < 60; ++i) {
    for (int p = 0; p < 16; ++p) pictures += static_cast<char>(pixel(i, p));
    labels += static_cast<char>(i % 2);
  }
  write(place / "images-idx3-ubyte", pictures);
  write(place / "labels-idx1-ubyte", labels);
}

void write_pngs(const Workplace& place) {
  for (int i = 0; i < 60; ++i) {
    IndexImage image{4, 4, {}};
    for (int p = 0; p < 16; ++p) image.pixels.push_back(static_cast<std::int16_t>(pixel(i, p)));
    const auto bytes = encode_png(image, colour_map(ColourMap::kSequential));
    write(place / (std::string("pngs/") + (i % 2 == 0 ? "above" : "below") + "/" + std::to_string(i) + ".png"),
          std::string(bytes.begin(), bytes.end()));
  }
}

const char* const kShort = " stop.steps=4 model.width=8 model.layers=1 --threads 1 --out run";

class OwnTableTest : public testing::Test {
 protected:
  // Runs the command, which must end with a report; the measures of its summary.
  Json fit(const std::string& words) {
    const Result r = place_.shell("locus fit " + words + kShort);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(std::filesystem::exists(place_ / "run/report.html")) << r.err;
    err_ = r.err;
    return Json::parse(text_of(place_ / "run/summary.json"));
  }
  bool has(const Json& summary, const std::string& measure) const {
    return summary.dump().find('"' + measure + '"') != std::string::npos;
  }

  Workplace place_{"tables"};
  std::string err_;
};

TEST_F(OwnTableTest, text_labels_are_classes_with_measures_and_baselines) {
  write(place_ / "t.csv", flowers());
  const Json s = fit("t.csv --target species");
  for (const char* m : {"test.accuracy", "test.balanced_accuracy", "test.accuracy_logistic", "test.accuracy_knn",
                        "test.accuracy_mlp", "test.accuracy_majority"})
    EXPECT_TRUE(has(s, m)) << m;
  EXPECT_NE(err_.find("3 classes (3 different texts)"), std::string::npos) << err_;
  const Json scores = Json::parse(text_of(place_ / "run/analysis/scores.json"));
  EXPECT_EQ(scores.at("classes").size(), 3u);
  EXPECT_EQ(scores.at("confusion").size(), 9u);
  std::int64_t counted = 0;
  for (const Json& row : scores.at("confusion").items_of_array()) counted += row.at("samples").get<std::int64_t>();
  EXPECT_EQ(counted, 18);
}

TEST_F(OwnTableTest, categories_have_vocabularies) {
  write(place_ / "t.csv", flowers("colour", [](int i) { return i % 4 == 0 ? "red" : i % 4 == 1 ? "blue" : "green"; }));
  fit("t.csv --target species");
  EXPECT_NE(err_.find("3 of numbers, 1 of categories (colour)"), std::string::npos) << err_;
}

TEST_F(OwnTableTest, a_table_of_categories_alone_is_read_as_ids) {
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 60; ++i)
    text +=
        fmt::format("{},w{},{}\n", i % 2 == 0 ? "p" : "q", static_cast<int>(30 * noise(i, 1)), i % 2 == 0 ? "yes" : "no");
  write(place_ / "t.csv", text);
  // Token a tells the target alone: a doubt, unless every column is asked for.
  EXPECT_EQ(place_.shell(std::string("locus fit t.csv --target kind") + kShort).code, 2);
  fit("t.csv --target kind 'table.skip=[\"none\"]' table.leaks=allow");
}

TEST_F(OwnTableTest, missing_values_are_hidden_by_a_word) {
  write(place_ / "t.csv", flowers("w", [](int i) { return i % 20 == 7 ? std::string() : std::to_string(noise(i, 9)); }));
  const Result doubt = place_.shell(std::string("locus fit t.csv --target species") + kShort);
  EXPECT_EQ(doubt.code, 2);
  EXPECT_NE(doubt.err.find("--missing mask"), std::string::npos) << doubt.err;
  EXPECT_FALSE(std::filesystem::exists(place_ / "run"));
  fit("t.csv --target species --missing mask");
  EXPECT_NE(err_.find("hidden from the model"), std::string::npos) << err_;
}

TEST_F(OwnTableTest, missing_values_are_never_asked_for_where_tokens_are_predicted) {
  write(place_ / "t.csv", flowers("w", [](int i) { return i % 20 == 7 ? std::string() : std::to_string(noise(i, 9)); }));
  const Json s = fit("t.csv --task masked --missing mask 'table.skip=[\"species\"]' --random-split");
  EXPECT_TRUE(has(s, "test.mse_ridge"));
}

TEST_F(OwnTableTest, constant_columns_are_left_out_by_name) {
  write(place_ / "t.csv", flowers("flat", [](int) { return "1.5"; }));
  fit("t.csv --target species");
  EXPECT_NE(err_.find("1 constant or almost, left out (table.constant=keep keeps them): flat"), std::string::npos) << err_;
}

TEST_F(OwnTableTest, several_numbers_are_predicted_at_once) {
  write(place_ / "t.csv", flowers());
  const Json s = fit("t.csv --target x,y,z 'table.skip=[]'");
  EXPECT_TRUE(has(s, "test.r2"));
  EXPECT_TRUE(has(s, "test.mse_ridge"));
  const Json scores = Json::parse(text_of(place_ / "run/analysis/scores.json"));
  EXPECT_EQ(scores.at("outputs").size(), 3u * 5u);  // of the model and four predictors
}

TEST_F(OwnTableTest, a_folder_of_pngs_is_classified_by_its_folders) {
  write_pngs(place_);
  const Json s = fit("pngs --target folder images.shuffle=3");
  EXPECT_TRUE(has(s, "test.accuracy"));
  EXPECT_NE(err_.find("60 of 4 x 4 pixels"), std::string::npos) << err_;
  EXPECT_TRUE(std::filesystem::exists(place_ / "run/report_files/unscramble.svg"));
}

TEST_F(OwnTableTest, an_idx_pair_is_read_as_pictures_and_labels) {
  write_idx(place_);
  const Json s = fit("images-idx3-ubyte --target labels-idx1-ubyte images.patch=2");
  EXPECT_TRUE(has(s, "test.accuracy"));
  EXPECT_NE(err_.find("2 x 2 patches of 2 x 2 pixels"), std::string::npos) << err_;
}

TEST_F(OwnTableTest, check_says_what_is_read_as_what_and_ends_with_2_while_a_doubt_is_left) {
  write(place_ / "t.csv", flowers("subject", [](int i) { return "s" + std::to_string(i / 9); }));
  Result r = place_.shell("locus check t.csv --target species");
  EXPECT_EQ(r.code, 2) << r.out;
  EXPECT_NE(r.out.find("--groups 'subject'"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("regions"), std::string::npos) << r.out;
  r = place_.shell("locus check t.csv --target species --groups subject");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("10 of 'subject'"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("whole groups"), std::string::npos) << r.out;
  EXPECT_TRUE(
      Json::parse(place_.shell("locus check t.csv --target species --groups subject --json").out).at("ready").get<bool>());
}

TEST_F(OwnTableTest, a_run_begins_from_another_and_says_what_it_took) {
  write(place_ / "t.csv", flowers());
  fit("t.csv --target species");
  const Result r = place_.shell(
      "locus fit t.csv --target x,y 'table.skip=[\"species\"]' train.init=run train.init_take=weights stop.steps=4 "
      "model.width=8 model.layers=1 --threads 1 --out second");
  EXPECT_EQ(r.code, 0) << r.err;  // z alone is another set of tokens: weights fit, the table of positions does not
  EXPECT_NE(r.err.find("left"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find("took blocks.0.pe.table"), std::string::npos) << r.err;
  const Result same = place_.shell(
      "locus fit t.csv --target species seed=2 train.init=run stop.steps=4 model.width=8 model.layers=1 --threads 1 --out "
      "third");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_NE(same.err.find("begins from run: took blocks.0.pe.table"), std::string::npos) << same.err;
}

struct Bad {
  const char* name;
  const char* setup;  // shell, before
  const char* words;  // of locus fit
  std::vector<const char*> says;
};

const std::vector<Bad>& bad_tables() {
  static const std::vector<Bad> all = {
      {"no_such_column", "", "t.csv --target speces", {"speces", "species"}},
      {"label_missing_in_a_row", "sed -i '5s/[a-z]*$//' t.csv", "t.csv --target species", {"species", "line 5"}},
      {"one_class_only", "sed -i '2,$s/[a-z]*$/rose/' t.csv", "t.csv --target species", {"one class only", "rose"}},
      {"a_class_of_one_sample", "sed -i '7s/[a-z]*$/lily/' t.csv", "t.csv --target species", {"single sample", "lily"}},
      {"a_class_in_test_only",
       "awk -F, 'NR==1{print $0\",part\"} NR>1{print $0\",\"($4==\"setosa\"?\"test\":\"train\")}' t.csv >u.csv; mv u.csv "
       "t.csv",
       "t.csv --target species table.split_column=part",
       {"training never sees", "setosa"}},
      {"ragged_rows", "sed -i '9s/^[^,]*,//' t.csv", "t.csv --target species", {"t.csv", "9"}},
      {"text_in_a_number_column", "sed -i '6s/^[^,]*/tall/' t.csv", "t.csv --target species", {"'x'", "line 6", "tall"}},
      {"labels_of_another_length", "printf 'kind\\na\\nb\\n' >l.csv", "t.csv --target l.csv", {"l.csv", "2 rows", "90"}},
      {"labels_that_are_not_there", "", "t.csv --target absent.csv", {"absent.csv"}},
      {"missing_values_without_a_word",
       "sed -i '4s/^[^,]*//' t.csv",
       "t.csv --target species",
       {"missing", "'x' (1)", "--missing mask"}},
      {"an_infinite_value", "sed -i '4s/^[^,]*/inf/' t.csv", "t.csv --target species", {"'x'", "line 4", "inf"}},
      {"the_same_samples_in_training_and_test",
       "head -46 t.csv >u.csv; tail -n +2 u.csv >v.csv; cat u.csv v.csv >t.csv",
       "t.csv --target species table.split=time",
       {"equal one in training", "table.leaks=allow"}},
      {"a_person_on_both_sides",
       "awk -F, 'NR==1{print \"subject,\"$0} NR>1{print \"p\" NR%7 \",\" $0}' t.csv >u.csv; mv u.csv t.csv",
       "t.csv --target species",
       {"subject", "--groups"}},
      {"an_index_that_may_be_a_token",
       "awk -F, 'NR==1{print \"dose,\"$0} NR>1{print 3*NR \",\" $0}' t.csv >u.csv; mv u.csv t.csv",
       "t.csv --target species",
       {"dose", "table.skip"}},
      {"a_copy_of_the_target",
       "awk -F, 'NR==1{print \"code,\"$0} NR>1{print ($4==\"setosa\"?4:$4==\"virginica\"?5:9) \",\" $0}' t.csv >u.csv; mv "
       "u.csv t.csv",
       "t.csv --target species",
       {"code", "tells the target"}},
      {"a_part_of_no_split",
       "awk -F, 'NR==1{print $0\",part\"} NR>1{print $0\",\"(NR%5?\"train\":\"maybe\")}' t.csv >u.csv; mv u.csv t.csv",
       "t.csv --target species table.split_column=part",
       {"maybe", "train, validation or test"}},
      {"no_sample_for_testing",
       "awk -F, 'NR==1{print $0\",part\"} NR>1{print $0\",train\"}' t.csv >u.csv; mv u.csv t.csv",
       "t.csv --target species table.split_column=part",
       {"no sample is left for testing"}},
      {"every_token_constant",
       "printf 'a,b,y\\n' >t.csv; for i in $(seq 30); do echo 1,2,k$((i%2)); done >>t.csv",
       "t.csv --target y table.leaks=allow",
       {"t.csv"}},
      {"few_samples", "head -12 t.csv >u.csv; mv u.csv t.csv", "t.csv --target species", {"too few samples", "11"}},
      {"numbers_asked_of_text", "", "t.csv --target species --task regress", {"species", "text", "task=classify"}},
      {"names_as_classes",
       "awk -F, 'NR==1{print \"who,\"$0} NR>1{print \"n\" NR \",\" $0}' t.csv >u.csv; mv u.csv t.csv",
       "t.csv --target who",
       {"as many classes as samples", "who"}},
      {"several_columns_of_classes", "", "t.csv --target x,species --task classify", {"one column"}},
      {"a_task_without_target", "", "t.csv --task classify", {"--target"}},
      {"a_split_by_class_of_numbers",
       "",
       "t.csv --target x table.split=stratified 'table.skip=[\"species\"]'",
       {"stratified"}},
      {"groups_that_are_not_there", "", "t.csv --target species --groups person", {"person"}},
      {"an_unknown_task", "", "t.csv --target species --task clasify", {"clasify", "classify"}},
      {"three_axes_without_a_word",
       "python3 -c \"import struct;h=b\\\"{'descr': '|u1', 'fortran_order': False, 'shape': (30, 4, 4), }\\\";h+=b' "
       "'*(117-len(h))+b'\\\\n';"
       "open('a.npy','wb').write(b'\\\\x93NUMPY\\\\x01\\\\x00'+struct.pack('<H',len(h))+h+bytes(480))\"",
       "a.npy",
       {"pictures, or tokens that are vectors", "--images"}},
      {"patches_that_do_not_fill", "", "images-idx3-ubyte --target labels-idx1-ubyte images.patch=3", {"images.patch", "4"}},
      {"a_cut_idx_file",
       "head -c 500 images-idx3-ubyte >cut-idx3-ubyte",
       "cut-idx3-ubyte --target labels-idx1-ubyte",
       {"cut-idx3-ubyte"}},
      {"labels_of_other_pictures",
       "head -c 8 labels-idx1-ubyte >l; printf '\\0\\0\\10\\1\\0\\0\\0\\2\\0\\1' >two-idx1-ubyte",
       "images-idx3-ubyte --target two-idx1-ubyte",
       {"two-idx1-ubyte", "2", "60"}},
      {"a_png_of_another_size",
       "cp -r pngs odd; cp wide.png odd/above/wide.png",
       "odd --target folder",
       {"wide.png", "differ in size"}},
      {"a_broken_png", "cp -r pngs bad; head -c 40 wide.png >bad/above/cut.png", "bad --target folder", {"cut.png"}},
  };
  return all;
}

class BadTableTest : public testing::TestWithParam<Bad> {
 public:
  static void SetUpTestSuite() {
    place_ = new Workplace("bad-tables");
    write(*place_ / "flowers.csv", flowers());
    write_idx(*place_);
    write_pngs(*place_);
    IndexImage wide{6, 4, std::vector<std::int16_t>(24, 7)};
    const auto bytes = encode_png(wide, colour_map(ColourMap::kSequential));
    write(*place_ / "wide.png", std::string(bytes.begin(), bytes.end()));
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }
  static Workplace* place_;
};
Workplace* BadTableTest::place_ = nullptr;

TEST_P(BadTableTest, ends_with_2_one_message_and_nothing_written) {
  const Bad& bad = GetParam();
  ASSERT_EQ(place_->shell(std::string("rm -rf t.csv odd bad; cp flowers.csv t.csv; set -e\n") + bad.setup).code, 0);
  const Result r = place_->shell(std::string("locus fit ") + bad.words + " stop.steps=1 --quiet --out new");
  EXPECT_EQ(r.code, 2) << r.out << r.err;
  for (const char* part : bad.says)
    EXPECT_NE(r.err.find(part), std::string::npos) << "missing '" << part << "' in:\n" << r.err;
  EXPECT_EQ(r.err.rfind("error: "), 0u) << r.err;
  for (const char* never : {"terminate", "check failed", ".cpp:", "region", "std::"})
    EXPECT_EQ(r.err.find(never), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(*place_ / "new")) << "something was left behind";
}

INSTANTIATE_TEST_SUITE_P(Cases, BadTableTest, testing::ValuesIn(bad_tables()),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(BadTableCoverageTest, there_are_25_kinds_at_least) { EXPECT_GE(bad_tables().size(), 25u); }

}  // namespace
}  // namespace locus
