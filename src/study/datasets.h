// From a configuration to its data: the one switch over studies.
#pragma once

#include "config/run_config.h"
#include "core/parallel.h"
#include "data/examples.h"

namespace locus {

Dataset make_dataset(const RunConfig& config);

// Adds the study's baselines, computed on the evaluation masks; nothing for Latin squares, whose baselines are runs.
void add_baselines(Dataset& dataset, ThreadPool& pool);

}  // namespace locus
