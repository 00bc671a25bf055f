#include "data/series_columns.h"

#include <fmt/core.h>

#include "core/error.h"
#include "data/samples.h"
#include "data/series.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

class SeriesColumnsTest : public SeriesFolder {
 protected:
  // A table with one column before a, b, c.
  SeriesConfig table(const std::string& title, const std::function<std::string(int)>& value, int rows = 30) const {
    std::string content = title + ",a,b,c\n";
    for (int i = 0; i < rows; ++i)
      content += value(i) + "," + std::to_string((i * 7) % 11) + "," + std::to_string((i * 5) % 13) + "," +
                 std::to_string((i * 3) % 7) + "\n";
    text("s1.csv", content);
    SeriesConfig c = config("s1.csv").series;
    c.split_by = SplitBy::kTime;
    return c;
  }
};

TEST_F(SeriesColumnsTest, time_index_and_ids_are_left_out_with_a_word) {
  const auto count = [](int i) { return std::to_string(i); };
  const auto seconds = [](int i) { return std::to_string(0.72 * i); };
  const auto people = [](int i) { return std::to_string(100 + i / 10); };
  const std::vector<std::pair<std::string, std::function<std::string(int)>>> columns = {
      {"time", seconds},   {"t", seconds},         {"index", count},    {"id", count},   {"Unnamed: 0", count},
      {"subject", people}, {"subject_id", people}, {"session", people}, {"Time", count}, {"frame", count}};
  for (const auto& [title, value] : columns) {
    const RegionSeries s = read_series(table(title, value));
    EXPECT_EQ(s.names, (std::vector<std::string>{"a", "b", "c"})) << title;
    const bool said = std::any_of(s.notes.begin(), s.notes.end(), [&, t = title](const auto& n) {
      return n.find("'" + t + "' is left out") != std::string::npos;
    });
    EXPECT_TRUE(said) << title;
  }
}

TEST_F(SeriesColumnsTest, people_in_one_table_are_warned_of) {
  for (const char* form : {"10", "anna"}) {
    const RegionSeries s = read_series(table("subject", [&](int i) { return form + std::to_string(i / 10); }));
    EXPECT_EQ(s.regions(), 3);
    const bool said = std::any_of(s.notes.begin(), s.notes.end(), [](const auto& n) {
      return n.find("3 different values: if these are people") != std::string::npos;
    });
    EXPECT_TRUE(said) << form;
  }
}

TEST_F(SeriesColumnsTest, a_title_that_does_not_fit_its_numbers_is_asked_about_or_kept) {
  const auto noise = [](int i) { return std::to_string((i * 17) % 19) + ".5"; };
  const std::string message = message_of([&] { read_series(table("time", noise)); });
  EXPECT_NE(message.find("is the column 'time' a token?"), std::string::npos) << message;
  EXPECT_NE(message.find("series.skip_columns"), std::string::npos) << message;
  EXPECT_EQ(read_series(table("T", noise)).regions(), 4) << "thymine, say";
  SeriesConfig c = table("time", noise);
  c.skip_columns = {"time"};
  EXPECT_EQ(read_series(c).regions(), 3);
  c.skip_columns = {"none"};
  EXPECT_EQ(read_series(c).regions(), 4);
  c.skip_columns = {"1", "c"};
  EXPECT_EQ(read_series(c).names, (std::vector<std::string>{"a", "b"}));
  c.skip_columns = {"nobody"};
  EXPECT_NE(message_of([&] { read_series(c); }).find("nobody"), std::string::npos);
}

TEST_F(SeriesColumnsTest, a_column_that_counts_is_asked_about_whatever_its_title) {
  for (const char* title : {"gene7", "x"}) {
    const std::string message = message_of([&] { read_series(table(title, [](int i) { return std::to_string(i + 1); })); });
    EXPECT_NE(message.find("like an index or a clock"), std::string::npos) << message;
    EXPECT_NE(message.find(std::string("series.skip_columns='[\"") + title), std::string::npos) << message;
  }
  const auto gaps = [](int i) { return std::to_string(i * i + 3); };
  EXPECT_NE(message_of([&] { read_series(table("gene7", gaps)); }).find("is it a token?"), std::string::npos);
  // Without a header, and in an array.
  std::string content;
  for (int i = 0; i < 30; ++i)
    content += std::to_string(i) + ".0," + std::to_string(i * 7 % 11) + ".5," + std::to_string(i * 5 % 13) + ".5\n";
  text("s2.csv", content);
  SeriesConfig c = config("s2.csv").series;
  c.orientation = Orientation::kTimeByTokens;
  EXPECT_NE(message_of([&] { read_series(c); }).find("column 1"), std::string::npos);
  c.skip_columns = {"1"};
  EXPECT_EQ(read_series(c).regions(), 2);
  MatrixD m = noise(40, 5, 1);
  for (std::ptrdiff_t f = 0; f < 40; ++f) m(f, 2) = 0.72 * static_cast<double>(f);
  save("s3.npy", m);
  EXPECT_NE(message_of([&] { read_series(config("s3.npy").series); }).find("column 3"), std::string::npos);
}

