// Did the encoding find the true arrangement? Correlation with the truth, Procrustes distance and read-out against σ.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct Recovery {
  std::vector<std::vector<SigmaPanel>> layers;  // one set of panels a layer
  std::string truth;                            // which truth the correlation is with
};

// The most telling truth that some run was compared with; empty without any.
std::string recovery_truth(const Inputs& inputs);

// Pearson's r of a layer's cosines with a truth; `model` is "init" or "final".
RunNumber truth_likeness(const std::string& model, const std::string& truth, int layer);

Found<Recovery> collect_recovery(const Inputs& inputs);
Figure draw_recovery(const Recovery& data);
std::string csv_recovery(const Recovery& data);  // layer,measure,line,setting,sigma,run,value

}  // namespace locus::report
