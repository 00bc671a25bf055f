#include "data/fmri_check.h"

#include "core/error.h"
#include "data/datasets.h"
#include "data/samples.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

class FmriCheckTest : public SeriesFolder {
 protected:
  // Left regions 0..2 and right regions 3..5 that share a signal with their mirror image.
  void save_mirrored(const std::string& name, std::uint64_t seed) const {
    MatrixD m = noise(200, 6, seed);
    const MatrixD shared = noise(200, 3, seed + 100);
    for (std::ptrdiff_t f = 0; f < 200; ++f) {
      for (std::ptrdiff_t t = 0; t < 6; ++t) m(f, t) += 3 * shared(f, t % 3);
    }
    save(name, m);
  }
};

TEST_F(FmriCheckTest, reports_shapes_networks_and_mirrored_regions) {
  save_mirrored("s1.npy", 1);
  save_mirrored("s2.npy", 2);
  text("atlas.csv", "name,network,hemisphere\nL_a,p,L\nL_b,q,L\nL_c,q,L\nR_a,p,R\nR_b,q,R\nR_c,q,R\n");
  SeriesConfig c = config("s*.npy").series;
  c.atlas = file("atlas.csv");
  const FmriReport r = check_fmri(c);
  EXPECT_EQ(r.subjects, 2);
  EXPECT_EQ(r.runs[0].frames, 200);
  EXPECT_EQ(r.regions, 6);
  EXPECT_EQ(r.networks, 2);
  EXPECT_EQ(r.homotopic_pairs, 3);
  EXPECT_GT(r.homotopic, r.other_interhemispheric + 0.2);
  EXPECT_GT(r.runs[0].autocorrelation, 0.5);
  EXPECT_TRUE(r.ok());
  const std::string text = to_text(r);
  EXPECT_NE(text.find("homotopic"), std::string::npos);
  EXPECT_NE(text.find("every region in every run"), std::string::npos);
}

TEST_F(FmriCheckTest, defects_are_listed_instead_of_thrown) {
  MatrixD m = noise(50, 4, 1);
  for (std::ptrdiff_t f = 0; f < 50; ++f) m(f, 2) = 7;
  m(3, 0) = std::nan("");
  save("s1.npy", m);
  const FmriReport r = check_fmri(config("s1.npy").series);
  EXPECT_EQ(r.regions, 2);
  EXPECT_EQ(r.all_regions, 4);
  EXPECT_EQ(r.runs[0].defects, 2);
  EXPECT_FALSE(r.ok());
  EXPECT_NE(to_text(r).find("region003 is constant"), std::string::npos);
  EXPECT_NE(to_text(r).find("1 of 50 frames"), std::string::npos);
}

TEST_F(FmriCheckTest, a_swapped_orientation_is_warned_of) {
  save("s1.npy", noise(100, 20, 1));
  SeriesConfig c = config("s1.npy").series;
  EXPECT_TRUE(check_fmri(c).warnings.empty());
  c.orientation = Orientation::kTokensByTime;
  const FmriReport r = check_fmri(c);
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_NE(to_text(r).find("swapped"), std::string::npos) << to_text(r);
}

TEST_F(FmriCheckTest, a_users_csv_becomes_samples_named_by_its_header) {
  const MatrixD m = noise(500, 30, 1);
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("gene" + std::to_string(i));
  write_csv(file("samples.csv"), names, m.view());
  std::string labels = "name,label\n";
  for (int i = 29; i >= 0; --i) labels += "gene" + std::to_string(i) + "," + (i < 10 ? "low" : "high") + "\n";
  text("labels.csv", labels);
  const RunConfig c = samples_config({.path = file("samples.csv"), .labels = "", .dataset = "", .random_split = false});
  EXPECT_NO_THROW(validate(c));
  const Dataset d = make_dataset(c);
  EXPECT_EQ(d.name, "samples");
  EXPECT_EQ(d.tokens_info.names, names);
  EXPECT_EQ(d.split("test").count, 100);
  EXPECT_EQ(d.split("validation").count, 40);
  EXPECT_EQ(d.split("train").count, 360);
  const RunConfig labelled =
      samples_config({.path = file("samples.csv"), .labels = file("labels.csv"), .dataset = "", .random_split = true});
  const Dataset e = make_dataset(labelled);
  EXPECT_EQ(e.tokens_info.names[0], "gene29") << "the labels' order is the tokens' order";
  EXPECT_EQ(e.tokens_info.label_names.size(), 2u);
  write_csv(file("few.csv"), names, noise(10, 30, 1).view());
  EXPECT_THROW(make_dataset(samples_config({.path = file("few.csv"), .labels = "", .dataset = "", .random_split = false})),
               DataError);
}

}  // namespace
}  // namespace locus
