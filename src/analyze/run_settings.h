// What tells the settings of several runs apart, seeds left out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace locus {

// One text a run, made of the identity fields that differ between the runs ("pe.sigma=0.2 model.width=64"; "same" when
// none does). Equal texts mean equal settings but for the keys ignored.
std::vector<std::string> setting_names(const std::vector<const RunConfig*>& configs,
                                       const std::set<std::string>& ignored = {"seed"});

}  // namespace locus
