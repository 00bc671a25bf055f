// The program's behaviour in a few characters: losses of tiny fixed-seed training runs on the scalar reference path,
// rounded so that they hold on any machine. It changes when initialisation, data order, masks, encodings or optimisers do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace locus {

struct SignatureLine {
  std::string name;            // "learned/adam"
  std::vector<double> losses;  // of each step
};

// `change` is applied to every configuration first; tests see by it what the lines react to.
std::vector<SignatureLine> behaviour_lines(const std::function<void(RunConfig&)>& change = {});
std::string signature_of(const std::vector<SignatureLine>& lines);  // 12 hexadecimal digits
std::string behaviour_signature();                                  // of the lines as they are; computed once a process

}  // namespace locus