TEST_F(SeriesColumnsTest, naming_one_column_keeps_the_others_out) {
  std::string content = "time,subject_id,dose,a,b\n";
  for (int i = 0; i < 40; ++i)
    content += fmt::format("{},{},{},{},{}\n", 0.5 * i, 7 + i / 20, 3 * i, (i * 7) % 11, (i * 5) % 13);
  text("s1.csv", content);
  SeriesConfig c = config("s1.csv").series;
  c.split_by = SplitBy::kTime;
  EXPECT_NE(message_of([&] { read_series(c); }).find("series.skip_columns='[\"dose\"]'"), std::string::npos);
  c.skip_columns = {"dose"};
  EXPECT_EQ(read_series(c).names, (std::vector<std::string>{"a", "b"}));
  c.skip_columns = {"none", "dose"};
  EXPECT_EQ(read_series(c).names, (std::vector<std::string>{"time", "subject_id", "a", "b"}));
}

TEST_F(SeriesColumnsTest, a_first_column_of_regions_says_that_rows_are_tokens) {
  for (const char* form : {"area", "20"}) {
    for (const char* title : {"region", "roi_id", "channel"}) {
      std::string content = std::string(title);
      for (int f = 0; f < 30; ++f) content += ",t" + std::to_string(f);
      for (int t : {3, 1, 2}) {
        content += "\n" + std::string(form) + std::to_string(t);
        for (int f = 0; f < 30; ++f) content += "," + std::to_string(t * 100 + f * (t + 6) % 29) + ".5";
      }
      text("s1.csv", content + "\n");
      const RegionSeries s = read_series(config("s1.csv").series);
      EXPECT_TRUE(s.runs[0].tokens_are_rows) << title;
      EXPECT_EQ(s.names[1], form + std::string("1")) << title;
      EXPECT_EQ(s.runs[0].frames.rows(), 30) << title;
      EXPECT_EQ(s.runs[0].frames(0, 0), 300.5) << title;
    }
  }
}

TEST_F(SeriesColumnsTest, totals_are_data) {
  MatrixD m(40, 3);
  for (std::ptrdiff_t f = 1; f < 40; ++f) {
    for (std::ptrdiff_t t = 0; t < 3; ++t) m(f, t) = m(f - 1, t) + 1 + static_cast<double>((f * (t + 4)) % 7);
  }
  save("s1.npy", m);
  SeriesConfig c = config("s1.npy").series;
  c.orientation = Orientation::kTimeByTokens;
  EXPECT_EQ(read_series(c).regions(), 3);
}

TEST_F(SeriesColumnsTest, a_column_that_the_atlas_lists_is_a_token) {
  text("atlas.csv", "name,network\na,1\nb,1\nc,2\ntime,2\n");
  SeriesConfig c = table("time", [](int i) { return std::to_string((i * 17) % 19); });
  c.atlas = file("atlas.csv");
  EXPECT_EQ(read_series(c).regions(), 4);
}

TEST_F(SeriesColumnsTest, counts_under_a_header_of_years_are_not_a_sample) {
  std::string content = "1990,1991,1992,1993\n";
  for (int i = 0; i < 30; ++i)
    content += std::to_string(i * 7 % 11) + "," + std::to_string(i * 5 % 13) + "," + std::to_string(i * 3 % 7) + "," +
               std::to_string(i * 2 % 9) + "\n";
  text("s1.csv", content);
  SeriesConfig c = config("s1.csv").series;
  const RegionSeries s = read_series(c);
  EXPECT_EQ(s.names, (std::vector<std::string>{"1990", "1991", "1992", "1993"}));
  EXPECT_EQ(s.runs[0].frames.rows(), 30);
  c.header = HeaderRow::kNo;
  EXPECT_EQ(read_series(c).runs[0].frames.rows(), 31);
}

}  // namespace
}  // namespace locus
