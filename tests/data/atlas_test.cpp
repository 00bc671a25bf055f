#include "data/atlas.h"

#include "core/error.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

using AtlasTest = SeriesFolder;

TEST_F(AtlasTest, columns_are_found_whatever_they_are_called) {
  text("a.csv", "ROI Label,ROI Name,R,A,S\n1,7Networks_LH_Vis_1,-26,-34,-18\n2,7Networks_RH_SomMot_2,30,1,2\n");
  const Atlas a = read_atlas(file("a.csv"));
  EXPECT_EQ(a.names[0], "7Networks_LH_Vis_1");
  EXPECT_EQ(a.networks, (std::vector<std::string>{"Vis", "SomMot"}));
  EXPECT_EQ(a.hemispheres, (std::vector<std::string>{"L", "R"}));
  EXPECT_EQ(a.coordinates(0, 1), -34);
  text("b.tsv", "label\tnetwork_name\tHEMI\tx_mm\ty_mm\tz_mm\nV1\tVisual\tleft\t1\t2\t3\nA1\tAuditory\tright\t4\t5\t6\n");
  const Atlas b = read_atlas(file("b.tsv"));
  EXPECT_EQ(b.names[1], "A1");
  EXPECT_EQ(b.networks[1], "Auditory");
  EXPECT_EQ(b.coordinates(1, 2), 6);
  EXPECT_EQ(b.notes.size(), 1u);
}

TEST_F(AtlasTest, a_label_column_beside_names_is_a_grouping) {
  text("a.csv", "name,label\nx,low\ny,low\nz,high\n");
  const Atlas a = read_atlas(file("a.csv"));
  EXPECT_EQ(a.names, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(a.networks, (std::vector<std::string>{"low", "low", "high"}));
  text("b.csv", "label\nlow\nlow\nhigh\n");
  const Atlas b = read_atlas(file("b.csv"));
  EXPECT_TRUE(b.names.empty());
  EXPECT_EQ(b.networks, a.networks);
}

TEST_F(AtlasTest, regions_without_a_network_are_no_network_of_their_own) {
  text("a.csv", "name,network\nx,low\ny,\nz,n/a\n");
  try {
    read_atlas(file("a.csv"));
    FAIL() << "no error";
  } catch (const DataError& e) {
    EXPECT_EQ(e.parts().what, "2 of 3 regions have no network");
    EXPECT_EQ(e.parts().got, "y, z");
  }
  text("b.csv", "name,network\nx,n/a\ny,n/a\n");
  EXPECT_TRUE(read_atlas(file("b.csv")).networks.empty());
}

TEST_F(AtlasTest, unusable_tables_are_errors) {
  text("a.csv", "foo,bar\n1,2\n3,4\n");
  EXPECT_THROW(read_atlas(file("a.csv")), DataError);
  text("b.csv", "name,network\nx,1\nx,2\n");
  EXPECT_THROW(read_atlas(file("b.csv")), DataError);
  text("c.csv", "name,x,y\nq,1,2\nr,3,4\n");
  EXPECT_THROW(read_atlas(file("c.csv")), DataError);
  text("d.csv", "name,x,y,z\nq,1,2,n/a\nr,3,4,5\n");
  EXPECT_THROW(read_atlas(file("d.csv")), DataError);
  EXPECT_THROW(read_atlas(file("none.csv")), IoError);
}

TEST_F(AtlasTest, mirrored_regions_are_found_by_name_or_by_halves) {
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(homotopic_pairs({"Precentral_L", "Precentral_R", "Insula_R", "Insula_L", "Vermis"}, {}),
            (Pairs{{0, 1}, {3, 2}}));
  EXPECT_EQ(homotopic_pairs({"L_V1_ROI", "L_MT_ROI", "R_V1_ROI", "R_MT_ROI"}, {}), (Pairs{{0, 2}, {1, 3}}));
  EXPECT_EQ(homotopic_pairs({"a", "b", "c", "d"}, {0, 0, 1, 1}), (Pairs{{0, 2}, {1, 3}}));
  EXPECT_TRUE(homotopic_pairs({"a", "b", "c", "d"}, {0, 1, 0, 1}).empty());
  EXPECT_TRUE(homotopic_pairs({"7Networks_LH_Vis_1", "7Networks_RH_Vis_1"}, {}).empty());
  EXPECT_TRUE(homotopic_pairs({"7Networks_LH_Vis_1", "7Networks_RH_Vis_1"}, {0, 1}).empty());
}

}  // namespace
}  // namespace locus
