#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "data/latin/csv.h"
#include "data/latin/solver.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

const std::string kHeader = "ID,LST_num,condition,puzzles,solutions\n";
// Row 1 lacks 2 only; column 1 and row 1 of the others leave it open: a binary puzzle with answer 2.
const std::string kGood = "0,,Binary,1345000000000000,2\n";

std::string shared_file(const std::string& name) { return locus::test::shared_data() + "/lst/" + name; }

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class AuthorsFile : public testing::TestWithParam<const char*> {};

TEST_P(AuthorsFile, agrees_with_the_solver_and_round_trips_byte_for_byte) {
  const std::string path = shared_file(GetParam());
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no published puzzle files at " << path;
  const LatinCsv csv = read_latin_csv(path);
  EXPECT_EQ(csv.puzzles.size(), std::string(GetParam()) == "puzzle_data_original.csv" ? 108U : 3000U);
  EXPECT_EQ(format_latin_csv(csv), bytes_of(path));
  const CsvReport report = check_latin_csv(path);
  EXPECT_EQ(report.rows, csv.puzzles.size());
  EXPECT_EQ(report.n, 4);
  EXPECT_TRUE(report.issues.empty());
}

INSTANTIATE_TEST_SUITE_P(All, AuthorsFile,
                         testing::Values("generated_puzzle_data_binary_dist80.csv",
                                         "generated_puzzle_data_ternary_dist80.csv",
                                         "generated_puzzle_data_quaternary_dist80.csv", "puzzle_data_original.csv"));

TEST(AuthorsHeldout, items_are_quarter_turns_with_symbols_moved_on) {
  const std::string path = shared_file("puzzle_data_original.csv");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no published puzzle files at " << path;
  const LatinCsv csv = read_latin_csv(path);
  for (std::size_t i = 0; i < csv.puzzles.size(); ++i) {
    const int turn = static_cast<int>(i % 3);
    EXPECT_EQ(csv.puzzles[i], rotate_puzzle(csv.puzzles[i - i % 3], turn, turn)) << "row " << i;
    EXPECT_EQ(csv.numbers[i], std::to_string(i / 3 + 1));
  }
}

struct BadCase {
  const char* name;
  std::string text;
  int line;
  const char* says;  // part of the description
};

class BadCsv : public testing::TestWithParam<BadCase> {};

