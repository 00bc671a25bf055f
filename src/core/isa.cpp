#include "core/isa.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

#if defined(__x86_64__)
constexpr std::array kInProgram = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512};
#elif defined(__aarch64__)
constexpr std::array kInProgram = {Isa::kNeon};
#else
constexpr std::array kInProgram = {Isa::kBaseline};
#endif

std::string names_of(std::span<const Isa> isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(isa_name(isa));
  return text;
}

const std::vector<Isa>& usable() {
  static const std::vector<Isa> list = [] {
    std::vector<Isa> out;
    std::copy_if(kInProgram.begin(), kInProgram.end(), std::back_inserter(out), processor_has);
    return out;
  }();
  return list;
}

}  // namespace

std::span<const Isa> isas_in_program() { return kInProgram; }

std::span<const Isa> usable_isas() { return usable(); }

// The features are those of the compiler options in cmake/variants.cmake; the check includes the system's support.
bool processor_has(Isa isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  switch (isa) {
    case Isa::kBaseline:
      return true;
    case Isa::kAvx2:
      return avx2;
    case Isa::kAvx512:
      return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Isa::kNeon:
      return false;
  }
  return false;
#else
  return isa == kInProgram.front();
#endif
}

Isa parse_isa(std::string_view name, const std::string& where) {
  const auto found = std::find(kIsaNames.begin(), kIsaNames.end(), name);
  if (found == kIsaNames.end()) {
    const std::string nearest = nearest_name(name, std::vector<std::string>(kIsaNames.begin(), kIsaNames.end()));
    throw ConfigError({.what = "unknown instruction set",
                       .where = where,
                       .got = std::string(name),
                       .expected = "one of " + names_of(usable_isas()),
                       .hint = nearest.empty() ? "" : "did you mean " + nearest + "?"});
  }
  const auto isa = static_cast<Isa>(found - kIsaNames.begin());
  if (std::find(kInProgram.begin(), kInProgram.end(), isa) == kInProgram.end()) {
    throw ConfigError({.what = "this program holds no code for this instruction set",
                       .where = where,
                       .got = std::string(name),
                       .expected = "one of " + names_of(usable_isas())});
  }
  if (!processor_has(isa)) {
    throw ConfigError({.what = "this processor lacks the instruction set",
                       .where = where,
                       .got = std::string(name),
                       .expected = "one of " + names_of(usable_isas()),
                       .hint = "without a choice the best is used"});
  }
  return isa;
}

namespace detail {
std::atomic<Isa> isa_in_use{usable().back()};
}

void use_isa(Isa isa) {
  LOCUS_CHECK(std::find(usable().begin(), usable().end(), isa) != usable().end(),
              "the processor lacks " + std::string(isa_name(isa)));
  detail::isa_in_use.store(isa, std::memory_order_relaxed);
}

}  // namespace locus
