// SHA-256, for content hashes of configurations, data and checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace locus {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text.data(), text.size()))); }
  std::string hex();  // finishes; call once

 private:
  void block(const std::uint8_t* p);
  std::array<std::uint32_t, 8> h_;
  std::array<std::uint8_t, 64> tail_{};
  std::size_t tail_size_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256_hex(std::string_view text);

}  // namespace locus
