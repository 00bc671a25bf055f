#include "data/fmri_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/nan.h"
#include "core/text.h"
#include "data/connectivity.h"

namespace locus {
namespace {

class Mean {
 public:
  void add(double v) {
    sum_ += v;
    ++n_;
  }
  double value() const { return n_ == 0 ? kNan : sum_ / static_cast<double>(n_); }
  std::int64_t count() const { return n_; }

 private:
  double sum_ = 0;
  std::int64_t n_ = 0;
};

// Lag-1 correlation of successive values of a strided series; NaN when constant, short or not finite.
double lag_one(const double* x, std::ptrdiff_t n, std::ptrdiff_t stride) {
  if (n < 3) return kNan;
  double mean = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) mean += x[i * stride] / static_cast<double>(n);
  double squares = 0, products = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double d = x[i * stride] - mean;
    squares += d * d;
    if (i > 0) products += d * (x[(i - 1) * stride] - mean);
  }
  return squares > 0 ? products / squares : kNan;
}

CheckedRun check_run(const RegionRun& r) {
  CheckedRun out;
  out.subject = r.subject;
  out.run = r.run;
  out.path = r.path;
  out.format = r.format;
  out.file_rows = r.file_rows;
  out.file_columns = r.file_columns;
  out.frames = r.frames.rows();
  out.regions = r.frames.cols();
  out.tokens_are_rows = r.tokens_are_rows;
  Mean all, autocorrelation;
  out.sd_low = std::numeric_limits<double>::infinity();
  for (std::ptrdiff_t t = 0; t < r.frames.cols(); ++t) {
    Mean mean, square;
    for (std::ptrdiff_t f = 0; f < r.frames.rows(); ++f) {
      const double v = r.frames(f, t);
      if (!std::isfinite(v)) continue;
      all.add(v);
      mean.add(v);
    }
    for (std::ptrdiff_t f = 0; f < r.frames.rows(); ++f) {
      const double d = r.frames(f, t) - mean.value();
      if (std::isfinite(d)) square.add(d * d);
    }
    if (square.count() == 0) continue;
    out.sd_low = std::min(out.sd_low, std::sqrt(square.value()));
    out.sd_high = std::max(out.sd_high, std::sqrt(square.value()));
    const double lag = lag_one(r.frames.values().data() + t, r.frames.rows(), r.frames.cols());
    if (std::isfinite(lag)) autocorrelation.add(lag);
  }
  out.mean = all.value();
  if (!std::isfinite(out.sd_low)) out.sd_low = kNan;
  out.autocorrelation = autocorrelation.value();
  return out;
}

// Series are smooth in time; a run that is smooth across regions and rough in time is likely the wrong way round.
void warn_of_rough_time(FmriReport& report, const RegionSeries& s) {
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    const MatrixD& frames = s.runs[i].frames;
    Mean across;
    for (std::ptrdiff_t f = 0; f < frames.rows(); ++f) {
      const double lag = lag_one(frames.row(f).data(), frames.cols(), 1);
      if (std::isfinite(lag)) across.add(lag);
    }
    const double along = report.runs[i].autocorrelation;
    if (across.value() > 0.3 && along < across.value() - 0.2) {
      report.warnings.push_back(
          fmt::format("{}: smoother across regions (lag-1 {:.2f}) than in time ({:.2f}): the orientation may be swapped",
                      s.runs[i].path, across.value(), along));
    }
  }
}

void list_coverage(FmriReport& report, const RegionSeries& s) {
  for (const CoverageEntry& e : s.coverage) {
    ++report.runs[e.run].defects;
    const std::string& name = s.names[static_cast<std::size_t>(e.region)];
    const std::string& path = s.runs[e.run].path;
    switch (e.defect) {
      case Defect::kAbsent:
        report.coverage.push_back(fmt::format("{} is missing in {}", name, path));
        break;
      case Defect::kConstant:
        report.coverage.push_back(fmt::format("{} is constant in {}", name, path));
        break;
      case Defect::kNanValues:
        report.coverage.push_back(fmt::format("{} has {} of {} frames that are no numbers in {}", name, e.frames,
                                              s.runs[e.run].frames.rows(), path));
        break;
    }
  }
}

void measure_networks(FmriReport& report, const MatrixD& c, const RegionSeries& s) {
  Mean all, within, between;
  const auto& networks = s.atlas.networks;
  for (std::ptrdiff_t i = 0; i < c.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) {
      all.add(c(i, j));
      if (networks.empty()) continue;
      (networks[static_cast<std::size_t>(i)] == networks[static_cast<std::size_t>(j)] ? within : between).add(c(i, j));
    }
  }
  report.mean_connectivity = all.value();
  report.within_networks = within.value();
  report.between_networks = between.value();
  report.networks = static_cast<std::int64_t>(std::set<std::string>(networks.begin(), networks.end()).size());
}

