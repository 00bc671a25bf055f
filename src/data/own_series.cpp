#include "data/own_series.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/series_files.h"
#include "io/array.h"
#include "io/folder.h"
#include "io/table.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kRecordings = {".h5",  ".hdf5", ".mat", ".nii", ".nii.gz",
                                                          ".npy", ".npz",  ".csv", ".tsv", ".txt"};
constexpr std::size_t kAlwaysSeries = 5;  // the first of these hold recordings even where there is one file alone
constexpr std::size_t kFirstText = 7;
constexpr std::size_t kFewestSubjects = 3;

// Index in kRecordings, or its size.
std::size_t kind_of(const std::string& path) {
  const std::string name = to_lower(fs::path(path).filename().string());
  for (std::size_t i = 0; i < kRecordings.size(); ++i) {
    if (name.ends_with(kRecordings[i])) return i;
  }
  return kRecordings.size();
}

struct Folder {
  std::vector<std::string> recordings;
  std::vector<std::string> tables;  // text tables that are none of them
};

// Files beside the recordings that may be recordings too; one or many text tables beside others may be of regions or people.
void refuse_several_kinds(const std::string& path, const std::map<std::size_t, std::vector<std::string>>& by_kind,
                          std::size_t chosen) {
  const auto is_text = [](std::size_t kind) { return kind >= kFirstText; };
  for (const auto& [kind, files] : by_kind) {
    const bool may_be_tables = is_text(kind) && (files.size() == 1 || !is_text(chosen));
    if (kind == chosen || may_be_tables) continue;
    throw DataError({.what = "which of these files are the recordings?",
                     .where = path,
                     .got = fmt::format("{} of {} and {} of {}", by_kind.at(chosen).size(), kRecordings[chosen],
                                        files.size(), kRecordings[kind]),
                     .expected = "recordings of one kind",
                     .hint = fmt::format("name them, such as '{}/*{}'", path, kRecordings[chosen])});
  }
}

// The most frequent kind of file is that of the recordings.
Folder look_into(const std::string& path) {
  std::map<std::size_t, std::vector<std::string>> by_kind;
  for (const fs::path& file : files_below(path)) {
    if (kind_of(file.string()) < kRecordings.size()) by_kind[kind_of(file.string())].push_back(file.string());
  }
  if (by_kind.empty()) {
    throw IoError({.what = "no recordings in this folder",
                   .where = path,
                   .expected = "files of region time series: HDF5, MATLAB, NIfTI, CIFTI, NumPy or text tables"});
  }
  const auto most = std::max_element(by_kind.begin(), by_kind.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  refuse_several_kinds(path, by_kind, most->first);
  Folder out;
  out.recordings = most->second;
  for (const auto& [kind, files] : by_kind) {
    const bool text = kRecordings[kind] == ".csv" || kRecordings[kind] == ".tsv";
    if (text && kind != most->first) out.tables.insert(out.tables.end(), files.begin(), files.end());
  }
  return out;
}

// The one table whose rows are as many as one of the axes of the recordings; "" when there is none, or more than one.
std::string table_of_regions(const Folder& folder, const std::string& dataset) {
  MatrixOptions options;
  options.dataset = dataset;
  const NamedMatrix first = read_matrix(folder.recordings.front(), options);
  std::vector<std::string> fitting;
  for (const std::string& path : folder.tables) {
    TableOptions table;
    table.header = Presence::kYes;
    const auto rows = static_cast<std::ptrdiff_t>(read_table(path, table).rows.size());
    if (rows == first.values.rows() || rows == first.values.cols()) fitting.push_back(path);
  }
  return fitting.size() == 1 ? fitting.front() : "";
}

std::size_t count_subjects(const SeriesConfig& config) {
  std::vector<std::string> notes;
  std::set<std::string> subjects;
  for (const SeriesFile& file : list_series_files(config, notes)) subjects.insert(file.subject);
  return subjects.size();
}

}  // namespace

bool are_region_series(const std::vector<std::string>& paths) {
  return paths.size() > 1 || (paths.size() == 1 && (is_folder(paths[0]) || kind_of(paths[0]) < kAlwaysSeries));
}

RunConfig own_series_config(const OwnSeriesOptions& options) {
  RunConfig config;
  config.study = "masked";
  config.model.width = 64;
  config.model.readout = Readout::kMasked;
  config.pe.sigma = 0.1;
  config.optim.lr = 3e-3;
  config.optim.schedule = Schedule::kCosine;
  config.optim.warmup_steps = 250;
  config.optim.schedule_steps = 4000;
  config.train.batch = 8;
  config.stop.epochs = 0;
  config.stop.steps = 4000;
  config.watch.eval_steps = 500;
  SeriesConfig& s = config.series;
  s.source = SeriesSource::kFiles;
  s.dataset = options.dataset;
  s.atlas = options.labels;
  for (const std::string& path : options.paths) {
    if (!is_folder(path)) {
      s.files.push_back(path);
      continue;
    }
    const Folder folder = look_into(path);
    s.files.insert(s.files.end(), folder.recordings.begin(), folder.recordings.end());
    if (s.atlas.empty()) s.atlas = table_of_regions(folder, options.dataset);
  }
  const std::size_t subjects = count_subjects(s);
  s.split_by = subjects >= kFewestSubjects ? SplitBy::kSubject : SplitBy::kTime;
  s.test_fraction = 0.2;
  // A whole subject for validation where that leaves enough to train on.
  s.validation_fraction = subjects >= kFewestSubjects && subjects < 5 ? 0 : 0.1;
  s.zscore = ZScore::kRun;
  return config;
}

}  // namespace locus
