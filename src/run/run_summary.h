// How a run ended: summary.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace locus {

enum class RunStatus { kFinished, kConverged, kInterrupted, kDiverged, kFailed };
inline constexpr std::array<std::string_view, 5> kRunStatusNames = {"finished", "converged", "interrupted", "diverged",
                                                                    "failed"};

struct Summary {
  RunStatus status = RunStatus::kFinished;
  std::string reason;
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  double seconds = 0;
  std::string config_hash = {};  // these three are filled in by RunDirectory
  std::string data_hash = {};
  std::string signature = {};
  std::vector<std::pair<std::string, double>> values = {};  // last value of every metric, by its name
  std::string run_id = {};                                  // of the manifest; these two are filled in by RunDirectory, too
  std::string metrics_sha256 = {};                          // of metrics.jsonl at the end
  bool verified = false;                                    // by read_run_summary: it is this run's for certain

  std::optional<double> find(std::string_view name) const;
  bool is_complete() const { return status == RunStatus::kFinished || status == RunStatus::kConverged; }
};

void write_summary_file(const std::filesystem::path& file, const Summary& summary);
Summary read_summary_file(const std::filesystem::path& file);  // as it stands; IoError

// The summary in a run's folder, checked against the manifest beside it. IoError when it is damaged or that of another run;
// one from before run_id was recorded is returned unverified. Where a checkpoint is of a later step, training went on after
// that end and was cut off: the status is then kInterrupted.
Summary read_run_summary(const std::filesystem::path& run);

// A sentence when metrics.jsonl is not what it was when the summary was written, else "".
std::string metrics_problem(const std::filesystem::path& run, const Summary& summary);

}  // namespace locus
