// What the program computes, in a few characters for each encoding: losses of tiny fixed-seed training runs. They change
// when initialisation, data order, masks, the encoding or optimisers do. Lines of the scalar reference path are rounded so
// that they hold on any machine; lines of the engine hold for one instruction set and compiler. What they should be is
// pinned in config/signature_pins.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "config/signature_pins.h"

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

// The engine itself, with settings under which every constant of an encoding counts: the loss of each step, and what the
// scalar path gives for the same training.
struct EngineLine {
  std::string encoding;
  std::vector<double> losses;
  std::vector<double> reference;
};
// On the instruction set in use.
std::vector<EngineLine> engine_lines(const std::function<void(RunConfig&)>& change = {});
std::string engine_signature(const EngineLine& line);  // 12 hexadecimal digits of the losses, each to 8 digits

// Whether a line is what the row of its encoding, instruction set and compiler says; without such a row, whether it is what
// the scalar path gives.
struct EngineVerdict {
  bool agrees = false;
  std::string pinned;     // "" without a row
  double difference = 0;  // the largest from the scalar path, relative
};
EngineVerdict check_engine_line(const EngineLine& line, std::string_view isa, std::string_view compiler,
                                const std::vector<SignaturePin>& pins = signature_pins());

}  // namespace locus
