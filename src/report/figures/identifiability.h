// Do other seeds give the same positions? Likeness of the codes of pairs of runs against σ, and a table of all means.
#pragma once

#include <string>
#include <vector>

#include "analyze/results/identifiability.h"
#include "report/analysis.h"

namespace locus::report {

struct Identifiability {
  std::vector<std::vector<SigmaPanel>> layers;  // pairs of seeds; one set of panels a layer, may be empty
  std::vector<PairSummaryRow> rows;
};

Found<Identifiability> collect_identifiability(const Inputs& inputs);
Figure draw_identifiability(const Identifiability& data);
// comparison,setting,model,layer,pairs,cosine_pearson,centred_pearson,procrustes_matched,cka
std::string csv_identifiability(const Identifiability& data);

}  // namespace locus::report
