#include "study/sweep_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "io/file.h"
#include "run/files.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

bool same_file(int fd, const fs::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

CellOutcome read_failure(const fs::path& file) {
  CellOutcome out;
  const Json json = Json::parse(read_text_file(file), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return out;
  const auto* const name = std::find(kCellStatusNames.begin(), kCellStatusNames.end(), json.value("status", std::string()));
  if (name == kCellStatusNames.end()) return out;
  out.status = static_cast<CellStatus>(name - kCellStatusNames.begin());
  out.reason = json.value("reason", std::string());
  return out;
}

}  // namespace

void SweepFolder::prepare() const {
  for (const fs::path& p : {path_, plans(), cells()}) {
    ensure_writable_directory(p);
    remove_stale_temporaries(p);
  }
}

void SweepFolder::adopt(SweepPlan& plan) const {
  std::unordered_set<std::string> there;
  std::error_code code;
  for (fs::directory_iterator it(cells(), code), end; !code && it != end; it.increment(code))
    there.insert(it->path().filename().string());
  for (SweepCell& cell : plan.cells) {
    const bool begun = there.count(cell.version1) != 0 || there.count(failure(cell.version1).filename().string()) != 0;
    if (!cell.version1.empty() && begun && there.count(cell.hash) == 0) cell.hash = cell.version1;
  }
}

CellOutcome SweepFolder::outcome(const std::string& hash) const {
  CellOutcome out;
  try {
    if (is_there(run(hash) / run_files::kSummary)) out.summary = read_run_summary(run(hash));
  } catch (const Error&) {
    out.summary.reset();  // damaged or another run's: the run goes on from its last checkpoint and writes it again
  }
  if (out.summary) {
    out.reason = out.summary->reason;
    switch (out.summary->status) {
      case RunStatus::kFinished:
      case RunStatus::kConverged:
        out.status = CellStatus::kFinished;
        return out;
      case RunStatus::kDiverged:
        out.status = CellStatus::kDiverged;
        return out;
      default:
        out.summary.reset();
        out.reason.clear();
    }
  }
  if (is_there(failure(hash))) return read_failure(failure(hash));
  return out;
}

void SweepFolder::record_failure(const std::string& hash, const std::string& name, const CellOutcome& outcome) const {
  Json json;
  json["cell"] = hash;
  json["name"] = name;
  json["status"] = cell_status_name(outcome.status);
  json["reason"] = outcome.reason;
  json["log"] = log(hash).filename().string();
  json["time"] = utc_now();
  try {
    write_file_atomic(failure(hash), json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const IoError&) {
    return;  // the disk may be what is full; the sweep tells of it at its end
  }
}

void SweepFolder::write_plan(const SweepPlan& plan) const {
  Json json;
  json["format"] = 1;
  json["metric"] = plan.metric;
  json["keys"] = plan.keys;
  json["bases"] = Json::array();
  for (std::size_t i = 0; i < plan.bases.size(); ++i) {
    RunConfig copy = plan.bases[i];
    Json values = Json::object();
    const FieldList list = describe(copy);
    for (const Field& f : list.fields()) values[f.path] = plain_text(f.value());
    json["bases"].push_back({{"case", plan.cases[i]}, {"config", std::move(values)}});
  }
  Json cells = Json::array();
  for (const SweepCell& cell : plan.cells) {
    Json values = Json::object();
    for (const SweepSetting& s : cell.settings) values[s.key] = plain_text(s.value);
    Json one = {{"cell", cell.hash}, {"base", cell.base}, {"set", std::move(values)}};
    if (!cell.off.empty()) one["off"] = cell.off;
    cells.push_back(std::move(one));
  }
  json["cells"] = std::move(cells);
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  const fs::path file = plans() / (sha256_hex(text).substr(0, 16) + ".json");
  if (!is_there(file)) write_file_atomic(file, text);
}

std::optional<CellClaim> CellClaim::take(const fs::path& lock_file) {
  CellClaim claim;
  claim.path_ = lock_file;
  claim.fd_ = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (claim.fd_ < 0) throw_system_error("cannot make the lock of a cell", lock_file, errno);
  if (::flock(claim.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(std::exchange(claim.fd_, -1));
    return std::nullopt;
  }
  // The former owner may have removed the file between our open and our lock; then another may hold its successor.
  if (!same_file(claim.fd_, lock_file)) {
    ::close(std::exchange(claim.fd_, -1));
    return std::nullopt;
  }
  return claim;
}

CellClaim::CellClaim(CellClaim&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

CellClaim& CellClaim::operator=(CellClaim&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void CellClaim::release() {
  if (fd_ < 0) return;
  if (same_file(fd_, path_)) ::unlink(path_.c_str());
  ::close(std::exchange(fd_, -1));
}

}  // namespace locus
