// Which files hold the runs, and whose each is: globs or a manifest.
#pragma once

#include <string>
#include <vector>

#include "config/masked_config.h"

namespace locus {

struct SeriesFile {
  std::string subject, run, path;
  bool further = false;  // from series.test_files
};

// In the order of the configuration; notes say which part of the names was taken for the subject.
std::vector<SeriesFile> list_series_files(const SeriesConfig& config, std::vector<std::string>& notes);

}  // namespace locus
