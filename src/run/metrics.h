// What a run measured: one row per evaluation, as JSON lines and as a tidy CSV, appended as it comes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "run/files.h"

namespace locus {

// One evaluation. Keys of `values` are split.measure or split.measure.condition: "heldout.accuracy.binary".
struct MetricRow {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  double seconds = 0;
  double lr = 0;
  double grad_norm = 0;
  std::vector<std::pair<std::string, double>> values;

  std::optional<double> find(std::string_view name) const;
};

struct MetricKey {
  std::string split;
  std::string measure;
  std::string condition;  // may be empty
};
MetricKey parse_metric_key(std::string_view key);

// How far the two files go. Times make the JSON lines' bytes differ from run to run, so lines are counted there: an
// interrupted and an undisturbed run then store the same position.
struct MetricsPosition {
  std::int64_t rows = 0;
  std::int64_t csv_bytes = 0;
  std::string csv_sha256 = {};  // of these bytes; "" in checkpoints from before it was recorded
  bool operator==(const MetricsPosition&) const = default;
};

std::string metrics_json_line(const MetricRow& row);  // with the newline
std::string metrics_csv_lines(const MetricRow& row);  // without a header
inline constexpr std::string_view kMetricsCsvHeader = "epoch,step,split,condition,measure,value\n";

class MetricsWriter {
 public:
  MetricsWriter() = default;
  explicit MetricsWriter(const std::filesystem::path& folder);

  void append(const MetricRow& row);  // both lines are with the operating system on return
  MetricsPosition position() const;
  // Cuts both files back and returns the `seconds` of the last row kept (0 when none). A CSV that is not as the position
  // says is made again from the JSON lines; IoError when those are not what was written either.
  double truncate(const MetricsPosition& position);
  void check(const MetricsPosition& position) const { plan_cut(position); }  // throws as truncate() would; changes nothing
  const std::string& note() const { return note_; }  // of the last truncate: what was mended or cannot be checked
  void sync();

 private:
  // What truncate() leaves.
  struct Cut {
    std::size_t json_bytes = 0;
    std::string csv;
    double seconds = 0;
    std::string note;
  };
  Cut plan_cut(const MetricsPosition& position) const;
  void replace_csv(const std::string& text);
  AppendFile jsonl_;
  AppendFile csv_;
  Sha256 csv_hash_;  // of all that stands in the CSV
  std::int64_t rows_ = 0;
  std::string note_;
};

// All rows of a run, for reading.
struct MetricsTable {
  std::vector<MetricRow> rows;
  std::size_t evaluations = 0;  // lines of the file; more than rows where these were thinned or left out

  std::vector<std::string> names() const;  // of values, in order of first appearance
  std::optional<double> last(std::string_view name) const;
  std::vector<std::pair<std::int64_t, double>> series(std::string_view name) const;  // (epoch, value)
};

// Reads what can be read; each line that cannot is named in `problems`. A missing file gives an empty table. Where there are
// more than `most` lines, every 2nd, 4th, ... is read (so runs of one length share their epochs) and always the last.
MetricsTable read_metrics(const std::filesystem::path& jsonl, std::vector<std::string>& problems,
                          std::size_t most = std::numeric_limits<std::size_t>::max());
// The last row that is whole, without reading those before it; nothing when there is none.
std::optional<MetricRow> read_last_metrics(const std::filesystem::path& jsonl);

}  // namespace locus
