// What looks too good or too odd in coded samples: tokens that tell the target alone, values far from all others.
#pragma once

#include "data/table/coder.h"

namespace locus {

void look_for_suspicions(const CoderInput& input, const TableCoder& coder, const TableConfig& config, DataAudit& audit);

}  // namespace locus
