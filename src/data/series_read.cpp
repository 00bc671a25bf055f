// Region time series from files: which files, whose, which way round, in which order of regions.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/symmetry.h"
#include "core/text.h"
#include "data/atlas_match.h"
#include "data/same_recording.h"
#include "data/series.h"
#include "data/series_columns.h"
#include "data/series_files.h"
#include "io/array.h"
#include "io/file.h"
#include "io/table.h"

namespace locus {
namespace {

// Connectivity, its graph and what is needed to make them.
constexpr std::uint64_t kMatricesOfTokens = 3;

struct LoadedRun {
  SeriesFile source;
  NamedMatrix matrix;
  bool tokens_are_rows = false;
};

bool real_names(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& n) { return !parse_cell(n).has_value(); });
}

// Whether one column of the atlas holds every name.
bool all_in_atlas(const std::vector<std::string>& names, const Atlas& atlas) {
  const auto key = [](const std::string& n) { return to_lower(trim(n)); };
  return !names.empty() && std::any_of(atlas.columns.begin(), atlas.columns.end(), [&](const AtlasColumn& c) {
    std::set<std::string> known;
    for (const std::string& t : c.texts) known.insert(key(t));
    return std::all_of(names.begin(), names.end(), [&](const std::string& n) { return known.contains(key(n)); });
  });
}

// What one file alone says of its orientation.
std::optional<bool> rows_by_names(const NamedMatrix& m, const Atlas& atlas) {
  const bool rows_known = all_in_atlas(m.row_names, atlas), columns_known = all_in_atlas(m.column_names, atlas);
  if (rows_known != columns_known) return rows_known;
  if (title_of_tokens(m.row_title)) return true;
  if (m.column_step > 0 && m.row_step == 0) return true;
  if (m.row_step > 0 && m.column_step == 0) return false;
  if (real_names(m.column_names)) return false;  // a table's header names its columns; names of rows are samples then
  if (real_names(m.row_names)) return true;
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
  return r.tokens_are_rows ? r.matrix.row_names : r.matrix.column_names;
}

std::int64_t token_count(const LoadedRun& r) { return r.tokens_are_rows ? r.matrix.values.rows() : r.matrix.values.cols(); }

// Columns of the run in the order of `position` (from atlas_match.h); NaN for -1.
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

// Files without names of words that have the size of the atlas along the other axis.
void refuse_transposed(const LoadedRun& r, const Atlas& atlas, Orientation orientation) {
  const std::int64_t other = r.tokens_are_rows ? r.matrix.values.cols() : r.matrix.values.rows();
  if (token_count(r) == atlas.size || other != atlas.size || real_names(token_names(r))) return;
  throw DataError({.what = "the matrix seems to be transposed",
                   .where = r.source.path,
                   .got = fmt::format("{} regions and {} frames", token_count(r), other),
                   .expected = fmt::format("{} regions as in {}", atlas.size, atlas.source),
                   .hint = fmt::format("set series.orientation={}",
                                       orientation == Orientation::kTokensByTime ? "time_by_tokens" : "tokens_by_time")});
}

