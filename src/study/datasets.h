// From a configuration to its data: the one switch over studies.
#pragma once

#include <string>

#include "config/run_config.h"
#include "core/parallel.h"
#include "data/examples.h"
#include "data/latin/dataset.h"

namespace locus {

LatinOptions latin_options(const LstConfig& config);

// Generated puzzles are kept in `cache_folder` where one is given.
Dataset make_dataset(const RunConfig& config, const std::string& cache_folder = "");

// Adds the study's baselines, computed on the evaluation masks; nothing for Latin squares, whose baselines are runs.
void add_baselines(Dataset& dataset, ThreadPool& pool);

}  // namespace locus
