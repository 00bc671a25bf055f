// The instruction set: named by version and manifest, forced by LOCUS_ISA, refused when it cannot be.
#include <algorithm>

#include "core/isa.h"
#include "core/json.h"
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

class IsaTest : public testing::Test {
 protected:
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(IsaTest, version_names_all_and_the_best_is_used) {
  const Result r = place_.shell("unset LOCUS_ISA; locus version --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json version = Json::parse(r.out);
  EXPECT_EQ(version["isas"].size(), isas_in_program().size());
  EXPECT_EQ(version["isa"], isa_name(usable_isas().back()));
  EXPECT_NE(place_.shell("locus version").out.find("uses " + version["isa"].get<std::string>()), std::string::npos);
}

TEST_F(IsaTest, each_that_the_processor_has_can_be_forced_and_trains_and_the_manifest_says_so) {
  write(place_ / "tiny.toml", cli_testing::kTiny);
  for (const Isa isa : usable_isas()) {
    const std::string name(isa_name(isa));
    const Result version = place_.shell("LOCUS_ISA=" + name + " locus version --json");
    ASSERT_EQ(version.code, 0) << version.err;
    EXPECT_EQ(Json::parse(version.out)["isa"], name);
    const Result train = place_.shell("LOCUS_ISA=" + name + " locus train tiny.toml --out run_" + name + " --quiet");
    ASSERT_EQ(train.code, 0) << train.err;
    EXPECT_EQ(Json::parse(text_of(place_ / ("run_" + name + "/manifest.json")))["isa"], name);
  }
}

TEST_F(IsaTest, the_same_bytes_within_one_instruction_set) {
  write(place_ / "tiny.toml", cli_testing::kTiny);
  for (const Isa isa : usable_isas()) {
    const std::string name(isa_name(isa));
    ASSERT_EQ(place_
                  .shell("export LOCUS_ISA=" + name + "; locus train tiny.toml -t 1 --out a_" + name +
                         " --quiet; locus train tiny.toml -t 2 --out b_" + name + " --quiet")
                  .code,
              0);
    EXPECT_EQ(text_of(place_ / ("a_" + name + "/final/model.safetensors")),
              text_of(place_ / ("b_" + name + "/final/model.safetensors")));
  }
}

TEST_F(IsaTest, an_unknown_name_is_refused_with_the_nearest) {
  const Result r = place_.shell("LOCUS_ISA=axv2 locus version");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("axv2"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("LOCUS_ISA"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("did you mean avx2?"), std::string::npos) << r.err;
}

TEST_F(IsaTest, one_that_cannot_run_here_is_refused_before_anything_is_computed) {
  int refused = 0;
  for (std::size_t i = 0; i < kIsaNames.size(); ++i) {
    const auto usable = usable_isas();
    if (std::find(usable.begin(), usable.end(), static_cast<Isa>(i)) != usable.end()) continue;
    const Result r = place_.shell("LOCUS_ISA=" + std::string(kIsaNames[i]) + " locus selfcheck");
    EXPECT_EQ(r.code, 2) << kIsaNames[i];
    EXPECT_TRUE(r.out.empty());
    EXPECT_NE(r.err.find("one of "), std::string::npos) << r.err;
    ++refused;
  }
  EXPECT_GE(refused, 1) << "no processor has both AVX-512 and NEON";
}

TEST_F(IsaTest, an_empty_variable_is_none) { EXPECT_EQ(place_.shell("LOCUS_ISA= locus version").code, 0); }

}  // namespace
}  // namespace locus
