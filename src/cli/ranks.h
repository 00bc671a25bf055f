// The ranks of `mpirun -n N locus train`: found by the environment, reached through the MPI module.
#pragma once

#include <memory>

#include "train/ranks.h"

namespace locus::cli {

class MpiRanks : public Ranks {
 public:
  // Nothing when the program was not started with several ranks. ConfigError when it was and there is no module for it.
  static std::unique_ptr<MpiRanks> start();
  virtual void agree_on_isa() = 0;   // all use that of rank 0; ConfigError where the processor lacks it
  virtual void end() = 0;            // waits for the others
  virtual void abort(int code) = 0;  // ends all of them
};

}  // namespace locus::cli
