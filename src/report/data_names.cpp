#include "report/data_names.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <variant>

#include "config/sources.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

// The first setting that names files: what a result that is kept has to forget, before it does.
std::vector<std::string> places_of(const RunConfig& config) {
  const SourceRow& source = source_of(config);
  if (source.forget_places == nullptr) return {};
  RunConfig before = config, after = config;
  source.forget_places(after);
  const FieldList was = describe(before), is = describe(after);
  for (const Field& f : was.fields()) {
    if (f.text() == is.find(f.path, f.path).text()) continue;
    const FieldValue value = f.value();
    if (const auto* text = std::get_if<std::string>(&value)) return {*text};
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return *texts;
  }
  return {};
}

bool is_pattern(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

// The folder that holds all of them.
std::string common_folder(const std::vector<std::string>& paths) {
  fs::path common = fs::path(paths[0]).parent_path();
  for (const std::string& p : paths) {
    const fs::path folder = fs::path(p).parent_path();
    const auto differs = std::mismatch(common.begin(), common.end(), folder.begin(), folder.end());
    fs::path shared;
    for (auto it = common.begin(); it != differs.first; ++it) shared /= *it;
    common = shared;
  }
  while (is_pattern(common.filename().string())) common = common.parent_path();
  return common.filename().string();
}

}  // namespace

std::string data_name(const RunConfig& config) {
  const std::vector<std::string> places = places_of(config);
  if (places.empty()) return source_of(config).title;
  std::string name = fs::path(places[0]).filename().string();
  if (places.size() > 1 || is_pattern(places[0])) name = common_folder(places);
  return name.empty() || name == "." || name == ".." ? source_of(config).title : name;
}

std::vector<std::string> data_names(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  std::map<std::string, std::string> by_hash;
  for (const Run& run : runs) {
    names.emplace_back(run.usable() ? data_name(*run.config) : "");
    if (!run.usable() || !run.manifest.contains("data_hash") || !run.manifest["data_hash"].is_string()) continue;
    names.back() = by_hash.emplace(run.manifest["data_hash"].get<std::string>(), names.back()).first->second;
  }
  return names;
}

std::vector<std::pair<std::string, Inputs>> by_data(const Inputs& inputs) {
  const std::vector<std::string> names = data_names(inputs.runs);
  std::map<std::string, std::vector<Run>> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) parts[names[i]];
  }
  std::vector<std::pair<std::string, Inputs>> out;
  if (parts.size() < 2) return out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) parts[names[i]].push_back(inputs.runs[i]);
  }
  for (auto& [name, runs] : parts) out.emplace_back(name, make_inputs(std::move(runs)));
  return out;
}

}  // namespace locus::report
