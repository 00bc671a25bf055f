// Agreement of positions between seeds Agreement of the codes of pairs of runs against σ, and a table of all means.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct Identifiability {
  struct Row {
    std::string comparison, setting, model;
    int layer = 0, pairs = 0;
    double cosine = 0, centred = 0, procrustes = 0, cka = 0;  // means over pairs, NaN when absent
  };
  std::vector<std::vector<SigmaPanel>> layers;  // pairs of seeds; one set of panels a layer, may be empty
  std::vector<Row> rows;
};

Found<Identifiability> collect_identifiability(const Inputs& inputs);
Figure draw_identifiability(const Identifiability& data);
// comparison,setting,model,layer,pairs,cosine_pearson,centred_pearson,procrustes_matched,cka
std::string csv_identifiability(const Identifiability& data);

}  // namespace locus::report
