// Region time series from files: which files, whose, which way round, in which order of regions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "core/error.h"
#include "core/symmetry.h"
#include "core/text.h"
#include "data/series.h"
#include "io/array.h"
#include "io/file.h"
#include "io/table.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string subject, run, path;
  bool further = false;
};

struct LoadedRun {
  Source source;
  NamedMatrix matrix;
  bool tokens_are_rows = false;
};

std::string subject_of(const std::string& path, const std::string& pattern) {
  const std::string file = fs::path(path).filename().string();
  std::smatch m;
  if (!pattern.empty()) {
    try {
      const std::regex given(pattern);
      if (std::regex_search(file, m, given) || std::regex_search(path, m, given)) {
        if (m.size() < 2) {
          throw ConfigError({.what = "series.subject_pattern has no group",
                             .where = "series.subject_pattern",
                             .got = pattern,
                             .expected = "parentheses around the subject, e.g. subj([0-9]+)"});
        }
        return m[1].str();
      }
    } catch (const std::regex_error&) {
      throw ConfigError(
          {.what = "series.subject_pattern is no regular expression", .where = "series.subject_pattern", .got = pattern});
    }
    throw DataError({.what = "series.subject_pattern does not match the file's name",
                     .where = path,
                     .got = pattern,
                     .expected = "a part of the name, with the subject in parentheses",
                     .hint = "series.subject_pattern= (empty) takes sub-... or the longest number in the name"});
  }
  static const std::regex bids("sub-([A-Za-z0-9]+)");
  if (std::regex_search(path, m, bids)) return m[1].str();
  static const std::regex digits("[0-9]+");
  std::string longest;
  for (auto it = std::sregex_iterator(file.begin(), file.end(), digits); it != std::sregex_iterator(); ++it) {
    if (it->str().size() > longest.size()) longest = it->str();
  }
  return longest.empty() ? fs::path(path).stem().string() : longest;
}

void add_files(std::vector<Source>& out, const SeriesConfig& c, const std::vector<std::string>& globs, bool further) {
  for (const std::string& glob : globs) {
    if (fs::is_directory(glob)) {
      throw IoError({.what = "this is a folder",
                     .where = glob,
                     .expected = "files, a glob or a manifest",
                     .hint = fmt::format("name its files, such as '{}/*'", glob)});
    }
    for (const fs::path& p : expand_glob(glob)) {
      out.push_back({subject_of(p.string(), c.subject_pattern), p.stem().string(), p.string(), further});
    }
  }
}

void add_manifest(std::vector<Source>& out, const std::string& path) {
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

std::vector<Source> list_sources(const SeriesConfig& c) {
  std::vector<Source> sources;
  if (!c.manifest.empty() && !c.files.empty()) {
    throw ConfigError({.what = "series.files and series.manifest are both given",
                       .where = "series",
                       .got = fmt::format("files {}, manifest {}", join(c.files, " "), c.manifest),
                       .expected = "one of them",
                       .hint = "series.files='[]' or series.manifest= leaves one of them out"});
  }
  if (!c.manifest.empty()) add_manifest(sources, c.manifest);
  add_files(sources, c, c.files, false);
  if (sources.empty()) {
    throw ConfigError(
        {.what = "no series files are given", .where = "series.files", .got = "", .expected = "files, globs or a manifest"});
  }
  add_files(sources, c, c.test_files, true);
  std::set<std::string> seen;
  for (const Source& s : sources) {
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
  return sources;
}

bool real_names(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& n) { return !parse_cell(n).has_value(); });
}

std::size_t names_in_atlas(const std::vector<std::string>& names, const Atlas& atlas) {
  std::set<std::string> known;
  for (const std::string& n : atlas.names) known.insert(to_lower(trim(n)));
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [&](const std::string& n) { return known.contains(to_lower(trim(n))); }));
}

// What one file alone says of its orientation.
std::optional<bool> rows_by_names(const NamedMatrix& m, const Atlas& atlas) {
  const bool rows = real_names(m.row_names), columns = real_names(m.column_names);
  if (rows && columns && !atlas.names.empty()) {
    const std::size_t r = names_in_atlas(m.row_names, atlas), c = names_in_atlas(m.column_names, atlas);
    if (r != c) return r > c;
  }
  if (m.column_step > 0 && m.row_step == 0) return true;
  if (m.row_step > 0 && m.column_step == 0) return false;
  if (columns) return false;  // a table's header names its columns; names of rows are samples then
  if (rows) return true;
  return std::nullopt;
}

