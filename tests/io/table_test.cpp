#include "io/table.h"

#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "io/codec.h"
#include "io/file.h"
#include "tests/io/support.h"

namespace locus {
namespace {

using io_test::error_text;
using io_test::Scratch;
using Rows = std::vector<std::vector<std::string>>;

TEST(TableTest, quotes_line_ends_and_byte_order_mark) {
  const Table table = parse_table("\xef\xbb\xbf name ,note\r\n\"a\"\"b\",\"x, y\r\nz\"\r\n\r\n  plain  ,\r", "t.csv");
  EXPECT_EQ(table.header, (std::vector<std::string>{"name", "note"}));
  EXPECT_EQ(table.rows, (Rows{{"a\"b", "x, y\r\nz"}, {"plain", ""}}));
  EXPECT_EQ(table.lines, (std::vector<std::int64_t>{2, 5}));
}

TEST(TableTest, delimiter_comes_from_the_name_and_the_first_line) {
  EXPECT_EQ(parse_table("a\tb,c\n1\t2\n", "t.tsv").columns(), 2u);
  EXPECT_EQ(parse_table("a;b\n1,5;2\n", "t.csv").columns(), 2u);
  EXPECT_EQ(parse_table("a,b c,d\n", "t.csv").columns(), 3u);
  EXPECT_EQ(parse_table("first name\nx y\n", "t.csv").columns(), 1u);
  EXPECT_EQ(parse_table("  1  2 3 \n 4 5\t6\n", "t.txt").rows, (Rows{{"1", "2", "3"}, {"4", "5", "6"}}));
  EXPECT_EQ(parse_table("a|b\n1|2\n", "t.csv", {.delimiter = '|'}).columns(), 2u);
}

TEST(TableTest, header_is_recognised_and_can_be_forced) {
  EXPECT_TRUE(parse_table("1,2\n3,4\n", "t.csv").header.empty());
  EXPECT_TRUE(parse_table("s1,2\ns2,4\n", "t.csv").header.empty()) << "row names without header";
  EXPECT_EQ(parse_table("id,2\n1,4\n", "t.csv").header.size(), 2u);
  EXPECT_EQ(parse_table("x,y\nn/a,4\n", "t.csv").header.size(), 2u);
  EXPECT_TRUE(parse_table("n/a,2\n3,4\n", "t.csv").header.empty());
  EXPECT_EQ(parse_table(",0,1\n0,2,3\n", "t.csv").header.size(), 3u);
  EXPECT_EQ(parse_table("1,2\n3,4\n", "t.csv", {.header = Presence::kYes}).rows.size(), 1u);
  EXPECT_EQ(parse_table("x,y\n", "t.csv", {.header = Presence::kNo}).rows.size(), 1u);
}

TEST(TableTest, whole_numbers_above_others_are_names) {
  EXPECT_EQ(parse_numeric_table("0,1,2\n0.5,1.5,2.5\n", "t.csv").column_names, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(parse_numeric_table("7,19,4\n.5,2,1e-3\n", "t.csv").values.rows(), 1);
  // Samples of whole numbers, repeated numbers, and a few columns say nothing.
  for (const char* text : {"1,2,3\n4,5,6\n", "1,1,3\n.5,.5,.5\n", "1,2\n.5,.5\n", "1.5,2.5,3.5\n.5,.5,.5\n"})
    EXPECT_EQ(parse_numeric_table(text, "t.csv").values.rows(), 2) << text;
}

TEST(TableTest, a_header_of_numbers_over_counts_is_told_from_a_sample_or_asked_about) {
  const std::string body = "12,15,9\n3,40,7\n8,8,11\n20,1,2\n5,6,3\n0,2,9\n";
  const auto rows = [&](const std::string& first) {
    return parse_numeric_table(first + "\n" + body, "t.csv").values.rows();
  };
  EXPECT_EQ(rows("1990,1991,1992"), 6) << "years";
  EXPECT_EQ(rows("1990,1995,2007"), 6) << "years with gaps";
  EXPECT_EQ(rows("7,19,4"), 7) << "a sample like the others";
  EXPECT_EQ(rows("4,4,6"), 7) << "names differ";
  const std::string wide = "3,1,4,1,5\n9,2,6,5,3\n5,8,9,7,9\n";
  EXPECT_EQ(parse_numeric_table("0,1,2,3,4\n" + wide, "t.csv").values.rows(), 3) << "pandas";
  EXPECT_EQ(parse_numeric_table("2,0,1,3,4\n" + wide, "t.csv").values.rows(), 4);
  EXPECT_EQ(parse_numeric_table("0,1,2\n3,4,5\n6,7,8\n", "t.csv").values.rows(), 3) << "every row rises";
  for (const char* doubtful : {"1,2,3", "101,205,309", "10,20,30"}) {
    const std::string message = error_text([&] { rows(doubtful); });
    EXPECT_NE(message.find("series.header"), std::string::npos) << doubtful << message;
  }
  const std::string text = "1,2,3\n" + body;
  EXPECT_EQ(parse_numeric_table(text, "t.csv", {.table = {.header = Presence::kYes}}).values.rows(), 6);
  EXPECT_EQ(parse_numeric_table(text, "t.csv", {.table = {.header = Presence::kNo}}).values.rows(), 7);
  // The first sample may be whole by chance.
  EXPECT_EQ(parse_numeric_table(
                "4,2,7\n1,2,3\n.5,1.5,2\n.5,3.5,1\n.25,.5,.75\n2.5,1,1\n3,.5,.5\n1,.5,2\n1,0.1,2\n4,1,.5\n3,3,.5\n", "t.csv")
                .column_names.size(),
            3u);
}

TEST(TableTest, comments_stand_before_the_first_row_and_the_last_may_be_its_header) {
  const NumericTable saved = parse_numeric_table("# a,b,c\n1,2,3\n4,5,6\n", "t.csv");  // numpy.savetxt(header="a,b,c")
  EXPECT_EQ(saved.column_names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(saved.values.rows(), 2);
  const NumericTable blanks = parse_numeric_table("# made by x, y\n#\n#   \n  # left  right\n 1  2\n 3  4\n", "t.1D");
  EXPECT_EQ(blanks.column_names, (std::vector<std::string>{"left", "right"}));
  const NumericTable afni = parse_numeric_table("# a comment; and more\n\n 1  2\n 3  4\n", "t.1D");
  EXPECT_TRUE(afni.column_names.empty());
  EXPECT_EQ(afni.values(1, 1), 4.0);
  EXPECT_EQ(parse_numeric_table("# 2 3 1\n1 2 3\n4 5 6\n", "t.txt").values.rows(), 2) << "sizes are no sample";
  EXPECT_EQ(parse_numeric_table("#1\t#2\n1\t2\n", "t.1D").column_names, (std::vector<std::string>{"#1", "#2"}));
  EXPECT_EQ(parse_table("# only\n# this\n", "t.csv").rows.size(), 0u);
  const std::string late = error_text([] { parse_numeric_table("# x\n1,2\n# 3,4\n", "t.csv"); });
  EXPECT_NE(late.find("t.csv:3"), std::string::npos) << late;
}

TEST(TableTest, numbers_names_and_missing_values) {
  const NumericTable t = parse_numeric_table("a,b,c\n1,n/a,-2.5e3\n,NaN,+4\ninf,-Inf,NA\n", "t.csv");
  EXPECT_EQ(t.column_names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(t.row_names.empty());
  EXPECT_EQ(t.values(0, 2), -2500.0);
  EXPECT_TRUE(std::isnan(t.values(0, 1)) && std::isnan(t.values(1, 0)) && std::isnan(t.values(1, 1)));
  EXPECT_EQ(t.values(1, 2), 4.0);
  EXPECT_EQ(t.values(2, 0), HUGE_VAL);
  EXPECT_EQ(t.values(2, 1), -HUGE_VAL);
  EXPECT_EQ(parse_cell("1e999"), HUGE_VAL);
  EXPECT_EQ(parse_cell("-1e-999"), -0.0);
  for (const char* text : {"abc", "1x", "1,5", "--1", "+-1", "0x10", "1 2", "-", "+"})
    EXPECT_FALSE(parse_cell(text)) << text;
}

TEST(TableTest, row_names_by_empty_header_short_header_or_text) {
  for (const char* text : {"\"\",x,y\nr1,1,2\nr2,3,4\n", "x,y\nr1,1,2\nr2,3,4\n", "id,x,y\nr1,1,2\nr2,3,4\n"}) {
    const NumericTable t = parse_numeric_table(text, "t.csv");
    EXPECT_EQ(t.row_names, (std::vector<std::string>{"r1", "r2"})) << text;
    EXPECT_EQ(t.column_names, (std::vector<std::string>{"x", "y"})) << text;
    EXPECT_EQ(t.values(1, 1), 4.0);
  }
  const NumericTable pandas = parse_numeric_table(",x\n0,1\n1,2\n", "t.csv");
  EXPECT_EQ(pandas.row_names, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(pandas.values.cols(), 1);
  const NumericTable none = parse_numeric_table("s1,1,2\ns2,3,4\n", "t.csv");
  EXPECT_EQ(none.row_names, (std::vector<std::string>{"s1", "s2"}));
  EXPECT_EQ(none.values.rows(), 2);
  EXPECT_THROW(parse_numeric_table("id,x\nr1,1\n", "t.csv", {.row_names = Presence::kNo}), DataError);
}

TEST(TableTest, columns_are_chosen_by_name) {
  const char* text = "index,name,x,y\n1,A,0.5,2\n2,B,1.5,3\n";
  const NumericTable t = parse_numeric_table(text, "t.csv", {.columns = {"y", "index"}});
  EXPECT_EQ(t.column_names, (std::vector<std::string>{"y", "index"}));
  EXPECT_EQ(t.values.values(), (std::vector<double>{2, 1, 3, 2}));
  EXPECT_NE(error_text([&] { parse_numeric_table(text, "t.csv", {.columns = {"indx"}}); }).find("did you mean index"),
            std::string::npos);
}

TEST(TableTest, complaints_name_line_column_and_text) {
  const std::string number = error_text([] { parse_numeric_table("a,b\n1,2\n\n3,oops\n", "t.csv"); });
  EXPECT_NE(number.find("t.csv:4, column 2 (b)"), std::string::npos) << number;
  EXPECT_NE(number.find("'oops'"), std::string::npos) << number;
  const std::string first = error_text([] { parse_numeric_table("a,b\n1,2\nx,3\n", "t.csv"); });
  EXPECT_NE(first.find("t.csv:3, column 1 (a)"), std::string::npos) << first;
  const std::string ragged = error_text([] { parse_numeric_table("a,b\n1,2\n3\n", "t.csv"); });
  EXPECT_NE(ragged.find("t.csv:3"), std::string::npos) << ragged;
  EXPECT_NE(ragged.find("1 cells"), std::string::npos) << ragged;
  EXPECT_THROW(parse_table("a,b\n1,2,3\n", "t.csv"), DataError);
  const std::string quote = error_text([] { parse_table("a\n\"open\nmore\n", "t.csv"); });
  EXPECT_NE(quote.find("t.csv:2"), std::string::npos) << quote;
  EXPECT_THROW(parse_table("\"a\"b,c\n", "t.csv"), IoError);
  EXPECT_THROW(parse_table(std::string_view("a\0b", 3), "t.csv"), IoError);
  EXPECT_THROW(parse_table("\xff\xfe"
                           "a",
                           "t.csv"),
               IoError);
  EXPECT_THROW(parse_numeric_table("", "t.csv"), DataError);
  EXPECT_THROW(parse_numeric_table("a,b\n", "t.csv"), DataError);
  EXPECT_NE(error_text([] { parse_numeric_table("a;b\n1,5;2\n", "t.csv"); }).find("decimal point"), std::string::npos);
}

TEST(TableTest, any_text_survives_writing_and_reading) {
  const Scratch scratch;
  Rng rng(7, "table");
  const std::string letters = "ab\",\n\r \t;1#";
  for (int round = 0; round < 200; ++round) {
    const std::size_t width = 1 + rng.below(4);
    Rows rows(1 + rng.below(5), std::vector<std::string>(width));
    for (auto& row : rows) {
      for (std::string& cell : row) {
        for (std::uint32_t n = rng.below(6); n > 0; --n)
          cell += letters[rng.below(static_cast<std::uint32_t>(letters.size()))];
      }
    }
    std::string text;
    for (const auto& row : rows) text += csv_row(row);
    ASSERT_EQ(parse_table(text, "t.csv", {.delimiter = ',', .header = Presence::kNo}).rows, rows) << text;
  }
}

TEST(TableTest, numbers_survive_writing_and_reading_exactly) {
  const Scratch scratch;
  Rng rng(3, "table");
  MatrixD m(20, 7);
  for (double& v : m.values()) v = rng.normal() * std::pow(10.0, static_cast<int>(rng.below(600)) - 300);
  m(3, 3) = std::nan("");
  const std::vector<std::string> columns = {"a", "b", "c \"q\"", "d,e", "f", "g", "h"};
  std::vector<std::string> rows;
  for (int i = 0; i < 20; ++i) rows.push_back("r" + std::to_string(i));
  write_csv(scratch / "m.csv", columns, m.view(), rows);
  const NumericTable t = read_numeric_table(scratch / "m.csv");
  EXPECT_EQ(t.column_names, columns);
  EXPECT_EQ(t.row_names, rows);
  EXPECT_TRUE(std::isnan(t.values(3, 3)));
  m(3, 3) = 0;
  MatrixD got = t.values;
  got(3, 3) = 0;
  EXPECT_EQ(got, m);
}

}  // namespace
}  // namespace locus
