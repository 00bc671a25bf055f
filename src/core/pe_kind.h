// The kinds of positional encodings and their names: the one list that configuration, engine and oracle share.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace locus {

enum class PeKind { kNone, kLearned, kSinusoidal, kLaplacian, kRotary, kRelative, kT5, kAlibi };
inline constexpr std::array<std::string_view, 8> kPeKindNames = {"none",   "learned",  "sinusoidal", "laplacian",
                                                                 "rotary", "relative", "t5",         "alibi"};

constexpr std::string_view pe_kind_name(PeKind kind) { return kPeKindNames[static_cast<std::size_t>(kind)]; }

}  // namespace locus
