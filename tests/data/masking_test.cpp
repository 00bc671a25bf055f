#include "data/masking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"

namespace locus {
namespace {

TokenInfo six_tokens() {
  TokenInfo info;
  info.labels = {0, 0, 1, 1, 2, 2};
  info.hemispheres = {0, 1, 0, 1, 0, 1};
  return info;
}

TEST(MaskingTest, random_masks_hide_the_same_number_and_every_token_alike) {
  MaskConfig c;
  c.ratio = 0.5;
  const Masker masker(c, {}, 7);
  Rng rng(1, "m");
  std::vector<int> hidden(7);
  std::set<std::vector<std::uint8_t>> seen;
  std::vector<std::uint8_t> m(7);
  for (int i = 0; i < 7000; ++i) {
    masker.draw(rng, m.data());
    ASSERT_EQ(std::count(m.begin(), m.end(), 1), 4);
    for (std::size_t t = 0; t < 7; ++t) hidden[t] += m[t];
    seen.insert(m);
  }
  EXPECT_EQ(seen.size(), 35u) << "all 7 over 4 sets occur";
  for (const int h : hidden) EXPECT_NEAR(h / 7000.0, 4.0 / 7, 0.02);
}

TEST(MaskingTest, extreme_ratios_still_hide_one_and_show_one) {
  MaskConfig c;
  Rng rng(1, "m");
  std::vector<std::uint8_t> m(5);
  for (const double ratio : {1e-6, 1 - 1e-6}) {
    c.ratio = ratio;
    Masker(c, {}, 5).draw(rng, m.data());
    const auto hidden = std::count(m.begin(), m.end(), 1);
    EXPECT_EQ(hidden, ratio < 0.5 ? 1 : 4);
  }
  c.count = 3;
  Masker(c, {}, 5).draw(rng, m.data());
  EXPECT_EQ(std::count(m.begin(), m.end(), 1), 3);
  c.count = 5;
  EXPECT_THROW(Masker(c, {}, 5), ConfigError);
  EXPECT_THROW(Masker(MaskConfig{}, {}, 1), DataError);
}

TEST(MaskingTest, whole_networks_and_hemispheres_are_hidden_together) {
  MaskConfig c;
  c.kind = MaskKind::kNetwork;
  Rng rng(2, "m");
  std::vector<std::uint8_t> m(6);
  std::map<std::vector<std::uint8_t>, int> seen;
  const Masker networks(c, six_tokens(), 6);
  for (int i = 0; i < 3000; ++i) {
    networks.draw(rng, m.data());
    ++seen[m];
  }
  ASSERT_EQ(seen.size(), 3u);
  for (const auto& [mask, n] : seen) {
    EXPECT_EQ(mask[0], mask[1]);
    EXPECT_EQ(mask[2], mask[3]);
    EXPECT_NEAR(n, 1000, 120);
  }
  c.kind = MaskKind::kHemisphere;
  Masker(c, six_tokens(), 6).draw(rng, m.data());
  EXPECT_EQ(m[0], m[2]);
  EXPECT_NE(m[0], m[1]);
}

TEST(MaskingTest, kinds_that_lack_their_information_are_errors) {
  MaskConfig c;
  c.kind = MaskKind::kNetwork;
  EXPECT_THROW(Masker(c, {}, 6), ConfigError);
  TokenInfo one = six_tokens();
  one.labels.assign(6, 0);
  EXPECT_THROW(Masker(c, one, 6), ConfigError) << "one network of all tokens hides everything";
  c.kind = MaskKind::kFixed;
  c.tokens = {1, 6};
  EXPECT_THROW(Masker(c, {}, 6), ConfigError);
  c.tokens = {0, 1, 2, 3, 4, 5};
  EXPECT_THROW(Masker(c, {}, 6), ConfigError);
  c.tokens = {1, 4};
  std::vector<std::uint8_t> m(6);
  Rng rng(1, "m");
  Masker(c, {}, 6).draw(rng, m.data());
  EXPECT_EQ(m, (std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0}));
}

TEST(MaskingTest, evaluation_masks_depend_on_seed_and_split_alone) {
  const Masker masker(MaskConfig{}, {}, 20);
  const auto a = evaluation_masks(masker, 5, "test", 30);
  EXPECT_EQ(a, evaluation_masks(masker, 5, "test", 30));
  EXPECT_NE(a, evaluation_masks(masker, 6, "test", 30));
  EXPECT_NE(a, evaluation_masks(masker, 5, "validation", 30));
  const auto longer = evaluation_masks(masker, 5, "test", 40);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), longer.begin())) << "more samples do not change the masks of the first";
}

}  // namespace
}  // namespace locus
