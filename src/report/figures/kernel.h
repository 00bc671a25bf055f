// Lazy or rich: movement of the tangent kernel and of the parameters against σ, settings that scale the content as a
// control.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct KernelMovement {
  std::vector<SigmaPanel> panels;
};

Found<KernelMovement> collect_kernel(const Inputs& inputs);
Figure draw_kernel(const KernelMovement& data);
std::string csv_kernel(const KernelMovement& data);  // measure,line,setting,sigma,run,value

}  // namespace locus::report
