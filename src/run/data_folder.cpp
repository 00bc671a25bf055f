#include "run/data_folder.h"

#include <variant>

#include "core/error.h"
#include "io/codec.h"
#include "run/layout.h"
#include "run/manifest.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr const char* kKey = "folder";

// Of a pattern, the part before its first wildcard has to be there.
bool is_begun(const fs::path& path) {
  fs::path plain;
  for (const fs::path& part : path) {
    if (part.native().find_first_of("*?[") != std::string::npos) break;
    plain /= part;
  }
  std::error_code code;
  return fs::exists(plain, code);
}

std::string found(const std::string& text, const std::vector<fs::path>& places) {
  if (text.empty() || fs::path(text).is_absolute()) return text;
  std::error_code code;
  const fs::path here = fs::current_path(code);
  for (const fs::path& place : places) {
    if (!is_begun(place / text)) continue;
    if (fs::weakly_canonical(place, code) == fs::weakly_canonical(here, code)) return text;
    return (place / text).lexically_normal().lexically_proximate(here).string();
  }
  return text;
}

}  // namespace

Json working_folder(const fs::path& run) {
  std::error_code code;
  const fs::path here = fs::current_path(code);
  return {{"path", here.string()},
          {"from_run", here.lexically_relative(fs::absolute(run, code).lexically_normal()).string()}};
}

void find_data_from_here(RunConfig& config, const fs::path& run, const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains(kKey)) return;
  std::error_code code;
  std::vector<fs::path> places;
  if (const std::string path = text_at(manifest[kKey], "path"); !path.empty()) places.emplace_back(path);
  if (const std::string path = text_at(manifest[kKey], "from_run"); !path.empty())
    places.push_back((fs::absolute(run, code) / path).lexically_normal());
  const FieldList list = describe(config);
  for (const std::string_view key : kPathKeys) {
    const Field& field = list.find(key, std::string(key));
    FieldValue value = field.value();
    if (auto* text = std::get_if<std::string>(&value)) *text = found(*text, places);
    if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      for (std::string& t : *texts) t = found(t, places);
    }
    field.set(value, std::string(key));
  }
}

void find_data_from_here(RunConfig& config, const fs::path& file) {
  const fs::path manifest = file.parent_path() / run_files::kManifest;
  std::error_code code;
  if (file.filename() != run_files::kConfig || !fs::is_regular_file(manifest, code)) return;
  find_data_from_here(config, file.parent_path(), read_manifest(manifest));
}

void require_data_of_run(const fs::path& run, const std::string& trained_on, const std::string& given) {
  if (trained_on.empty() || given.empty() || trained_on == given) return;
  throw DataError({.what = "the data set is not the one the run was trained on",
                   .where = run.string(),
                   .got = given,
                   .expected = trained_on,
                   .hint = "data files or the generator changed since; train again, or restore the files"});
}

}  // namespace locus
