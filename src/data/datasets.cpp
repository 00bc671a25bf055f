#include "data/datasets.h"

#include "config/sources.h"
#include "config/tasks.h"

namespace locus {

Dataset make_dataset(const RunConfig& config, const std::string& cache_folder) {
  Dataset dataset = source_of(config).make(config, cache_folder);
  dataset.task = task_of(config).name;
  return dataset;
}

void add_baselines(Dataset& dataset, ThreadPool& pool) {
  if (const auto add = task_row(dataset.task).add_baselines) add(dataset, pool);
}

}  // namespace locus
