#include "data/atlas_match.h"

#include "core/error.h"
#include "data/series.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

using Order = std::vector<std::int64_t>;
using AtlasMatchTest = SeriesFolder;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(AtlasMatchTest, tokens_are_matched_by_the_column_that_holds_their_names_whatever_it_is_called) {
  for (const char* title :
       {"channel", "electrode", "gene", "variable", "feature", "names", "name", "Region", "my tokens", ""}) {
    text("a.csv", std::string(title) + ",network\nC,third\nA,first\nB,second\n");
    const TokenMatch m = match_to_atlas(read_atlas(file("a.csv")), {{"f.csv", {"A", "b ", "C"}, 3}});
    EXPECT_EQ(m.position, (std::vector<Order>{{2, 0, 1}})) << title;
    EXPECT_EQ(m.names, (std::vector<std::string>{"C", "A", "B"})) << title;
  }
}

TEST_F(AtlasMatchTest, a_table_without_the_names_is_refused_unless_it_can_have_none) {
  text("a.csv", "channel,network\nFz,f\nCz,c\nPz,p\n");
  const Atlas other = read_atlas(file("a.csv"));
  const std::vector<TokenAxis> files = {{"f.csv", {"A", "B", "C"}, 3}};
  const std::string message = message_of([&] { match_to_atlas(other, files); });
  EXPECT_NE(message.find("no column of the atlas holds the names"), std::string::npos) << message;
  EXPECT_NE(message.find("channel: Fz"), std::string::npos) << message;
  EXPECT_NE(message.find("series.match=order"), std::string::npos) << message;
  EXPECT_EQ(match_to_atlas(other, files, {.column = "", .by_order = true}).position, (std::vector<Order>{{0, 1, 2}}));
  text("b.csv", "label\nlow\nlow\nhigh\n");
  const TokenMatch by_row = match_to_atlas(read_atlas(file("b.csv")), files);
  EXPECT_EQ(by_row.position, (std::vector<Order>{{0, 1, 2}}));
  ASSERT_EQ(by_row.notes.size(), 1u);
  EXPECT_NE(by_row.notes[0].find("region i is taken to be row i"), std::string::npos) << by_row.notes[0];
  EXPECT_NE(message_of([&] { match_to_atlas(read_atlas(file("b.csv")), {{"f", {"A", "B"}, 2}}); }), "");
  text("c.csv", "channel,network\nA,f\nB,c\nX,p\n");
  EXPECT_NE(message_of([&] { match_to_atlas(read_atlas(file("c.csv")), files); }).find("1 of 3 regions of the file"),
            std::string::npos);
}

TEST_F(AtlasMatchTest, a_name_that_stands_twice_is_an_error_in_atlas_and_file) {
  for (const char* title : {"region", "electrode"}) {
    text("a.csv", std::string(title) + ",network\nA,1\nB,2\nC,3\nA,4\n");
    const std::string message = message_of([&] { match_to_atlas(read_atlas(file("a.csv")), {{"f", {"A", "B", "C"}, 3}}); });
    EXPECT_NE(message.find("stands twice in the atlas"), std::string::npos) << message;
  }
  text("a.csv", "region,network\nA,1\nB,2\n");
  EXPECT_NE(message_of([&] {
              match_to_atlas(read_atlas(file("a.csv")), {{"f", {"A", "B", "a"}, 3}});
            }).find("twice"),
            std::string::npos);
  EXPECT_NE(message_of([&] { match_to_each_other({{"f", {"A", "B", "a"}, 3}}); }).find("twice"), std::string::npos);
}

TEST_F(AtlasMatchTest, ids_are_matched_by_value_in_every_file) {
  text("a.csv", "code,name,network\n2001,left,x\n2102,right,y\n2201,mid,z\n");
  const Atlas atlas = read_atlas(file("a.csv"));
  const TokenMatch m = match_to_atlas(atlas, {{"f", {"2201", "2001", "2102"}, 3}, {"g", {"2102.0", "2201", "2001"}, 3}});
  EXPECT_EQ(m.position, (std::vector<Order>{{1, 2, 0}, {2, 0, 1}}));
  EXPECT_EQ(m.names, (std::vector<std::string>{"left", "right", "mid"})) << "words are the better names";
  const TokenMatch each = match_to_each_other({{"f", {"7", "3", "5"}, 3}, {"g", {"3", "5", "7"}, 3}});
  EXPECT_EQ(each.position, (std::vector<Order>{{0, 1, 2}, {2, 0, 1}}));
  EXPECT_NE(message_of([&] { match_to_each_other({{"f", {"7", "3", "5"}, 3}, {"g", {"3", "5", "8"}, 3}}); }), "");
}

TEST_F(AtlasMatchTest, numbers_that_only_count_go_by_the_index_column_else_by_row) {
  text("a.csv", "index,name,network\n3,C,z\n1,A,x\n2,B,y\n");
  const Atlas shuffled = read_atlas(file("a.csv"));
  for (const auto& names : {std::vector<std::string>{}, {"0", "1", "2"}, {"1", "2", "3"}})
    EXPECT_EQ(match_to_atlas(shuffled, {{"f", names, 3}}).position, (std::vector<Order>{{2, 0, 1}}));
  EXPECT_EQ(match_to_atlas(shuffled, {{"f", {"2", "0", "1"}, 3}}).position, (std::vector<Order>{{0, 1, 2}}));
  text("b.csv", "name,network\nA,x\nB,y\nC,z\n");
  EXPECT_EQ(match_to_atlas(read_atlas(file("b.csv")), {{"f", {"2", "0", "1"}, 3}}).position,
            (std::vector<Order>{{1, 2, 0}}));
  text("c.csv", "rank,name,network\n2,A,x\n0,B,y\n1,C,z\n");
  const std::string doubt = message_of([&] { match_to_atlas(read_atlas(file("c.csv")), {{"f", {"0", "1", "2"}, 3}}); });
  EXPECT_NE(doubt.find("series.atlas_names"), std::string::npos) << doubt;
  EXPECT_EQ(match_to_atlas(read_atlas(file("c.csv")), {{"f", {"0", "1", "2"}, 3}}, {.column = "rank"}).position,
            (std::vector<Order>{{2, 0, 1}}));
  text("d.csv", "index,roi,network\n1,2,x\n2,1,y\n3,3,z\n");
  EXPECT_NE(message_of([&] {
              match_to_atlas(read_atlas(file("d.csv")), {{"f", {}, 3}});
            }).find("number them differently"),
            std::string::npos);
}

TEST_F(AtlasMatchTest, files_without_names_beside_files_with_names_need_a_certain_order) {
  text("a.csv", "name,network\nA,x\nB,y\n");
  const Atlas atlas = read_atlas(file("a.csv"));
  EXPECT_EQ(match_to_atlas(atlas, {{"f", {"A", "B"}, 2}, {"g", {}, 2}}).position, (std::vector<Order>{{0, 1}, {0, 1}}));
  EXPECT_NE(message_of([&] {
              match_to_atlas(atlas, {{"f", {"B", "A"}, 2}, {"g", {}, 2}});
            }).find("another order"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              match_to_each_other({{"f", {"B", "A"}, 2}, {"g", {}, 2}});
            }).find("series.match=order"),
            std::string::npos);
}

TEST_F(AtlasMatchTest, a_missing_region_is_minus_one) {
  text("a.csv", "name,network\nA,x\nB,y\nC,z\n");
  EXPECT_EQ(match_to_atlas(read_atlas(file("a.csv")), {{"f", {"C", "A"}, 2}}).position, (std::vector<Order>{{1, -1, 0}}));
}

}  // namespace
}  // namespace locus
