// Results of analyses on disk: writing them whole, recognising them again.
#include <fmt/core.h>

#include <algorithm>

#include "analyze/analyze.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/temporary.h"
#include "run/analysis_files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

Json head_of(const AnalysisStamp& stamp, bool available) {
  Json json;
  json["name"] = stamp.name;
  json["inputs_hash"] = stamp.inputs_hash;
  json["available"] = available;
  json[kMadeOf] = stamp.made_of;
  return json;
}

std::string dump(const Json& json) { return json.dump(1) + "\n"; }

// Files of earlier results of this analysis that a new one does not replace.
void remove_others(const fs::path& folder, const std::string& name, const std::vector<std::string>& keep) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string file = entry.path().filename().string();
    const bool ours = file.starts_with(name + ".") && (file.ends_with(".csv") || file.ends_with(".npz"));
    if (ours && std::find(keep.begin(), keep.end(), file) == keep.end()) fs::remove(entry.path(), code);
  }
}

// The JSON file says that a result is whole: it goes first and comes last, so that no kill leaves it beside tables of
// another result. The run's own folder must be there: one that was moved is not made again under its old name.
void take_back(const fs::path& json) {
  const fs::path place = json.parent_path();
  make_folder(place);
  remove_stale_temporaries(place);
  if (remove_file(json)) sync_folder(place);
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
  take_back(path);
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
  Json json = head_of(stamp, true);
  json["files"] = files;
  for (const auto& [key, value] : output.json.items()) json[key] = value;
  write_file_atomic(path, dump(json));
  return path;
}

fs::path write_unavailable(const fs::path& folder, const AnalysisStamp& stamp, const Error& error) {
  const fs::path path = analysis_file(folder, stamp.name);
  take_back(path);
  remove_others(path.parent_path(), stamp.name, {});
  Json json = head_of(stamp, false);
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
  auto json = Json::parse(read_text_file(path));
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return false;
  if (json.value("inputs_hash", "") != stamp.inputs_hash || !json.value("available", false)) return false;
  const bool whole = std::all_of(json["files"].begin(), json["files"].end(), [&](const auto& file) {
    return file.is_string() && fs::is_regular_file(path.parent_path() / file.template get<std::string>(), code);
  });
  if (whole && json.value(kMadeOf, Json()) != stamp.made_of) {
    json[kMadeOf] = stamp.made_of;
    try {
      write_file_atomic(path, dump(json));
    } catch (const IoError&) {
      return whole;  // an archive that cannot be written: the result counts all the same
    }
  }
  return whole;
}

Json read_analysis(const fs::path& folder, const std::string& name) {
  const fs::path path = analysis_file(folder, name);
  Json json = read_analysis_file(path);
  if (!json.value("available", false)) {
    throw DataError({.what = json.value("what", "not available"),
                     .where = path.string(),
                     .got = json.value("got", ""),
                     .expected = json.value("expected", ""),
                     .hint = json.value("hint", "")});
  }
  const AnalysisCheck check = check_analysis_in(folder, json);
  if (!check.usable()) throw DataError({.what = check.note, .where = path.string()});
  return json;
}

}  // namespace locus