std::optional<bool> rows_by_size(const NamedMatrix& m, std::int64_t size) {
  const bool rows = m.values.rows() == size, columns = m.values.cols() == size;
  if (rows == columns) return std::nullopt;
  return rows;
}

// The axis that is the same in all files while the other is not.
std::optional<bool> rows_by_consistency(const std::vector<LoadedRun>& runs) {
  std::set<std::ptrdiff_t> rows, columns;
  for (const LoadedRun& r : runs) {
    rows.insert(r.matrix.values.rows());
    columns.insert(r.matrix.values.cols());
  }
  if ((rows.size() == 1) == (columns.size() == 1)) return std::nullopt;
  return rows.size() == 1;
}

void orient(std::vector<LoadedRun>& runs, const SeriesConfig& c, RegionSeries& out) {
  const std::optional<bool> together = rows_by_consistency(runs);
  std::size_t guessed = 0;
  for (LoadedRun& r : runs) {
    std::optional<bool> rows = rows_by_names(r.matrix, out.atlas);
    if (!rows && out.atlas.size > 0) rows = rows_by_size(r.matrix, out.atlas.size);
    if (!rows) rows = together;
    if (c.orientation != Orientation::kAuto) {
      r.tokens_are_rows = c.orientation == Orientation::kTokensByTime;
      if (rows && *rows != r.tokens_are_rows) {
        out.warnings.push_back(fmt::format(
            "{}: series.orientation = {}, but the file looks like the other way round ({} x {})", r.source.path,
            kOrientationNames[static_cast<std::size_t>(c.orientation)], r.matrix.values.rows(), r.matrix.values.cols()));
      }
      continue;
    }
    if (!rows) ++guessed;
    r.tokens_are_rows = rows.value_or(r.matrix.values.cols() >= r.matrix.values.rows());
  }
  if (guessed > 0) {
    out.notes.push_back(fmt::format(
        "orientation of {} file(s) not told by names, atlas or sizes: the longer axis is taken as time", guessed));
  }
  const auto swapped = std::count_if(runs.begin(), runs.end(), [](const LoadedRun& r) { return r.tokens_are_rows; });
  if (swapped != 0 && swapped != static_cast<std::ptrdiff_t>(runs.size())) {
    out.warnings.push_back(fmt::format("orientation differs: {} file(s) are regions x time, {} are time x regions", swapped,
                                       static_cast<std::ptrdiff_t>(runs.size()) - swapped));
  }
}

std::vector<std::string> token_names(const LoadedRun& r) {
  const auto& names = r.tokens_are_rows ? r.matrix.row_names : r.matrix.column_names;
  return real_names(names) ? names : std::vector<std::string>{};
}

std::int64_t token_count(const LoadedRun& r) { return r.tokens_are_rows ? r.matrix.values.rows() : r.matrix.values.cols(); }

// Columns of the run in the order of `position` (from match_atlas); NaN for -1.
MatrixD oriented_frames(const LoadedRun& r, const std::vector<std::int64_t>& position, std::int64_t skip) {
  const MatrixD& m = r.matrix.values;
  const std::int64_t all = r.tokens_are_rows ? m.cols() : m.rows();
  if (all <= skip + 1) {
    throw DataError({.what = "a run has no frames to learn from",
                     .where = r.source.path,
                     .got = fmt::format("{} frames, {} skipped", all, skip),
                     .expected = "at least 2 after series.skip_frames"});
  }
  MatrixD frames(all - skip, static_cast<std::ptrdiff_t>(position.size()));
  for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) {
    for (std::ptrdiff_t t = 0; t < frames.cols(); ++t) {
      const std::int64_t p = position[static_cast<std::size_t>(t)];
      frames(f, t) = p < 0 ? std::numeric_limits<double>::quiet_NaN() : r.tokens_are_rows ? m(p, f + skip) : m(f + skip, p);
    }
  }
  return frames;
}

// Without an atlas the first run is the measure of the others.
Atlas atlas_from(const LoadedRun& first) {
  Atlas a;
  a.source = first.source.path;
  a.names = first.tokens_are_rows ? first.matrix.row_names : first.matrix.column_names;  // numbers too
  a.size = token_count(first);
  return a;
}

void check_size(const LoadedRun& r, const Atlas& reference, Orientation orientation) {
  const std::int64_t other = r.tokens_are_rows ? r.matrix.values.cols() : r.matrix.values.rows();
  if (token_count(r) == reference.size || other != reference.size || !token_names(r).empty()) return;
  throw DataError({.what = "the matrix seems to be transposed",
                   .where = r.source.path,
                   .got = fmt::format("{} regions and {} frames", token_count(r), other),
                   .expected = fmt::format("{} regions as in {}", reference.size, reference.source),
                   .hint = fmt::format("set series.orientation={}",
                                       orientation == Orientation::kTokensByTime ? "time_by_tokens" : "tokens_by_time")});
}

