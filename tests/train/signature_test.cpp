// The behaviour signature: the same wherever the program behaves the same, another one where it does not.
#include "train/signature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "config/signature_pins.h"
#include "core/hash.h"
#include "core/isa.h"
#include "run/build_info.h"

namespace locus {
namespace {

TEST(SignatureTest, is_the_same_at_every_call) {
  const std::vector<SignatureLine> first = behaviour_lines();
  const std::vector<SignatureLine> second = behaviour_lines();
  ASSERT_EQ(first.size(), kPeKindNames.size() * kOptimizerNames.size());
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name(), second[i].name());
    EXPECT_EQ(first[i].losses, second[i].losses) << first[i].name();
  }
  EXPECT_EQ(signature_of(first).size(), 12u);
  EXPECT_EQ(signature_of(first).find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(SignatureTest, every_encoding_computes_what_is_pinned) {
  const std::vector<SignatureLine> lines = behaviour_lines();
  for (const std::string_view encoding : kPeKindNames) {
    EXPECT_EQ(encoding_signature(lines, encoding), pinned_signature(encoding).hash)
        << "training with pe.kind = " << encoding << " gives other numbers than src/config/signatures.txt says. If that is "
        << "meant: put the first hash into its scalar row there, and name the signature below in the commit's last line.\n"
        << "Signature: " << signature_of(lines);
  }
}

class IsaGuard {
 public:
  ~IsaGuard() { use_isa(before_); }

 private:
  Isa before_ = isa_in_use();
};

TEST(SignatureTest, the_engine_computes_what_is_pinned_on_every_instruction_set) {
  const IsaGuard guard;
  for (const Isa isa : usable_isas()) {
    use_isa(isa);
    for (const EngineLine& line : engine_lines()) {
      const EngineVerdict verdict = check_engine_line(line, isa_name(isa), build_info().compiler);
      EXPECT_TRUE(verdict.agrees) << "training with pe.kind = " << line.encoding << " gives other losses than pinned ("
                                  << verdict.pinned << ") or than the scalar path (difference " << verdict.difference
                                  << "). If the first is meant, this is the row for src/config/signatures.txt:\n"
                                  << line.encoding << " " << isa_name(isa) << " " << build_info().compiler << " "
                                  << engine_signature(line);
    }
  }
}

TEST(SignatureTest, this_compiler_and_the_common_instruction_sets_are_pinned) {
  if (build_info().compiler != "GNU-12.2.0") return;  // other compilers are compared with the scalar path
  for (const std::string_view encoding : kPeKindNames) {
    for (const std::string_view isa : {"baseline", "avx2"}) {
      const auto& pins = signature_pins();
      EXPECT_EQ(std::count_if(pins.begin(), pins.end(),
                              [&](const SignaturePin& p) {
                                return p.encoding == encoding && p.isa == isa && p.compiler == build_info().compiler;
                              }),
                1)
          << encoding << " " << isa;
    }
  }
}

TEST(SignatureTest, an_engine_without_a_row_is_held_against_the_scalar_path) {
  EngineLine line{"learned", {1.0, 0.5}, {1.00002, 0.5}};
  EXPECT_TRUE(check_engine_line(line, "avx2", "Other-1", {}).agrees);
  line.losses[1] = 0.501;
  EXPECT_FALSE(check_engine_line(line, "avx2", "Other-1", {}).agrees);
  line.losses[1] = std::nan("");
  EXPECT_FALSE(check_engine_line(line, "avx2", "Other-1", {}).agrees);
  line.losses[1] = 0.5;
  const std::vector<SignaturePin> pins = {{"learned", "avx2", "Other-1", engine_signature(line)}};
  EXPECT_TRUE(check_engine_line(line, "avx2", "Other-1", pins).agrees);
  line.losses[0] = 1.00003;
  EXPECT_FALSE(check_engine_line(line, "avx2", "Other-1", pins).agrees);
}

TEST(SignatureTest, the_engine_s_lines_follow_constants_of_the_encodings) {
  const auto hash = [](const std::vector<EngineLine>& lines, std::string_view encoding) {
    for (const EngineLine& line : lines) {
      if (line.encoding == encoding) return engine_signature(line);
    }
    return std::string();
  };
  const std::vector<EngineLine> as_it_is = engine_lines();
  const auto other_base = engine_lines([](RunConfig& c) { c.pe.base *= 1.01; });
  EXPECT_NE(hash(other_base, "sinusoidal"), hash(as_it_is, "sinusoidal"));
  EXPECT_NE(hash(other_base, "rotary"), hash(as_it_is, "rotary"));
  EXPECT_EQ(hash(other_base, "learned"), hash(as_it_is, "learned"));
  const auto other_sigma = engine_lines([](RunConfig& c) { c.pe.sigma *= 1.001; });
  for (const char* encoding : {"learned", "laplacian", "relative", "t5"}) {
    EXPECT_NE(hash(other_sigma, encoding), hash(as_it_is, encoding)) << encoding;
  }
  const auto other_distance = engine_lines([](RunConfig& c) {
    if (c.pe.max_distance > 0) c.pe.max_distance += 1;
  });
  EXPECT_NE(hash(other_distance, "relative"), hash(as_it_is, "relative"));
  EXPECT_NE(hash(other_distance, "t5"), hash(as_it_is, "t5"));
}

TEST(SignatureTest, version_1_is_frozen) {
  std::string rows;
  for (const SignaturePin& pin : signature_pins()) {
    if (pin.isa == "version-1") rows += pin.encoding + " " + pin.hash + "\n";
  }
  EXPECT_EQ(sha256_hex(rows).substr(0, 16), "0614422ecc35656c")
      << "rows `version-1` of src/config/signatures.txt were edited: put them back, names of old cells rest on them";
}

TEST(SignatureTest, follows_the_constants_of_the_behaviour) {
  const std::string as_it_is = signature_of(behaviour_lines());
  const std::pair<const char*, std::function<void(RunConfig&)>> changes[] = {
      {"seed of everything", [](RunConfig& c) { c.seed += 1; }},
      {"size of the initial embedding", [](RunConfig& c) { c.model.embed_gain *= 1.05; }},
      {"size of a learned encoding", [](RunConfig& c) { c.pe.sigma *= 1.5; }},
      {"base of the sinusoids", [](RunConfig& c) { c.pe.base *= 0.5; }},
      {"Adam's first moment", [](RunConfig& c) { c.optim.beta1 = 0.8; }},
      {"Adam's epsilon", [](RunConfig& c) { c.optim.eps = 1e-2; }},
      {"learning rate", [](RunConfig& c) { c.optim.lr *= 1.2; }},
      {"number of held-out puzzles", [](RunConfig& c) { c.lst.heldout_items += 1; }},
      {"examples in a batch", [](RunConfig& c) { c.train.batch += 1; }},
  };
  for (const auto& [what, change] : changes) EXPECT_NE(signature_of(behaviour_lines(change)), as_it_is) << what;
  EXPECT_EQ(signature_of(behaviour_lines([](RunConfig& c) { c.watch.checkpoint_every += 1; })), as_it_is);
}

TEST(SignatureTest, forgives_the_last_digits_of_another_machine) {
  std::vector<SignatureLine> lines = {{"learned", "adam", {1.38623, 1.25}}};
  const std::string as_it_is = signature_of(lines);
  lines[0].losses[0] += 1e-9;
  EXPECT_EQ(signature_of(lines), as_it_is);
  lines[0].losses[0] += 1e-3;
  EXPECT_NE(signature_of(lines), as_it_is);
}

}  // namespace
}  // namespace locus