TEST_P(BadCsv, is_refused_with_line_and_reason) {
  const BadCase& c = GetParam();
  const CsvReport report = check_latin_csv_text(c.text, "bad.csv");
  ASSERT_FALSE(report.issues.empty());
  EXPECT_EQ(report.issues[0].line, c.line);
  EXPECT_NE(describe(report.issues[0]).find(c.says), std::string::npos) << describe(report.issues[0]);
  try {
    parse_latin_csv(c.text, "bad.csv");
    ADD_FAILURE() << "no error";
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("bad.csv:" + std::to_string(c.line)), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCsv,
    testing::Values(BadCase{"empty", "", 1, "empty"}, BadCase{"only_bom", "\xEF\xBB\xBF\n", 1, "empty"},
                    BadCase{"header_only", kHeader, 1, "no puzzles"},
                    BadCase{"missing_column", "ID,LST_num,condition,puzzles\n0,,Binary,1345000000000000\n", 1,
                            "column solutions is missing"},
                    BadCase{"fifteen_digits", kHeader + kGood + "1,,Binary,134500000000000,2\n", 3, "15"},
                    BadCase{"seventeen_digits", kHeader + kGood + "1,,Binary,13450000000000000,2\n", 3, "17"},
                    BadCase{"fifteen_digits_alone", kHeader + "1,,Binary,134500000000000,2\n", 2, "15"},
                    BadCase{"symbol_seven", kHeader + kGood + "1,,Binary,1375000000000000,2\n", 3, "'7' in row 1, column 3"},
                    BadCase{"letter", kHeader + kGood + "1,,Binary,13x5000000000000,2\n", 3, "no digit"},
                    BadCase{"two_targets", kHeader + kGood + "1,,Binary,1345500000000000,2\n", 3, "more than one target"},
                    BadCase{"no_target", kHeader + kGood + "1,,Binary,1340000000000000,2\n", 3, "no target"},
                    BadCase{"clash_in_row", kHeader + kGood + "1,,Binary,1335000000000000,2\n", 3, "Row 1 holds 3 twice"},
                    BadCase{"clash_in_column", kHeader + "1,,Binary,1345100000000000,2\n", 2, "Column 1 holds 1 twice"},
                    BadCase{"no_full_grid", kHeader + "1,,Binary,1345000200000000,2\n", 2, "No symbol fits row 1, column 4"},
                    BadCase{"wrong_solution", kHeader + kGood + "1,,Binary,1345000000000000,3\n", 3,
                            "the solution is wrong (got 3; expected 2)"},
                    BadCase{"no_solution", kHeader + "1,,Binary,1345000000000000,\n", 2, "got nothing"},
                    BadCase{"wrong_condition", kHeader + "1,,Ternary,1345000000000000,2\n", 2, "expected Binary"},
                    BadCase{"unknown_condition", kHeader + "1,,Easy,1345000000000000,2\n", 2, "unknown condition"},
                    BadCase{"several_answers", kHeader + "1,,Binary,1305000000000000,2\n", 2, "2 or 4"},
                    BadCase{"few_fields", kHeader + "1,,Binary\n", 2, "wrong number of fields"},
                    BadCase{"blank_line_inside", kHeader + "\n" + kGood, 2, "empty line"},
                    BadCase{"other_size", kHeader + kGood + "1,,Binary,120000004,3\n", 3, "16 digits, as in the rest"},
                    BadCase{"scientific", kHeader + kGood + "1,,Binary,1.345E+15,2\n", 3, "rounded number"},
                    BadCase{"zeros_stripped", kHeader + "0,,Binary,0000134500000000,2\n1,,Binary,134500000000,2\n", 3,
                            "padded it would read 0000134500000000"}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST(LatinCsvTest, reads_what_other_programs_write) {
  const LatinCsv plain = parse_latin_csv(kHeader + "7,3,Binary,1345000000000000,2\n", "a");
  EXPECT_EQ(parse_latin_csv("\xEF\xBB\xBFID,LST_num,condition,puzzles,solutions\r\n7,3,Binary,1345000000000000,2\r\n", "b")
                .puzzles,
            plain.puzzles);
  EXPECT_EQ(parse_latin_csv("ID,LST_num,condition,puzzles,solutions\n7,3,Binary,1345000000000000,2", "c").puzzles,
            plain.puzzles);
  EXPECT_EQ(parse_latin_csv(kHeader + "7,3,Binary,\"1345000000000000\",2\n\n", "d").puzzles, plain.puzzles);
  EXPECT_EQ(parse_latin_csv("puzzles,solutions,extra,condition,ID,LST_num\n1345000000000000,2,x,binary,7,3\n", "e").puzzles,
            plain.puzzles);
  EXPECT_EQ(format_latin_csv(plain), kHeader + "7,3,Binary,1345000000000000,2\n");
}

TEST(LatinCsvTest, reports_every_issue_and_counts_the_good_rows) {
  const std::string text = kHeader + kGood + "1,,Binary,1345000000000000,3\n" + kGood + "3,,Binary,1355000000000000,3\n";
  const CsvReport report = check_latin_csv_text(text, "x");
  EXPECT_EQ(report.rows, 4U);
  ASSERT_EQ(report.issues.size(), 2U);
  EXPECT_EQ(report.issues[0].line, 3);
  EXPECT_EQ(report.issues[1].line, 5);
  EXPECT_EQ(report.per_difficulty[0], 2U);
}

TEST(LatinCsvTest, a_missing_file_is_an_io_error) { EXPECT_THROW(read_latin_csv("/nonexistent/x.csv"), IoError); }

}  // namespace
}  // namespace locus