void list_defects(RegionSeries& s, std::size_t run, const std::vector<std::int64_t>& position) {
  const MatrixD& frames = s.runs[run].frames;
  for (std::ptrdiff_t t = 0; t < frames.cols(); ++t) {
    if (position[static_cast<std::size_t>(t)] < 0) {
      s.coverage.push_back({run, t, Defect::kMissing, 0});
      continue;
    }
    std::int64_t bad = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) {
      const double v = frames(f, t);
      if (!std::isfinite(v)) ++bad;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    if (bad > 0) {
      s.coverage.push_back({run, t, Defect::kNan, bad});
    } else if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high))) {
      s.coverage.push_back({run, t, Defect::kConstant, 0});
    }
  }
}

template <class T>
void keep_items(std::vector<T>& items, const std::vector<std::int64_t>& kept) {
  if (items.empty()) return;
  std::vector<T> out;
  for (const std::int64_t k : kept) out.push_back(items[static_cast<std::size_t>(k)]);
  items = std::move(out);
}

MatrixD chosen_rows(const MatrixD& m, const std::vector<std::int64_t>& kept) {
  if (m.rows() == 0) return m;
  MatrixD out(static_cast<std::ptrdiff_t>(kept.size()), m.cols());
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i)
    std::copy_n(m.row(kept[static_cast<std::size_t>(i)]).begin(), m.cols(), out.row(i).begin());
  return out;
}

void keep_regions(RegionSeries& s, const std::vector<std::int64_t>& kept) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(s.regions()), -1);
  for (std::size_t i = 0; i < kept.size(); ++i) place[static_cast<std::size_t>(kept[i])] = static_cast<std::int64_t>(i);
  for (RegionRun& r : s.runs) {
    MatrixD frames(r.frames.rows(), static_cast<std::ptrdiff_t>(kept.size()));
    for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) {
      for (std::ptrdiff_t t = 0; t < frames.cols(); ++t) frames(f, t) = r.frames(f, kept[static_cast<std::size_t>(t)]);
    }
    r.frames = std::move(frames);
  }
  keep_items(s.names, kept);
  keep_items(s.atlas.names, kept);
  keep_items(s.atlas.networks, kept);
  keep_items(s.atlas.hemispheres, kept);
  s.atlas.coordinates = chosen_rows(s.atlas.coordinates, kept);
  if (s.atlas.size > 0) s.atlas.size = static_cast<std::int64_t>(kept.size());
  std::vector<CoverageEntry> coverage;
  for (CoverageEntry e : s.coverage) {
    e.region = place[static_cast<std::size_t>(e.region)];
    if (e.region >= 0) coverage.push_back(e);
  }
  s.coverage = std::move(coverage);
}

void choose_hemisphere(RegionSeries& s, const std::string& wanted) {
  if (wanted.empty()) return;
  if (s.atlas.hemispheres.empty()) {
    throw ConfigError({.what = "series.hemisphere needs an atlas with a hemisphere column",
                       .where = "series.hemisphere",
                       .got = wanted,
                       .expected = "",
                       .hint = "give series.atlas"});
  }
  std::vector<std::int64_t> kept;
  const std::int32_t code = hemisphere_code(wanted);
  for (std::int64_t i = 0; i < s.atlas.size; ++i) {
    const std::string& h = s.atlas.hemispheres[static_cast<std::size_t>(i)];
    if (code < 2 ? hemisphere_code(h) == code : to_lower(h) == to_lower(wanted)) kept.push_back(i);
  }
  if (kept.empty()) {
    std::set<std::string> there(s.atlas.hemispheres.begin(), s.atlas.hemispheres.end());
    throw ConfigError({.what = "no region is of this hemisphere",
                       .where = "series.hemisphere",
                       .got = wanted,
                       .expected = join(std::vector<std::string>(there.begin(), there.end()), ", ")});
  }
  keep_regions(s, kept);
}

}  // namespace

bool is_manifest(const std::string& path) {
  std::ifstream file(path);
  std::string header;
  if (!path.ends_with(".csv") && !path.ends_with(".tsv")) return false;
  if (!std::getline(file, header)) return false;
  std::set<std::string> columns;
  for (const std::string& name : split(header, path.ends_with(".tsv") ? '\t' : ',')) columns.insert(std::string(trim(name)));
  return columns.contains("subject") && columns.contains("path");
}

