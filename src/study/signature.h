// The program's behaviour in a few characters: losses of tiny fixed-seed training runs on the scalar reference path,
// rounded so that they hold on any machine. It changes when initialisation, data order, masks, encodings or optimisers do.
#pragma once

#include <string>
#include <vector>

namespace locus {

struct SignatureLine {
  std::string name;            // "learned/adam"
  std::vector<double> losses;  // of each step
};

std::vector<SignatureLine> behaviour_lines();
std::string behaviour_signature();  // 12 hexadecimal digits; computed once a process

}  // namespace locus
