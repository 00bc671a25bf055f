// What the program computes, in a few characters for each encoding: losses of tiny fixed-seed training runs on the scalar
// reference path, rounded so that they hold on any machine. They change when initialisation, data order, masks, the
// encoding or optimisers do. What they should be is pinned in config/signature_pins.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"

namespace locus {

struct SignatureLine {
  std::string encoding;
  std::string optimizer;
  std::vector<double> losses;  // of each step

  std::string name() const { return encoding + "/" + optimizer; }
};

// Every encoding with every optimiser. `change` is applied to every configuration first; tests see by it what the lines
// react to.
std::vector<SignatureLine> behaviour_lines(const std::function<void(RunConfig&)>& change = {});

// 12 hexadecimal digits of the lines of one encoding, as they stand in src/config/signatures.txt ...
std::string encoding_signature(const std::vector<SignatureLine>& lines, std::string_view encoding);
// ... and of all lines: what a commit that changes behaviour names.
std::string signature_of(const std::vector<SignatureLine>& lines);

}  // namespace locus
