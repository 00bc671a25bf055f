// Do other people give the same encoding: agreement of the halves of the people beside that of seeds, overall and by region.
#pragma once

#include <string>
#include <vector>

#include "analyze/results/reliability.h"
#include "report/analysis.h"

namespace locus::report {

struct Reliability {
  std::vector<ReliabilityRow> rows;
  std::vector<RegionReliabilityRow> regions;  // by setting, best first
};

Found<Reliability> collect_reliability(const Inputs& inputs);
Figure draw_reliability(const Reliability& data);
// setting,layer,code,comparison,pairs,agreement,low,high,whole,shuffled
std::string csv_reliability(const Reliability& data);

}  // namespace locus::report
