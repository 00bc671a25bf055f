// Beginning from another run: which of its tensors are taken, which are left, and why (train.init).
#pragma once

#include <string>
#include <vector>

#include "data/examples.h"
#include "model/structure.h"

namespace locus {

struct Transfer {
  std::vector<std::string> taken;  // names of tensors
  std::vector<std::string> left;   // "head.weight: it answers another question"

  std::vector<std::string> lines(const std::string& run) const;  // for the log
};

// The run's trained model over `params`. Rows of a table of positions go by the names of tokens. Nothing where train.init is
// empty; ConfigError when the folder holds no model, or when nothing of it fits.
Transfer take_from_run(const ModelStructure& structure, const Dataset& dataset, float* params);

}  // namespace locus
