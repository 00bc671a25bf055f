#include "core/rng.h"

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace locus {
namespace {

constexpr std::uint32_t kMul0 = 0xD2511F53u;
constexpr std::uint32_t kMul1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

PhiloxBlock philox4x32(PhiloxBlock c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMul0} * c[0];
    const std::uint64_t p1 = std::uint64_t{kMul1} * c[2];
    c = {high(p1) ^ c[1] ^ key[0], low(p1), high(p0) ^ c[3] ^ key[1], low(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return c;
}

std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char ch : text) {
    h ^= static_cast<unsigned char>(ch);
    h *= 0x100000001b3ull;
  }
  return h;
}

Rng::Rng(std::uint64_t seed, std::string_view stream_name) {
  state_.key = {low(seed), high(seed)};
  state_.stream = fnv1a64(stream_name);
}

Rng::Rng(const RngState& state) : state_(state) {
  if (state_.position % 4 != 0) {
    const std::uint64_t block = state_.position / 4;
    block_ = philox4x32({low(block), high(block), low(state_.stream), high(state_.stream)}, state_.key);
  }
}

std::uint32_t Rng::next_u32() {
  const std::uint64_t lane = state_.position % 4;
  if (lane == 0) {
    const std::uint64_t block = state_.position / 4;
    block_ = philox4x32({low(block), high(block), low(state_.stream), high(state_.stream)}, state_.key);
  }
  ++state_.position;
  return block_[lane];
}

std::uint64_t Rng::next_u64() {
  const std::uint64_t hi = next_u32();
  return (hi << 32) | next_u32();
}

double Rng::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

float Rng::uniform_float() { return static_cast<float>(next_u32() >> 8) * 0x1.0p-24f; }

double Rng::normal() {
  // 1 - u keeps the logarithm's argument above zero; the sine branch is not kept, so the state is a position alone.
  const double u = 1.0 - static_cast<double>(next_u32()) * 0x1.0p-32;
  const double v = static_cast<double>(next_u32()) * 0x1.0p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::uint32_t Rng::below(std::uint32_t bound) {
  LOCUS_CHECK(bound > 0, "below needs a positive bound");
  const std::uint32_t reject_under = (0u - bound) % bound;
  while (true) {
    const std::uint64_t m = std::uint64_t{next_u32()} * bound;
    if (low(m) >= reject_under) return high(m);
  }
}

std::uint64_t derive_seed(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  const std::uint64_t stream = fnv1a64(name);
  const PhiloxBlock b = philox4x32({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
  return (std::uint64_t{b[0]} << 32) | b[1];
}

}  // namespace locus
