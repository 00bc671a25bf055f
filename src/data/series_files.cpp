#include "data/series_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/series.h"
#include "data/subjects.h"
#include "io/file.h"
#include "io/table.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

void add_files(std::vector<SeriesFile>& out, const std::vector<std::string>& globs, bool further) {
  for (const std::string& glob : globs) {
    if (fs::is_directory(glob)) {
      throw IoError({.what = "this is a folder",
                     .where = glob,
                     .expected = "files, a glob or a manifest",
                     .hint = fmt::format("name its files, such as '{}/*'", glob)});
    }
    for (const fs::path& p : expand_glob(glob)) out.push_back({"", p.stem().string(), p.string(), further});
  }
}

// Files of a manifest have their subjects already.
std::string name_subjects(std::vector<SeriesFile>& sources, const std::string& pattern) {
  std::vector<NamedFile> files;
  std::vector<std::string> ids, paths;
  for (const SeriesFile& s : sources) {
    if (s.subject.empty()) files.push_back({s.path, s.further});
  }
  const Subjects subjects = files.empty() ? Subjects{} : subjects_of(files, pattern);
  auto next = subjects.ids.begin();
  for (SeriesFile& s : sources) {
    if (s.subject.empty()) s.subject = *next++;
    ids.push_back(s.subject);
    paths.push_back(s.path);
  }
  refuse_near_ids(ids, paths);
  return subjects.note;
}

void add_manifest(std::vector<SeriesFile>& out, const std::string& path) {
  TableOptions options;
  options.header = Presence::kYes;
  const Table table = read_table(path, options);
  const std::size_t subject = table.column("subject");
  const std::size_t file = table.column("path");
  const bool has_run = std::find(table.header.begin(), table.header.end(), "run") != table.header.end();
  const fs::path folder = fs::path(path).parent_path();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& row = table.rows[r];
    const std::string name(trim(row[file]));
    const std::string id(trim(row[subject]));
    if (name.empty() || id.empty()) {
      throw DataError({.what = "subject or path is empty", .where = fmt::format("{}:{}", path, table.lines[r])});
    }
    const fs::path full = fs::path(name).is_absolute() ? fs::path(name) : folder / name;
    if (!fs::exists(full)) {
      throw IoError({.what = "a file of the manifest is not there",
                     .where = fmt::format("{}:{}", path, table.lines[r]),
                     .got = full.string(),
                     .hint = "paths are taken from the folder of the manifest"});
    }
    const std::string run = has_run ? std::string(trim(row[table.column("run")])) : full.stem().string();
    out.push_back({id, run, full.string(), false});
  }
}

}  // namespace

std::vector<SeriesFile> list_series_files(const SeriesConfig& c, std::vector<std::string>& notes) {
  std::vector<SeriesFile> sources;
  if (!c.manifest.empty() && !c.files.empty()) {
    throw ConfigError({.what = "series.files and series.manifest are both given",
                       .where = "series",
                       .got = fmt::format("files {}, manifest {}", join(c.files, " "), c.manifest),
                       .expected = "one of them",
                       .hint = "series.files='[]' or series.manifest= leaves one of them out"});
  }
  if (!c.manifest.empty()) add_manifest(sources, c.manifest);
  add_files(sources, c.files, false);
  if (sources.empty()) {
    throw ConfigError(
        {.what = "no series files are given", .where = "series.files", .got = "", .expected = "files, globs or a manifest"});
  }
  add_files(sources, c.test_files, true);
  std::set<std::string> seen;
  for (const SeriesFile& s : sources) {
    std::error_code ec;
    const fs::path real = fs::weakly_canonical(s.path, ec);
    if (!seen.insert(ec ? s.path : real.string()).second) {
      throw DataError({.what = "a file is listed twice",
                       .where = s.path,
                       .got = "",
                       .expected = "each run once",
                       .hint = "check series.files, series.test_files or the manifest for overlaps"});
    }
  }
  const std::string note = name_subjects(sources, c.subject_pattern);
  if (!note.empty()) notes.push_back(note);
  return sources;
}

bool is_manifest(const std::string& path) {
  std::error_code code;
  if (!path.ends_with(".csv") && !path.ends_with(".tsv")) return false;
  if (!fs::is_regular_file(path, code)) return false;
  std::ifstream file(path);
  std::string header;
  if (!std::getline(file, header)) return false;
  std::set<std::string> columns;
  for (const std::string& name : split(header, path.ends_with(".tsv") ? '\t' : ',')) columns.insert(std::string(trim(name)));
  return columns.contains("subject") && columns.contains("path");
}

}  // namespace locus
