// Region time series from files: one run or many, any format of io, oriented, matched to an atlas, checked for
// coverage, split so that no subject stands on both sides, scaled, and cut into examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "data/atlas.h"
#include "data/examples.h"

namespace locus {

struct RegionRun {
  std::string subject;
  std::string run;
  std::string path;
  std::string format;
  std::string sha256;  // of the file
  std::int64_t file_rows = 0;
  std::int64_t file_columns = 0;
  bool tokens_are_rows = false;    // as decided
  bool further = false;            // from series.test_files
  bool matched_by_number = false;  // ids or numbering put the regions in order
  MatrixD frames;                  // (frames, regions); NaN where the file lacks the region
};

enum class Defect { kAbsent, kNanValues, kConstant };

struct CoverageEntry {
  std::size_t run = 0;
  std::int64_t region = 0;
  Defect defect = Defect::kAbsent;
  std::int64_t frames = 0;  // how many are not finite, for kNanValues
};

struct RegionSeries {
  std::vector<RegionRun> runs;     // in the order of the files
  std::vector<std::string> names;  // (T); "region001" and so on when nobody names them
  bool named = false;              // by a file or the atlas
  Atlas atlas;                     // rows as the columns of the runs; size 0 without
  std::vector<CoverageEntry> coverage;
  std::vector<std::string> dropped;  // names of regions left out by coverage = drop
  std::vector<std::string> notes;    // decisions a user should know of
  std::vector<std::string> warnings;

  std::int64_t regions() const { return static_cast<std::int64_t>(names.size()); }
};

// Files, globs or manifest to runs (frames after skip_frames), oriented and matched, hemisphere chosen, coverage listed.
// Orientation "auto" asks in this order: names of one axis (or what a table calls them), the atlas's size, the axis that is
// equal in all runs while the other is not; else the longer axis is time and a note says so. Subjects: see subjects.h. Order
// of the regions: atlas_match.h. Columns that are no tokens: series_columns.h.
RegionSeries read_series(const SeriesConfig& config);

// Whether a file is a table with the columns subject and path.
bool is_manifest(const std::string& path);

// coverage = error: DataError naming regions and files; drop: removes them from all runs and keeps their names.
void apply_coverage(RegionSeries& series, Coverage policy);

// Mean over subjects of Fisher-z correlations (a subject's runs averaged first), transformed back. Over `runs` (frames, T).
struct SubjectFrames {
  std::string subject;
  const MatrixD* frames;
};
MatrixD mean_connectivity(const std::vector<SubjectFrames>& runs);

// Splits "train", "validation" (if asked), "test" (if any), "further" (series.test_files beside a test split).
// Truths: "connectivity" of the training runs (mean_connectivity) and "networks" where the atlas has them; the graph is
// that of the graph_neighbours strongest positive partners in it. Cluster of a sample: its subject.
// z-score "run" takes a run's own mean and deviation; when time or samples are split, those of its training part.
Dataset make_series_dataset(const RunConfig& config);

}  // namespace locus
