// From a configuration to its data, by the row of its source.
#pragma once

#include <string>

#include "config/run_config.h"
#include "core/parallel.h"
#include "data/examples.h"

namespace locus {

// What is made and slow to make is kept in `cache_folder` where one is given.
Dataset make_dataset(const RunConfig& config, const std::string& cache_folder = "");

// Adds the task's baselines, computed on the evaluation masks; nothing for classes, whose baselines are runs.
void add_baselines(Dataset& dataset, ThreadPool& pool);

}  // namespace locus
