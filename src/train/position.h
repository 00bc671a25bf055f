// Where a run stands in its training; all of it goes into a checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/text.h"

namespace locus {

struct Position {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int64_t epoch_steps = 0;  // steps done in the current epoch
  double epoch_loss = 0;         // sums over the current epoch
  double epoch_correct = 0;
  double epoch_examples = 0;
  std::int64_t low_epochs = 0;  // epochs in a row with a loss below stop.loss_below
  double last_norm = 0;

  std::map<std::string, std::string> to_metadata() const {
    return {{"step", std::to_string(step)},
            {"epoch", std::to_string(epoch)},
            {"epoch_steps", std::to_string(epoch_steps)},
            {"epoch_loss", shortest(epoch_loss)},
            {"epoch_correct", shortest(epoch_correct)},
            {"epoch_examples", shortest(epoch_examples)},
            {"low_epochs", std::to_string(low_epochs)},
            {"last_norm", shortest(last_norm)}};
  }
  static Position from_metadata(const std::map<std::string, std::string>& m) {
    Position p;
    p.step = std::stoll(m.at("step"));
    p.epoch = std::stoll(m.at("epoch"));
    p.epoch_steps = std::stoll(m.at("epoch_steps"));
    p.epoch_loss = std::stod(m.at("epoch_loss"));
    p.epoch_correct = std::stod(m.at("epoch_correct"));
    p.epoch_examples = std::stod(m.at("epoch_examples"));
    p.low_epochs = std::stoll(m.at("low_epochs"));
    p.last_norm = std::stod(m.at("last_norm"));
    return p;
  }
};

}  // namespace locus
