// Instruction sets: which the program holds code for, which the processor runs, which one is in use.
// The best is chosen when the program starts; results of two may differ in the last bits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace locus {

enum class Isa : unsigned char { kBaseline, kAvx2, kAvx512, kNeon };
inline constexpr std::array<std::string_view, 4> kIsaNames = {"baseline", "avx2", "avx512", "neon"};

inline std::string_view isa_name(Isa isa) { return kIsaNames[static_cast<std::size_t>(isa)]; }

// Those with code in this program, slowest first.
std::span<const Isa> isas_in_program();
bool processor_has(Isa isa);
// Those of the program that the processor has, slowest first; never empty.
std::span<const Isa> usable_isas();

// Throws ConfigError for a name that does not exist, is not in the program or that the processor lacks; `where` says who
// asked.
Isa parse_isa(std::string_view name, const std::string& where);

namespace detail {
// Read by the jumps that cmake/write_variants.cmake writes, therefore the plain name.
extern std::atomic<Isa> isa_in_use __asm__("locus_isa_in_use") __attribute__((visibility("hidden")));
static_assert(sizeof(std::atomic<Isa>) == 1);
}  // namespace detail
inline Isa isa_in_use() { return detail::isa_in_use.load(std::memory_order_relaxed); }

// At the start, or between independent pieces of work: packed data of one instruction set mean nothing to another.
void use_isa(Isa isa);

}  // namespace locus
