// Results of analyses on disk: writing them whole, recognising them again.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/analyze.h"
#include "io/file.h"
#include "io/npy.h"
#include "run/analysis_files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json head_of(const AnalysisStamp& stamp, bool available) {
  nlohmann::ordered_json json;
  json["name"] = stamp.name;
  json["inputs_hash"] = stamp.inputs_hash;
  json["available"] = available;
  json[kMadeOf] = stamp.made_of;
  return json;
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Files of earlier results of this analysis that a new one does not replace.
void remove_others(const fs::path& folder, const std::string& name, const std::vector<std::string>& keep) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string file = entry.path().filename().string();
    const bool ours = file.starts_with(name + ".") && (file.ends_with(".csv") || file.ends_with(".npz"));
    if (ours && std::find(keep.begin(), keep.end(), file) == keep.end()) fs::remove(entry.path(), code);
  }
}

void write_arrays(const fs::path& path, const std::vector<ResultArray>& arrays) {
  std::vector<TensorView> views;
  views.reserve(arrays.size());
  for (const ResultArray& a : arrays) views.push_back(tensor_view<float>(a.name, a.shape, a.values));
  write_npz(path, views);
}

}  // namespace

fs::path write_analysis(const fs::path& folder, const AnalysisStamp& stamp, const AnalysisOutput& output) {
  const fs::path path = analysis_file(folder, stamp.name);
  const fs::path place = path.parent_path();
  ensure_writable_directory(place);
  std::vector<std::string> files;
  for (const auto& [table, text] : output.tables) {
    files.push_back(stamp.name + (table.empty() ? "" : "." + table) + ".csv");
    write_file_atomic(place / files.back(), text);
  }
  if (!output.arrays.empty()) {
    files.push_back(stamp.name + ".npz");
    write_arrays(place / files.back(), output.arrays);
  }
  remove_others(place, stamp.name, files);
  nlohmann::ordered_json json = head_of(stamp, true);
  json["files"] = files;
  json.update(output.json);
  write_file_atomic(path, dump(json));
  return path;
}

fs::path write_unavailable(const fs::path& folder, const AnalysisStamp& stamp, const Error& error) {
  const fs::path path = analysis_file(folder, stamp.name);
  ensure_writable_directory(path.parent_path());
  remove_others(path.parent_path(), stamp.name, {});
  nlohmann::ordered_json json = head_of(stamp, false);
  const ErrorParts& parts = error.parts();
  json["what"] = parts.what;
  json["got"] = parts.got;
  json["expected"] = parts.expected;
  json["hint"] = parts.hint;
  write_file_atomic(path, dump(json));
  return path;
}

bool is_cached(const fs::path& folder, const AnalysisStamp& stamp) {
  std::error_code code;
  const fs::path path = analysis_file(folder, stamp.name);
  if (!fs::is_regular_file(path, code)) return false;
  auto json = nlohmann::ordered_json::parse(read_text_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return false;
  if (json.value("inputs_hash", "") != stamp.inputs_hash || !json.value("available", false)) return false;
  const bool whole = std::all_of(json["files"].begin(), json["files"].end(), [&](const auto& file) {
    return file.is_string() && fs::is_regular_file(path.parent_path() / file.template get<std::string>(), code);
  });
  if (whole && json.value(kMadeOf, nlohmann::ordered_json()) != stamp.made_of) {
    json[kMadeOf] = stamp.made_of;
    try {
      write_file_atomic(path, dump(json));
    } catch (const IoError&) {
      return whole;  // an archive that cannot be written: the result counts all the same
    }
  }
  return whole;
}

namespace {

nlohmann::ordered_json read_available(const fs::path& path) {
  auto json = nlohmann::ordered_json::parse(read_text_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("available")) {
    throw IoError({.what = "not a result of an analysis", .where = path.string(), .hint = "run locus analyze again"});
  }
  if (!json.value("available", false)) {
    throw DataError({.what = json.value("what", "not available"),
                     .where = path.string(),
                     .got = json.value("got", ""),
                     .expected = json.value("expected", ""),
                     .hint = json.value("hint", "")});
  }
  return json;
}

}  // namespace

nlohmann::ordered_json read_analysis(const fs::path& folder, const std::string& name) {
  const fs::path path = analysis_file(folder, name);
  auto json = read_available(path);
  const AnalysisCheck check = check_analysis_in(folder, nlohmann::json(json));
  if (!check.usable()) throw DataError({.what = check.note, .where = path.string()});
  return json;
}

nlohmann::ordered_json read_analysis(const fs::path& folder, const std::string& name, const ModelState& now,
                                     AnalysisCheck& check) {
  auto json = read_available(analysis_file(folder, name));
  check = check_analysis(nlohmann::json(json), now);
  return json;
}

}  // namespace locus
