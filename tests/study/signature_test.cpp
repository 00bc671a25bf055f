// The behaviour signature: the same wherever the program behaves the same, another one where it does not.
#include "study/signature.h"

#include <gtest/gtest.h>

#include <functional>

#include "config/signature_pins.h"
#include "core/hash.h"

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
