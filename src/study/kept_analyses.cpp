#include "study/kept_analyses.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "io/file.h"
#include "run/analysis_files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::set<std::string_view> kBookkeeping = {"epoch",      "repeat",     "token",    "source",   "examples",
                                                 "references", "parameters", "spearman", "condition"};
const std::set<std::string_view> kPlaces = {"layer", "head"};

bool is_kept(const std::string& analysis, const Json& row) {
  const std::string model = row.value("model", "final");
  if (model != "final" && model != "init") return false;
  if (row.value("token", -1) >= 0 || !row.value("condition", "").empty()) return false;
  if (analysis == "movement" && row.value("level", "") != "part") return false;
  return analysis != "interventions" || row.value("layer", -1) < 0;
}

// What identifies a row: its texts, its layer and head, and an intervention's amount.
std::string row_name(const Json& row) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : row.items()) {
    if (kBookkeeping.contains(key)) continue;
    if (value.is_string() && value != "" && value != "nan") parts.push_back(value.get<std::string>());
    if (kPlaces.contains(key) && value.get<std::int64_t>() >= 0)
      parts.push_back(key + std::to_string(value.get<std::int64_t>()));
    if (key == "amount" && value.is_number()) parts.push_back(shortest(value.get<double>()));
  }
  return join(parts, ".");
}

double six_digits(double x) {
  if (x == 0) return 0;
  const double unit = std::pow(10.0, 5 - std::floor(std::log10(std::abs(x))));
  return std::round(x * unit) / unit;
}

struct Mean {
  double sum = 0;
  int count = 0;
};

void add_rows(const std::string& analysis, const std::string& prefix, const Json& rows, std::map<std::string, Mean>& means) {
  for (const Json& row : rows) {
    if (!row.is_object() || !is_kept(analysis, row)) continue;
    const std::string name = prefix + "." + row_name(row) + ".";
    for (const auto& [key, value] : row.items()) {
      if (!value.is_number() || kBookkeeping.contains(key) || kPlaces.contains(key) || key == "amount") continue;
      Mean& mean = means[name + key];
      mean.sum += value.get<double>();
      ++mean.count;
    }
  }
}

}  // namespace

Json flat_analyses(const std::string& run_path, std::vector<std::string>& notes) {
  std::map<std::string, Mean> means;
  std::error_code code;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(analysis_folder(run_path), code)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const ModelState now = files.empty() ? ModelState() : model_state(fs::path(run_path));
  for (const fs::path& file : files) {
    const Json json = Json::parse(read_text_file(file));
    if (!json.value("available", false)) continue;
    const AnalysisCheck check = check_analysis(nlohmann::json(json), now);
    if (!check.note.empty()) notes.push_back(file.filename().string() + " " + check.note);
    if (!check.usable()) continue;
    const std::string analysis = file.stem().string();
    for (const auto& [key, value] : json.items()) {
      if (value.is_array()) add_rows(analysis, key == "rows" ? analysis : analysis + "." + key, value, means);
    }
  }
  Json out = Json::object();
  for (const auto& [name, mean] : means) out[name] = six_digits(mean.sum / mean.count);
  return out;
}

}  // namespace locus
