// What another run gives a run to begin from: keys of section train.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace locus {

enum class InitTake { kEncoding, kWeights };
inline constexpr std::array<std::string_view, 2> kInitTakeNames = {"encoding", "weights"};

struct InitConfig {
  std::string folder;  // of another run; empty: from random numbers
  InitTake take = InitTake::kEncoding;
};

}  // namespace locus