void list_defects(RegionSeries& s, std::size_t run, const std::vector<std::int64_t>& position) {
  const MatrixD& frames = s.runs[run].frames;
  for (std::ptrdiff_t t = 0; t < frames.cols(); ++t) {
    if (position[static_cast<std::size_t>(t)] < 0) {
      s.coverage.push_back({run, t, Defect::kAbsent, 0});
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
      s.coverage.push_back({run, t, Defect::kNanValues, bad});
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

void note_once(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

LoadedRun load_run(const SeriesFile& file, const SeriesConfig& config, RegionSeries& out) {
  MatrixOptions options;
  options.dataset = config.dataset;
  options.table.table.header = config.header == HeaderRow::kAuto  ? Presence::kAuto
                               : config.header == HeaderRow::kYes ? Presence::kYes
                                                                  : Presence::kNo;
  LoadedRun run{file, read_matrix(file.path, options), false};
  const MatrixD& m = run.matrix.values;
  if (m.rows() == 0 || m.cols() == 0) {
    throw DataError(
        {.what = "the file holds no values", .where = file.path, .got = fmt::format("{} x {}", m.rows(), m.cols())});
  }
  if (m.rows() > 1 && is_symmetric(m.view())) {
    throw DataError({.what = "a symmetric matrix is no time series",
                     .where = file.path,
                     .got = fmt::format("{0} x {0}, equal to its transpose", m.rows()),
                     .expected = "samples of every region",
                     .hint = "connectivity is given to an analysis: locus analyze RUN --set matrices=NAME=FILE"});
  }
  for (const std::string& note : take_out_columns(run.matrix, file.path, config, out.atlas)) note_once(out.notes, note);
  return run;
}

// Everything behind this makes matrices of tokens x tokens: a small file must not ask for gigabytes of them.
void refuse_too_many_tokens(const std::vector<LoadedRun>& runs) {
  std::uint64_t bytes = 0;
  std::int64_t tokens = 0;
  for (const LoadedRun& r : runs) {
    std::error_code code;
    const auto size = std::filesystem::file_size(r.source.path, code);
    bytes += code ? 0 : size;
    tokens = std::max(tokens, token_count(r));
  }
  const auto count = static_cast<std::uint64_t>(tokens);
  const std::uint64_t most = ReadLimits{}.for_file(bytes).array_bytes / kMatricesOfTokens;
  if (count * count <= most / sizeof(double)) return;
  throw DataError({.what = "too many tokens for so little data",
                   .where = runs.front().source.path,
                   .got = fmt::format("{} tokens, {} for each matrix of tokens x tokens", tokens,
                                      human_bytes(static_cast<double>(count * count * sizeof(double)))),
                   .expected = fmt::format("at most {}", human_bytes(static_cast<double>(most))),
                   .hint = "is the matrix transposed? (series.orientation)"});
}

TokenMatch match_tokens(const std::vector<LoadedRun>& loaded, const SeriesConfig& config, RegionSeries& out) {
  std::vector<TokenAxis> axes;
  // Without an atlas the first run is the measure of the others.
  Atlas first;
  first.source = loaded.front().source.path;
  first.size = token_count(loaded.front());
  for (const LoadedRun& r : loaded) {
    refuse_transposed(r, out.atlas.size > 0 ? out.atlas : first, config.orientation);
    axes.push_back({r.source.path, token_names(r), token_count(r)});
  }
  const MatchOptions options{config.atlas_names, config.match == TokenMatching::kOrder};
  TokenMatch match = out.atlas.size > 0 ? match_to_atlas(out.atlas, axes, options) : match_to_each_other(axes, options);
  out.named = !match.names.empty();
  out.names = match.names;
  if (out.atlas.size > 0 && out.named) out.atlas.names = match.names;
  out.atlas.columns.clear();
  out.notes.insert(out.notes.end(), match.notes.begin(), match.notes.end());
  for (std::int64_t i = 0; !out.named && i < axes.front().count; ++i)
    out.names.push_back(fmt::format("region{:03d}", i + 1));
  return match;
}

RegionRun make_run(const LoadedRun& r, const std::vector<std::int64_t>& position, const SeriesConfig& config) {
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
  TokenTitles tokens{{}, r.tokens_are_rows};
  const std::vector<std::string> names = token_names(r);
  for (const std::int64_t p : position) {
    tokens.titles.push_back(p < 0 ? "" : names.empty() ? std::to_string(p + 1) : names[static_cast<std::size_t>(p)]);
  }
  refuse_counting_tokens(run.frames, tokens, run.path, config);
  run.sha256 = file_sha256(r.source.path);
  return run;
}

}  // namespace

RegionSeries read_series(const SeriesConfig& config) {
  RegionSeries out;
  if (!config.atlas.empty()) out.atlas = read_atlas(config.atlas);
  std::vector<LoadedRun> loaded;
  for (const SeriesFile& file : list_series_files(config, out.notes)) loaded.push_back(load_run(file, config, out));
  orient(loaded, config, out);
  refuse_too_many_tokens(loaded);
  const TokenMatch match = match_tokens(loaded, config, out);
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    out.runs.push_back(make_run(loaded[i], match.position[i], config));
    out.runs.back().matched_by_number = match.by_number;
    loaded[i].matrix = {};
    list_defects(out, i, match.position[i]);
  }
  choose_hemisphere(out, config.hemisphere);
  const bool wide =
      std::any_of(out.runs.begin(), out.runs.end(), [](const RegionRun& r) { return r.frames.rows() < r.frames.cols(); });
  if (wide) out.warnings.emplace_back("a run has fewer frames than regions: is it transposed? (series.orientation)");
  for (const auto& [a, b] : same_recordings(out))
    out.warnings.push_back(fmt::format("{} and {} hold the same recording", out.runs[a].path, out.runs[b].path));
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
    const char* what = e.defect == Defect::kAbsent ? "missing" : e.defect == Defect::kConstant ? "constant" : "NaN";
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
