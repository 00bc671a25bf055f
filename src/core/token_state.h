// What a model is shown of a token of an example.
#pragma once

#include <cstdint>

namespace locus {

inline constexpr std::uint8_t kShown = 0;
inline constexpr std::uint8_t kHidden = 1;   // and asked for, where tokens are predicted
inline constexpr std::uint8_t kMissing = 2;  // the data have no value: hidden, never asked for

}  // namespace locus
