// What an encoding is called, and what its row decides.
#include "config/encodings.h"

#include <gtest/gtest.h>

#include "config/run_config.h"

namespace locus {
namespace {

TEST(EncodingRowTest, the_spread_counts_where_numbers_are_drawn_by_it) {
  for (const EncodingRow& row : encoding_rows()) {
    PeConfig pe;
    pe.kind = row.kind;
    EXPECT_EQ(sigma_counts(pe), row.uses("sigma")) << row.name();
    pe.init = PeInit::kZero;
    EXPECT_FALSE(sigma_counts(pe)) << row.name();
  }
}

TEST(EncodingNameTest, one_wording_for_tables_and_reports) {
  RunConfig c;
  c.pe.sigma = 0.1;
  EXPECT_EQ(encoding_name(c), "learned sigma 0.1");
  c.pe.trainable = Trainable::kNo;
  EXPECT_EQ(encoding_name(c), "random sigma 0.1");
  c.pe.init = PeInit::kZero;
  EXPECT_EQ(encoding_name(c), "frozen from zero");
  c.pe.kind = PeKind::kSinusoidal;
  c.pe.positions = PePositions::kGrid;
  EXPECT_EQ(encoding_name(c), "sinusoidal 2-D");
  c.pe.trainable = Trainable::kYes;
  EXPECT_EQ(encoding_name(c), "sinusoidal learnable 2-D");
  c.pe.kind = PeKind::kNone;
  c.model.attention_mask = AttentionMask::kCausal;
  EXPECT_EQ(encoding_name(c), "none, causal");
}

TEST(EncodingNameTest, a_program_names_variants_of_its_own) {
  register_encoding_name([](const RunConfig& c) { return c.pe.sigma == 0.123 ? "my own start" : ""; });
  RunConfig c;
  c.pe.sigma = 0.123;
  EXPECT_EQ(encoding_name(c), "my own start");
  c.pe.sigma = 0.1;
  EXPECT_EQ(encoding_name(c), "learned sigma 0.1");
}

}  // namespace
}  // namespace locus
