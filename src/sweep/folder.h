// The folder of sweeps: plans/, cells/<hash>/ (run directories) with <hash>.log, results.csv and results.json. All state
// of a sweep is in here, and any number of processes may work in it at once: a cell belongs to who holds its claim
// (run/claim.h).
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/layout.h"
#include "run/run_summary.h"
#include "sweep/plan.h"

namespace locus {

enum class CellStatus { kPending, kFinished, kInterrupted, kDiverged, kFailed, kOutOfMemory, kCrashed, kKilled, kDiskFull };
inline constexpr std::array<std::string_view, 9> kCellStatusNames = {
    "pending", "finished", "interrupted", "diverged", "failed", "out of memory", "crashed", "killed", "disk full"};
inline std::string_view cell_status_name(CellStatus s) { return kCellStatusNames[static_cast<std::size_t>(s)]; }

struct CellOutcome {
  CellStatus status = CellStatus::kPending;
  std::string reason;
  std::optional<Summary> summary;  // of finished and diverged cells

  // Finished, or diverged: running it again would give the same.
  bool is_final() const { return status == CellStatus::kFinished || status == CellStatus::kDiverged; }
  bool is_failure() const { return status > CellStatus::kInterrupted; }
};

std::string plan_name(const std::string& text);  // of the file of a plan: by its content

class SweepFolder {
 public:
  explicit SweepFolder(std::filesystem::path path) : path_(std::move(path)) {}

  void prepare() const;  // makes it, proves it writable, clears what killed processes left
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path plans() const { return path_ / sweep_files::kPlans; }
  std::filesystem::path cells() const { return path_ / sweep_files::kCells; }
  std::filesystem::path results() const { return path_ / sweep_files::kResultsCsv; }
  std::filesystem::path run(const std::string& hash) const { return cells() / hash; }
  std::filesystem::path config(const std::string& hash) const { return cells() / (hash + ".toml"); }
  std::filesystem::path log(const std::string& hash) const { return cells() / (hash + ".log"); }
  std::filesystem::path lock(const std::string& hash) const { return cells() / (hash + ".lock"); }
  std::filesystem::path failure(const std::string& hash) const { return cells() / (hash + ".failure.json"); }

  // Cells that an earlier version began in this folder keep the name that they have here.
  void adopt(SweepPlan& plan) const;
  // A run that came to its end before `steps` is not at its end: it is to be trained on.
  CellOutcome outcome(const std::string& hash, std::int64_t steps = 0) const;
  void record_failure(const std::string& hash, const std::string& name, const CellOutcome& outcome) const;
  // `isa`: the instruction set that all cells are trained with; "" leaves it open.
  void write_plan(const SweepPlan& plan, const std::string& isa = "") const;
  // The one that the plans in this folder name; "" where none does. IoError when two differ.
  std::string planned_isa() const;

 private:
  std::filesystem::path path_;
};

}  // namespace locus
