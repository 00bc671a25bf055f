#include "data/samples.h"

#include <fmt/core.h>

#include "core/error.h"
#include "data/series.h"

namespace locus {
namespace {

constexpr std::int64_t kFewestRows = 20;

bool is_one_matrix(const SeriesConfig& c) {
  return c.files.size() == 1 && c.orientation == Orientation::kTimeByTokens &&
         (c.split_by == SplitBy::kTime || c.split_by == SplitBy::kSample);
}

}  // namespace

RunConfig samples_config(const SamplesOptions& options) {
  RunConfig config;
  config.study = "masked";
  config.model.width = 64;
  config.model.readout = Readout::kMasked;
  config.pe.sigma = 0.1;
  config.optim.lr = 1e-3;
  config.train.batch = 32;
  config.stop.epochs = 0;
  config.stop.steps = 4000;
  config.watch.eval_steps = 500;
  SeriesConfig& s = config.series;
  s.source = SeriesSource::kFiles;
  s.files = {options.path};
  s.dataset = options.dataset;
  s.atlas = options.labels;
  s.orientation = Orientation::kTimeByTokens;
  s.split_by = options.random_split ? SplitBy::kSample : SplitBy::kTime;
  s.zscore = ZScore::kTrain;
  s.test_fraction = 0.2;
  s.validation_fraction = 0.1;
  return config;
}

Dataset make_samples_dataset(const RunConfig& config) {
  Dataset data = make_series_dataset(config);
  std::int64_t rows = 0;
  for (const auto& [name, e] : data.splits) rows += e.count;
  if (rows < kFewestRows) {
    throw DataError({.what = "too few samples to learn from",
                     .where = config.series.files.empty() ? "series.files" : config.series.files.front(),
                     .got = fmt::format("{} samples of {} tokens", rows, data.tokens),
                     .expected = fmt::format("at least {} rows, one sample each", kFewestRows),
                     .hint = "rows are samples and columns are tokens: is the matrix transposed?"});
  }
  data.name = "samples";
  return data;
}

Dataset make_files_dataset(const RunConfig& config) {
  return is_one_matrix(config.series) ? make_samples_dataset(config) : make_series_dataset(config);
}

}  // namespace locus
