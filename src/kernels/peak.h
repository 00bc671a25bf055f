// Independent multiply-adds, for measuring what a core can do at most.
#pragma once

#include <cstdint>

namespace locus::kernels {

struct Burst {
  float value = 0;        // depends on every operation, so that none is left out
  double operations = 0;  // additions and multiplications of floats
};
Burst multiply_add_burst(float seed);

}  // namespace locus::kernels
