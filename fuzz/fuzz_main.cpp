// libFuzzer's entry for one target, chosen at compile time by LOCUS_FUZZ_TARGET (see cmake/fuzz.cmake).
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const locus::fuzz::Target& target : locus::fuzz::kTargets) {
    if (std::string_view(target.name) == LOCUS_FUZZ_TARGET) {
      locus::fuzz::run(target, std::as_bytes(std::span(data, size)));
    }
  }
  return 0;
}
