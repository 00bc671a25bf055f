#include "io/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/table.h"

namespace locus {
namespace {

TEST(CodecTest, every_number_comes_back_from_json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.0, -0.0, 0.1, 1e300, 5e-324, kInfinity, -kInfinity}) {
    for (const Json& json : {Json::parse(json_number(x)), Json::parse(json_value(x).dump())}) {
      const auto back = number_of_json(json);
      ASSERT_TRUE(back) << json.dump();
      EXPECT_EQ(*back, x);
    }
    EXPECT_EQ(std::signbit(*number_of_json(Json::parse(json_number(x)))), std::signbit(x));
  }
  EXPECT_EQ(json_value(std::nan("")).dump(), "\"nan\"");
  EXPECT_TRUE(std::isnan(*number_of_json(Json("nan"))));
  EXPECT_FALSE(number_of_json(Json("1.5"))) << "a text is no number";
  EXPECT_FALSE(number_of_json(Json()));
}

TEST(CodecTest, a_cell_is_quoted_when_a_reader_would_take_it_for_something_else) {
  for (const char* plain : {"", "a", "a b", "1.5", "a#", "ä"}) EXPECT_EQ(csv_field(plain), plain);
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a,b", ';'), "a,b");
  EXPECT_EQ(csv_field("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_field(" a"), "\" a\"") << "blanks at the ends would be trimmed";
  EXPECT_EQ(csv_field("# a"), "\"# a\"");
  const std::vector<std::string> cells = {"# a", " b ", "\xef\xbb\xbf"};
  EXPECT_EQ(parse_table(csv_row(cells), "t.csv", {.delimiter = ',', .header = Presence::kNo}).rows,
            std::vector<std::vector<std::string>>{cells});
}

}  // namespace
}  // namespace locus
