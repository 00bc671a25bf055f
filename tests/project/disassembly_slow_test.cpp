// No instruction beyond the baseline stands outside the variants, by disassembly of the program; and the variants use what
// they are for.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tests/project/shell.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

// Those that an x86-64 processor without AVX and BMI lacks: vex-coded ones all begin with a v.
bool is_beyond_baseline(std::string_view mnemonic) {
  static const std::set<std::string_view> other = {"andn", "bextr", "blsi", "blsmsk", "blsr", "bzhi", "mulx",
                                                   "pdep", "pext",  "rorx", "sarx",   "shlx", "shrx", "popcnt"};
  if (mnemonic.starts_with("v")) return mnemonic != "verr" && mnemonic != "verw";
  return mnemonic.starts_with("k") || other.count(mnemonic) > 0;  // k...: masks of AVX-512
}

struct Census {
  std::map<std::string, std::string> leaks;                    // function to the first such instruction
  std::map<std::string, long> functions, beyond, wide, fused;  // by suffix: how many functions, instructions
};

std::string suffix_of(const std::string& function) {
  for (const std::string_view suffix : {".baseline", ".avx2", ".avx512"}) {
    if (function.ends_with(suffix)) return std::string(suffix.substr(1));
  }
  return "";
}

Census disassemble(const std::string& program) {
  Census census;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("objdump -d --no-show-raw-insn '" + program + "'").c_str(), "r"),
                                                   pclose);
  std::array<char, 4096> buffer{};
  std::string function, suffix;
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr) {
    const std::string_view line(buffer.data());
    if (const std::size_t open = line.find(" <"); line.ends_with(">:\n") && open != line.npos) {
      function = std::string(line.substr(open + 2, line.size() - open - 5));
      suffix = suffix_of(function);
      ++census.functions[suffix];
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) continue;
    const std::string_view code = line.substr(tab + 1);
    if (!is_beyond_baseline(code.substr(0, code.find_first_of(" \n")))) continue;
    ++census.beyond[suffix];
    if (code.find("%zmm") != code.npos) ++census.wide[suffix];
    if (code.starts_with("vfmadd")) ++census.fused[suffix];
    if (suffix.empty() || suffix == "baseline") census.leaks.emplace(function, code);
  }
  return census;
}

TEST(DisassemblyTest, only_variants_hold_what_the_baseline_lacks) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the program has variants on x86-64 alone";
#endif
  if (run_shell("command -v objdump", ".").exit_code != 0) GTEST_SKIP() << "objdump (binutils) is not installed";
  if (run_shell("nm '" + locus::test::binary() + "' | grep -q __asan_init", ".").exit_code == 0) {
    GTEST_SKIP() << "the sanitizers add functions of their own";
  }
  Census census = disassemble(locus::test::binary());
  ASSERT_GT(census.functions[""], 1000) << "objdump showed no program";
  for (const auto& [function, code] : census.leaks) ADD_FAILURE() << function << ": " << code;
  for (const char* variant : {"baseline", "avx2", "avx512"}) EXPECT_GT(census.functions[variant], 30) << variant;
  EXPECT_GT(census.fused["avx2"], 100);
  EXPECT_EQ(census.wide["avx2"], 0);
  EXPECT_GT(census.fused["avx512"], 100);
  EXPECT_GT(census.wide["avx512"], 500);
}

}  // namespace
}  // namespace locus::house
