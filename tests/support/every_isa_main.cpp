// The main function of test programs whose tests run once for each instruction set that the processor has.
// --isa=NAME: only that one.
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include "core/isa.h"

namespace locus {
namespace {

constexpr std::string_view kOption = "--isa=";

// Each repetition of all tests has the next instruction set.
class EveryIsa : public ::testing::EmptyTestEventListener {
 public:
  explicit EveryIsa(std::vector<Isa> isas) : isas_(std::move(isas)) {}
  void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override {
    const Isa isa = isas_[static_cast<std::size_t>(iteration) % isas_.size()];
    use_isa(isa);
    std::printf("instruction set: %s\n", std::string(isa_name(isa)).c_str());
  }

 private:
  std::vector<Isa> isas_;
};

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<Isa> isas(usable_isas().begin(), usable_isas().end());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(kOption)) isas = {parse_isa(word.substr(kOption.size()), "--isa")};
  }
  GTEST_FLAG_SET(repeat, GTEST_FLAG_GET(repeat) * static_cast<int>(isas.size()));
  ::testing::UnitTest::GetInstance()->listeners().Append(new EveryIsa(std::move(isas)));
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace locus

int main(int argc, char** argv) { return locus::run_tests(argc, argv); }