void measure_homotopic(FmriReport& report, const MatrixD& c, const RegionSeries& s) {
  std::vector<std::int32_t> hemispheres;
  for (const std::string& h : s.atlas.hemispheres) hemispheres.push_back(hemisphere_code(h));
  auto pairs = homotopic_pairs(s.named ? s.names : std::vector<std::string>{}, hemispheres);
  if (pairs.empty() && !s.named && hemispheres.empty() && c.rows() % 2 == 0 && s.dropped.empty()) {
    const std::int64_t half = c.rows() / 2;
    for (std::int64_t i = 0; i < half; ++i) pairs.emplace_back(i, i + half);
    report.notes.emplace_back("no names or hemispheres: homotopic pairs assume the left hemisphere first, then the right");
  }
  std::set<std::pair<std::int64_t, std::int64_t>> mirrored(pairs.begin(), pairs.end());
  std::set<std::int64_t> left, right;
  for (const auto& [l, r] : pairs) {
    left.insert(l);
    right.insert(r);
  }
  Mean same, other;
  for (const std::int64_t l : left) {
    for (const std::int64_t r : right) (mirrored.contains({l, r}) ? same : other).add(c(l, r));
  }
  report.homotopic_pairs = static_cast<std::int64_t>(pairs.size());
  report.homotopic = same.value();
  report.other_interhemispheric = other.value();
}

std::string figure(double v) { return std::isfinite(v) ? fmt::format("{:.3f}", v) : "-"; }

std::string list_text(const char* title, const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 20;
  std::string out;
  if (lines.empty()) return out;
  out += fmt::format("{}\n", title);
  for (std::size_t i = 0; i < std::min(kMost, lines.size()); ++i) out += fmt::format("  {}\n", lines[i]);
  if (lines.size() > kMost) out += fmt::format("  and {} more\n", lines.size() - kMost);
  return out;
}

}  // namespace

FmriReport check_fmri(const SeriesConfig& config) {
  FmriReport report;
  RegionSeries s = read_series(config);
  report.all_regions = s.regions();
  std::set<std::string> subjects;
  for (const RegionRun& r : s.runs) {
    report.runs.push_back(check_run(r));
    subjects.insert(r.subject);
  }
  report.subjects = static_cast<std::int64_t>(subjects.size());
  list_coverage(report, s);
  report.warnings = s.warnings;
  if (s.atlas.size == 0) warn_of_rough_time(report, s);
  report.within_networks = report.between_networks = report.mean_connectivity = kNan;
  report.homotopic = report.other_interhemispheric = kNan;
  try {
    apply_coverage(s, Coverage::kDrop);
  } catch (const DataError& e) {
    report.warnings.push_back(e.parts().what);
    report.notes = s.notes;
    return report;
  }
  report.regions = s.regions();
  report.notes = s.notes;
  std::vector<SubjectFrames> frames;
  for (const RegionRun& r : s.runs) frames.push_back({r.subject, &r.frames});
  const MatrixD connectivity = mean_connectivity(frames);
  measure_networks(report, connectivity, s);
  measure_homotopic(report, connectivity, s);
  return report;
}

std::string to_text(const FmriReport& r) {
  std::string out = fmt::format("{} run(s) of {} subject(s), {} regions{}\n", r.runs.size(), r.subjects, r.all_regions,
                                r.networks > 0 ? fmt::format(" in {} networks", r.networks) : "");
  out += fmt::format("\n{:<14} {:>7} {:>7}  {:<15} {:>10} {:>19} {:>6} {:>7}  {}\n", "subject", "frames", "regions",
                     "in the file", "mean", "sd of regions", "lag 1", "defects", "file");
  for (const CheckedRun& c : r.runs) {
    out += fmt::format("{:<14} {:>7} {:>7}  {:<15} {:>10.4g} {:>19} {:>6} {:>7}  {}\n", c.subject, c.frames, c.regions,
                       c.tokens_are_rows ? "regions x time" : "time x regions", c.mean,
                       fmt::format("{:.4g} to {:.4g}", c.sd_low, c.sd_high), figure(c.autocorrelation), c.defects, c.path);
  }
  out += fmt::format("\ncoverage: {}\n",
                     r.coverage.empty() ? "every region in every run"
                                        : fmt::format("{} of {} regions complete in every run", r.regions, r.all_regions));
  out += list_text("defects:", r.coverage);
  out += fmt::format("mean connectivity {}\n", figure(r.mean_connectivity));
  if (r.networks > 0)
    out += fmt::format("within networks {}, between {}\n", figure(r.within_networks), figure(r.between_networks));
  if (r.homotopic_pairs > 0) {
    out += fmt::format("homotopic {} ({} pairs), other left-right pairs {}\n", figure(r.homotopic), r.homotopic_pairs,
                       figure(r.other_interhemispheric));
  }
  out += list_text("notes:", r.notes);
  out += list_text("warnings:", r.warnings);
  return out;
}

}  // namespace locus
