// Which instruction sets can be used, and which names are refused.
#include "core/isa.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace locus {
namespace {

bool holds(std::span<const Isa> list, Isa isa) { return std::find(list.begin(), list.end(), isa) != list.end(); }

TEST(IsaTest, what_can_be_used_is_in_the_program_and_in_the_processor) {
  ASSERT_FALSE(usable_isas().empty());
  EXPECT_EQ(usable_isas().front(), isas_in_program().front()) << "the slowest runs everywhere";
  for (std::size_t i = 0; i < kIsaNames.size(); ++i) {
    const auto isa = static_cast<Isa>(i);
    EXPECT_EQ(holds(usable_isas(), isa), holds(isas_in_program(), isa) && processor_has(isa)) << kIsaNames[i];
  }
}

TEST(IsaTest, a_name_gives_its_instruction_set_or_an_error_that_lists_what_can_be_used) {
  for (std::size_t i = 0; i < kIsaNames.size(); ++i) {
    const auto isa = static_cast<Isa>(i);
    if (holds(usable_isas(), isa)) {
      EXPECT_EQ(parse_isa(kIsaNames[i], "here"), isa);
      continue;
    }
    try {
      parse_isa(kIsaNames[i], "here");
      ADD_FAILURE() << kIsaNames[i] << " was taken";
    } catch (const ConfigError& e) {
      EXPECT_EQ(e.parts().got, kIsaNames[i]);
      EXPECT_EQ(e.parts().where, "here");
      EXPECT_NE(e.parts().expected.find(isa_name(usable_isas().front())), std::string::npos);
    }
  }
  EXPECT_THROW(parse_isa("AVX2", "here"), ConfigError);
  EXPECT_THROW(parse_isa("", "here"), ConfigError);
}

TEST(IsaTest, one_that_the_processor_lacks_is_never_put_in_use) {
  const Isa before = isa_in_use();
  for (std::size_t i = 0; i < kIsaNames.size(); ++i) {
    const auto isa = static_cast<Isa>(i);
    if (holds(usable_isas(), isa)) continue;
    EXPECT_THROW(use_isa(isa), std::logic_error);
  }
  EXPECT_EQ(isa_in_use(), before);
  use_isa(usable_isas().front());
  EXPECT_EQ(isa_in_use(), usable_isas().front());
  use_isa(before);
}

}  // namespace
}  // namespace locus
