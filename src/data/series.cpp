#include "data/series.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "config/fields.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "data/connectivity.h"
#include "data/doubts.h"
#include "data/frames.h"
#include "data/masking.h"
#include "data/same_recording.h"
#include "data/series_split.h"
#include "io/file.h"

namespace locus {
namespace {

// The frames of one run that play one role.
struct RunPart {
  std::size_t run = 0;
  std::size_t role = 0;
  MatrixD frames;
};

MatrixD chosen_windows(const MatrixD& frames, const std::vector<std::int64_t>& windows, std::int64_t length) {
  MatrixD out(static_cast<std::ptrdiff_t>(windows.size()) * length, frames.cols());
  std::ptrdiff_t to = 0;
  for (const std::int64_t w : windows) {
    for (std::int64_t f = 0; f < length; ++f, ++to) {
      std::copy_n(frames.row(w * length + f).begin(), frames.cols(), out.row(to).begin());
    }
  }
  return out;
}

// A run of one role keeps all its frames, also those behind the last whole window.
std::vector<RunPart> make_parts(RegionSeries& series, const std::vector<RunWindows>& windows, std::int64_t window) {
  std::vector<RunPart> parts;
  for (std::size_t r = 0; r < series.runs.size(); ++r) {
    const auto& of_role = windows[r].of_role;
    const auto roles = std::count_if(of_role.begin(), of_role.end(), [](const auto& w) { return !w.empty(); });
    for (std::size_t role = 0; role < of_role.size(); ++role) {
      if (of_role[role].empty()) continue;
      MatrixD& frames = series.runs[r].frames;
      parts.push_back({r, role, roles == 1 ? std::move(frames) : chosen_windows(frames, of_role[role], window)});
    }
    series.runs[r].frames = {};
  }
  return parts;
}

void detrend(std::vector<RunPart>& parts, const RegionSeries& series) {
  for (RunPart& p : parts) {
    const TokenStats before = token_stats(p.frames);
    remove_linear_trend(p.frames);
    const TokenStats after = token_stats(p.frames);
    for (std::size_t t = 0; t < after.sd.size(); ++t) {
      if (after.sd[t] > 1e-9 * (before.sd[t] + std::abs(before.mean[t]) * 1e-3)) continue;
      throw DataError({.what = "a region is a straight line: nothing is left after detrending",
                       .where = series.runs[p.run].path,
                       .got = series.names[t],
                       .expected = "a signal",
                       .hint = "leave the region or the run out"});
    }
  }
}

// Coverage looks at whole runs; what is scaled by may be a part of one.
void require_signal(const TokenStats& stats, const RegionSeries& series, const std::string& where) {
  const auto token = token_without_signal(stats);
  if (!token) return;
  throw DataError({.what = "a region does not vary in the part that training sees, or is too large to scale",
                   .where = where,
                   .got = fmt::format("{}: standard deviation {:g}", series.names[*token], stats.sd[*token]),
                   .expected = "a signal in every region",
                   .hint = "leave the region out of the file, or split otherwise (series.split_by, --random-split of fit)"});
}

void scale(std::vector<RunPart>& parts, const RegionSeries& series, ZScore zscore) {
  if (zscore == ZScore::kNone) return;
  constexpr auto kTrain = static_cast<std::size_t>(SplitRole::kTrain);
  std::map<std::size_t, TokenStats> of_run;
  std::vector<const MatrixD*> training;
  for (const RunPart& p : parts) {
    if (p.role == kTrain) training.push_back(&p.frames);
    // Roles ascend, so a run's training part comes first and is the one that counts.
    if (of_run.contains(p.run)) continue;
    of_run[p.run] = token_stats(p.frames);
    if (zscore == ZScore::kRun) require_signal(of_run[p.run], series, series.runs[p.run].path);
  }
  const TokenStats all = token_stats(training);
  if (zscore == ZScore::kTrain) require_signal(all, series, series.runs.front().path);
  for (RunPart& p : parts) scale_tokens(p.frames, zscore == ZScore::kRun ? of_run.at(p.run) : all);
}

void fill_splits(Dataset& data, const std::vector<RunPart>& parts, const RegionSeries& series, std::int64_t window) {
  std::set<std::string, decltype(&id_less)> subjects(&id_less);
  for (const RegionRun& r : series.runs) subjects.insert(r.subject);
  for (std::size_t role = 0; role < kSplitRoleNames.size(); ++role) {
    Examples examples;
    std::set<std::string, decltype(&id_less)> here(&id_less);
    std::int64_t runs = 0;
    for (const RunPart& p : parts) {
      if (p.role != role) continue;
      const std::string& subject = series.runs[p.run].subject;
      append_windows(examples, p.frames, window,
                     static_cast<std::int32_t>(std::distance(subjects.begin(), subjects.find(subject))));
      here.insert(subject);
      ++runs;
    }
    if (examples.count == 0) continue;
    const std::string name(kSplitRoleNames[role]);
    data.description["samples." + name] = fmt::format("{}", examples.count);
    data.description["runs." + name] = fmt::format("{}", runs);
    data.description["subjects." + name] = join(std::vector<std::string>(here.begin(), here.end()), " ");
    data.splits.emplace_back(name, std::move(examples));
  }
}

void label_tokens(TokenInfo& info, const Atlas& atlas) {
  if (!atlas.networks.empty()) {
    for (const std::string& n : atlas.networks) {
      auto found = std::find(info.label_names.begin(), info.label_names.end(), n);
      if (found == info.label_names.end()) found = info.label_names.insert(found, n);
      info.labels.push_back(static_cast<std::int32_t>(found - info.label_names.begin()));
    }
    info.truths["networks"] = same_label_matrix(info.labels);
  }
  for (const std::string& h : atlas.hemispheres) info.hemispheres.push_back(hemisphere_code(h));
  info.coordinates = atlas.coordinates;
}

void describe_tokens(Dataset& data, const RegionSeries& series, const std::vector<RunPart>& parts, const SeriesConfig& c) {
  TokenInfo& info = data.tokens_info;
  info.names = series.names;
  label_tokens(info, series.atlas);
  std::vector<SubjectFrames> training;
  for (const RunPart& p : parts) {
    if (p.role == static_cast<std::size_t>(SplitRole::kTrain)) training.push_back({series.runs[p.run].subject, &p.frames});
  }
  MatrixD connectivity = mean_connectivity(training);
  info.graph = neighbour_graph(connectivity, c.graph_neighbours);
  info.truths["connectivity"] = std::move(connectivity);
}

std::string coverage_text(const RegionSeries& s) {
  if (s.coverage.empty()) return "complete";
  std::string text;
  for (const CoverageEntry& e : s.coverage) {
    constexpr std::array<std::string_view, 3> kNames = {"missing", "NaN", "constant"};
    text += fmt::format("{}{} {} in {}", text.empty() ? "" : "; ", s.names[static_cast<std::size_t>(e.region)],
                        kNames[static_cast<std::size_t>(e.defect)], s.runs[e.run].path);
  }
  return text;
}

void describe_data(Dataset& data, const RegionSeries& s, const SeriesConfig& c) {
  auto& d = data.description;
  std::vector<std::string> files;
  for (const RegionRun& r : s.runs) files.push_back(r.path);
  d["source"] = "files";
  d["files"] = join(files, " ");
  d["runs"] = fmt::format("{}", s.runs.size());
  d["regions"] = fmt::format("{}", s.regions());
  d["atlas"] = c.atlas;
  d["preprocessing"] = fmt::format("skip_frames={} detrend={} zscore={} window={} hemisphere={}", c.skip_frames,
                                   kDetrendNames[static_cast<std::size_t>(c.detrend)],
                                   kZScoreNames[static_cast<std::size_t>(c.zscore)], c.window, c.hemisphere);
  d["split_by"] = std::string(kSplitByNames[static_cast<std::size_t>(c.split_by)]);
  d["connectivity"] = "mean over training subjects of Fisher-z correlations, transformed back";
  if (!s.dropped.empty()) d["dropped"] = join(s.dropped, " ");
  if (!s.notes.empty()) d["notes"] = join(s.notes, "; ");
  if (!s.warnings.empty()) d["warnings"] = join(s.warnings, "; ");
}

// Keys that came after hashes of this form were written: they count only where they are set, so that older runs go on.
constexpr std::array<std::string_view, 4> kLaterKeys = {"series.atlas_names", "series.match", "series.header",
                                                        "series.skip_columns"};

// Bytes of the files and everything that decides what becomes of them; not their paths.
std::string series_hash(const RegionSeries& s, const Dataset& data, const RunConfig& config) {
  std::string text = "series-1\n";
  for (const RegionRun& r : s.runs) text += fmt::format("{} {} {} {}\n", r.subject, r.run, r.further, r.sha256);
  if (!config.series.atlas.empty()) text += "atlas " + file_sha256(config.series.atlas) + "\n";
  RunConfig copy = config;
  SeriesConfig plain;
  FieldList list, defaults;
  describe(copy.series, list);
  describe(copy.mask, list);
  describe(plain, defaults);
  for (const Field& f : list.fields()) {
    const bool later = std::find(kLaterKeys.begin(), kLaterKeys.end(), f.path) != kLaterKeys.end();
    if (f.identity && !(later && f.text() == defaults.find(f.path, "").text())) text += f.path + "=" + f.text() + "\n";
  }
  if (s.runs.front().matched_by_number) text += "regions by number\n";
  for (const auto& [name, e] : data.splits)
    text += fmt::format("{}={} {}\n", name, e.count, data.description.at("subjects." + name));
  return sha256_hex(text);
}

}  // namespace

MatrixD mean_connectivity(const std::vector<SubjectFrames>& runs) {
  LOCUS_CHECK(!runs.empty(), "connectivity of no runs");
  constexpr double kLargest = 1 - 1e-12;  // Fisher's z of 1 is infinite
  const std::ptrdiff_t n = runs.front().frames->cols();
  std::map<std::string, int> runs_of;
  for (const SubjectFrames& r : runs) ++runs_of[r.subject];
  MatrixD mean(n, n);
  for (const SubjectFrames& r : runs) {
    const MatrixD c = correlation_of(r.frames->view());
    const double weight = 1.0 / (runs_of[r.subject] * static_cast<double>(runs_of.size()));
    for (std::size_t i = 0; i < c.values().size(); ++i) {
      mean.values()[i] += weight * std::atanh(std::clamp(c.values()[i], -kLargest, kLargest));
    }
  }
  for (double& v : mean.values()) v = std::tanh(v);
  for (std::ptrdiff_t i = 0; i < n; ++i) mean(i, i) = 1;
  return mean;
}

Dataset make_series_dataset(const RunConfig& config) {
  const SeriesConfig& c = config.series;
  if (c.split_by == SplitBy::kSample && c.detrend != Detrend::kNone) {
    throw ConfigError({.what = "series.detrend needs an order in time, series.split_by=sample has none",
                       .where = "series.detrend",
                       .got = "linear",
                       .expected = "none",
                       .hint = "use series.split_by=time"});
  }
  RegionSeries series = read_series(c);
  const std::string coverage = coverage_text(series);
  apply_coverage(series, c.coverage);
  const auto warn = [&](const std::vector<std::string>& doubts) {
    series.warnings.insert(series.warnings.end(), doubts.begin(), doubts.end());
  };
  warn(missing_codes(series));
  Dataset data;
  data.name = "fmri";
  data.task = "masked";
  data.tokens = series.regions();
  data.features = data.outputs = c.window;
  const std::vector<RunWindows> windows = split_windows(series, c);
  refuse_same_recordings(series, windows);
  std::vector<RunPart> parts = make_parts(series, windows, c.window);
  if (c.detrend == Detrend::kLinear) detrend(parts, series);
  scale(parts, series, c.zscore);
  fill_splits(data, parts, series, c.window);
  describe_tokens(data, series, parts, c);
  warn(copied_samples(data));
  warn(copied_tokens(data.tokens_info.truths.at("connectivity"), series.names));
  describe_data(data, series, c);
  data.description["coverage"] = coverage;
  fill_evaluation_masks(data, config.mask);
  data.hash = series_hash(series, data, config);
  return data;
}

}  // namespace locus
