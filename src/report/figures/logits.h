// How far attention logits spread, and which part of it is due to positions: against σ, trained and untrained.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct LogitSpread {
  struct View {
    std::string model;  // "trained", "untrained"
    std::vector<SigmaPanel> panels;
  };
  std::vector<View> views;
};

Found<LogitSpread> collect_logits(const Inputs& inputs);
Figure draw_logits(const LogitSpread& data);
std::string csv_logits(const LogitSpread& data);  // model,measure,line,setting,sigma,run,value

}  // namespace locus::report
