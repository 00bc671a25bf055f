// Floating-point operations of one step, counted on matrix products alone (docs/performance.md has the formulas).
#pragma once

#include "model/structure.h"

namespace locus::bench {

struct Flops {
  double needed = 0;    // by the convention of docs/performance.md, whatever the engine does
  double executed = 0;  // by the engine's way, pattern recomputation included
};

Flops step_flops(const ModelStructure& structure, bool training);

}  // namespace locus::bench