RegionSeries read_series(const SeriesConfig& config) {
  RegionSeries out;
  if (!config.atlas.empty()) out.atlas = read_atlas(config.atlas);
  std::vector<LoadedRun> loaded;
  for (const Source& source : list_sources(config)) {
    MatrixOptions options;
    options.dataset = config.dataset;
    loaded.push_back({source, read_matrix(source.path, options), false});
    const MatrixD& m = loaded.back().matrix.values;
    if (m.rows() == 0 || m.cols() == 0) {
      throw DataError(
          {.what = "the file holds no values", .where = source.path, .got = fmt::format("{} x {}", m.rows(), m.cols())});
    }
    if (m.rows() > 1 && is_symmetric(m.view())) {
      throw DataError({.what = "a symmetric matrix is no time series",
                       .where = source.path,
                       .got = fmt::format("{0} x {0}, equal to its transpose", m.rows()),
                       .expected = "samples of every region",
                       .hint = "connectivity is given to an analysis: locus analyze RUN --set matrices=NAME=FILE"});
    }
  }
  orient(loaded, config, out);
  const Atlas reference = out.atlas.size > 0 ? out.atlas : atlas_from(loaded.front());
  out.named = !reference.names.empty();
  out.names = reference.names;
  // A file's own names serve where the atlas has none.
  if (const Atlas own = atlas_from(loaded.front()); !out.named && !own.names.empty() && own.size == reference.size) {
    out.names = own.names;
    out.named = true;
  }
  for (std::int64_t i = 0; !out.named && i < reference.size; ++i) out.names.push_back(fmt::format("region{:03d}", i + 1));
  for (LoadedRun& r : loaded) {
    check_size(r, reference, config.orientation);
    const std::vector<std::int64_t> position = match_atlas(reference, token_names(r), token_count(r), r.source.path);
    RegionRun run;
    run.subject = r.source.subject;
    run.run = r.source.run;
    run.path = r.source.path;
    run.further = r.source.further;
    run.format = r.matrix.format;
    run.file_rows = r.matrix.values.rows();
    run.file_columns = r.matrix.values.cols();
    run.tokens_are_rows = r.tokens_are_rows;
    run.frames = oriented_frames(r, position, config.skip_frames);
    run.sha256 = file_sha256(r.source.path);
    r.matrix = {};
    out.runs.push_back(std::move(run));
    list_defects(out, out.runs.size() - 1, position);
  }
  choose_hemisphere(out, config.hemisphere);
  const bool wide =
      std::any_of(out.runs.begin(), out.runs.end(), [](const RegionRun& r) { return r.frames.rows() < r.frames.cols(); });
  if (wide) out.warnings.emplace_back("a run has fewer frames than regions: is it transposed? (series.orientation)");
  out.notes.insert(out.notes.end(), out.atlas.notes.begin(), out.atlas.notes.end());
  return out;
}

void apply_coverage(RegionSeries& series, Coverage policy) {
  if (series.coverage.empty()) return;
  std::set<std::int64_t> bad;
  std::string list;
  int listed = 0;
  for (const CoverageEntry& e : series.coverage) {
    bad.insert(e.region);
    if (++listed > 10) continue;
    const char* what = e.defect == Defect::kMissing ? "missing" : e.defect == Defect::kConstant ? "constant" : "NaN";
    list += fmt::format("{}{} {} in {}", list.empty() ? "" : "; ", series.names[static_cast<std::size_t>(e.region)], what,
                        series.runs[e.run].path);
  }
  if (listed > 10) list += fmt::format("; and {} more", listed - 10);
  if (policy == Coverage::kError || static_cast<std::int64_t>(bad.size()) >= series.regions() - 1) {
    throw DataError({.what = fmt::format("{} of {} regions are missing, constant or not numbers somewhere", bad.size(),
                                         series.regions()),
                     .where = series.runs[series.coverage.front().run].path,
                     .got = list,
                     .expected = "every region in every run",
                     .hint = policy == Coverage::kError
                                 ? "leave these regions out of all runs with series.coverage=drop, or leave the runs out"
                                 : "check series.orientation and series.dataset"});
  }
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < series.regions(); ++i) {
    if (bad.contains(i)) {
      series.dropped.push_back(series.names[static_cast<std::size_t>(i)]);
    } else {
      kept.push_back(i);
    }
  }
  series.notes.push_back(fmt::format("dropped {} region(s): {}", series.dropped.size(), join(series.dropped, ", ")));
  keep_regions(series, kept);
}

}  // namespace locus
