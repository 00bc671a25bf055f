// Portable counter-based random numbers (Philox4x32-10) with named streams.
// The same (seed, name) gives the same numbers on every machine; streams of different names are independent.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace locus {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// One block of Philox4x32-10: four random words from a counter and a key.
PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key);

// The whole state of a stream, for checkpoints.
struct RngState {
  std::array<std::uint32_t, 2> key{};
  std::uint64_t stream = 0;    // hash of the stream's name
  std::uint64_t position = 0;  // 32-bit words drawn so far
  bool operator==(const RngState&) const = default;
};

class Rng {
 public:
  Rng(std::uint64_t seed, std::string_view stream_name);
  explicit Rng(const RngState& state);

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  double uniform();                          // [0, 1), 53 bits
  float uniform_float();                     // [0, 1), 24 bits
  double normal();                           // standard normal, by Box-Muller (two words a value)
  std::uint32_t below(std::uint32_t bound);  // 0..bound-1 without bias; bound > 0

  RngState state() const { return state_; }

  template <class T>
  void shuffle(std::span<T> items) {  // Fisher-Yates
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }
  }

 private:
  RngState state_;
  PhiloxBlock block_{};
};

// A child seed for a named part of a larger job: cell i of a sweep, puzzle set k of a study.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

// FNV-1a, 64 bits: names to numbers.
std::uint64_t fnv1a64(std::string_view text);

}  // namespace locus
