// What is in a set of region time series, before anyone trains on it: runs, shapes, coverage, connectivity figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/masked_config.h"
#include "data/series.h"

namespace locus {

struct CheckedRun {
  std::string subject, run, path, format;
  std::int64_t file_rows = 0, file_columns = 0;
  std::int64_t frames = 0, regions = 0;
  bool tokens_are_rows = false;
  std::int64_t defects = 0;        // regions missing, NaN or constant
  double mean = 0;                 // over all finite values
  double sd_low = 0, sd_high = 0;  // smallest and largest standard deviation of a region
  double autocorrelation = 0;      // lag 1 along time, mean over regions; NaN when a run is too short
};

// NaN where a figure cannot be had.
struct FmriReport {
  std::vector<CheckedRun> runs;
  std::int64_t subjects = 0;
  std::int64_t regions = 0;  // with complete coverage, of `all_regions`
  std::int64_t all_regions = 0;
  std::int64_t networks = 0;          // 0 without network labels
  std::vector<std::string> coverage;  // one line a defect
  double mean_connectivity = 0;       // off-diagonal, of the mean over subjects (Fisher z)
  double within_networks = 0;
  double between_networks = 0;
  std::int64_t homotopic_pairs = 0;
  double homotopic = 0;               // mean connectivity of mirrored regions
  double other_interhemispheric = 0;  // of all other left-right pairs
  std::vector<std::string> notes;
  std::vector<std::string> warnings;

  bool ok() const { return warnings.empty() && coverage.empty(); }
};

// Reads everything that `config` names; regions with a defect in any run are left out of the figures. Without an atlas
// and names, homotopic pairs assume the order left then right, and a note says so.
FmriReport check_fmri(const SeriesConfig& config);

std::string to_text(const FmriReport& report);

}  // namespace locus
