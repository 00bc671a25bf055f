// What the readers understood of a user's data, and what they left out or doubted: the audit that a run keeps.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct Audit {
  struct Row {
    std::string run, kind, about, text;
  };
  std::vector<Row> rows;
};

Found<Audit> collect_audit(const Inputs& inputs);
Figure draw_audit(const Audit& data);
// run,kind,about,text
std::string csv_audit(const Audit& data);

}  // namespace locus::report
