#include "sweep/folder.h"

#include <algorithm>
#include <fstream>
#include <unordered_set>

#include "core/error.h"
#include "core/hash.h"
#include "core/json.h"
#include "io/file.h"
#include "io/temporary.h"
#include "run/files.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

CellOutcome read_failure(const fs::path& file) {
  CellOutcome out;
  const Json json = Json::parse(read_text_file(file));
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

CellOutcome SweepFolder::outcome(const std::string& hash, std::int64_t steps) const {
  CellOutcome out;
  try {
    if (is_there(run(hash) / run_files::kSummary)) out.summary = read_run_summary(run(hash));
  } catch (const Error&) {
    out.summary.reset();  // damaged or another run's: the run goes on from its last checkpoint and writes it again
  }
  if (out.summary && out.summary->status == RunStatus::kFinished && out.summary->steps < steps) out.summary.reset();
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
    write_file_atomic(failure(hash), json.dump(2) + "\n");
  } catch (const IoError&) {
    return;  // the disk may be what is full; the sweep tells of it at its end
  }
}

std::string plan_name(const std::string& text) { return sha256_hex(text).substr(0, 16); }

std::string SweepFolder::planned_isa() const {
  static constexpr std::string_view kKey = "\"isa\": \"";
  std::string isa;
  std::error_code code;
  for (fs::directory_iterator it(plans(), code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() != ".json" || it->path().filename().string()[0] == '.') continue;
    // It stands at the beginning, before thousands of cells.
    std::string head(200, '\0');
    std::ifstream in(it->path(), std::ios::binary);
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    const std::size_t at = head.find(kKey);
    if (at == std::string::npos) continue;
    const std::string name = head.substr(at + kKey.size(), head.find('"', at + kKey.size()) - at - kKey.size());
    if (!isa.empty() && isa != name)
      throw IoError({.what = "the plans in this folder name different instruction sets",
                     .where = plans().string(),
                     .got = isa + " and " + name,
                     .hint = "sweep into a folder of its own"});
    isa = name;
  }
  return isa;
}

void SweepFolder::write_plan(const SweepPlan& plan, const std::string& isa) const {
  Json json;
  json["format"] = 1;
  if (!isa.empty()) json["isa"] = isa;
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
  const std::string text = json.dump(1) + "\n";
  const fs::path file = plans() / (plan_name(text) + ".json");
  // One that was cut off or altered is made whole again.
  if (!is_there(file) || file_sha256(file) != sha256_hex(text)) write_file_atomic(file, text);
}

}  // namespace locus
