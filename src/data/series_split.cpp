#include "data/series_split.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"

namespace locus {
namespace {

bool digits_only(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string unit_of(const RegionRun& run, SplitBy by) {
  return by == SplitBy::kSubject ? run.subject : run.subject + "/" + run.run;
}

std::int64_t part_of(std::int64_t n, double fraction) {
  if (fraction <= 0) return 0;
  return std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(n)));
}

[[noreturn]] void nothing_to_train(const std::string& got) {
  throw DataError({.what = "the split leaves nothing to train on",
                   .where = "series",
                   .got = got,
                   .expected = "at least one subject, run or window for training",
                   .hint = "lower series.test_last, series.test_fraction or series.validation_fraction, or use "
                           "series.split_by=time for a single subject"});
}

std::set<std::string> named_units(const std::vector<std::string>& units, const SeriesConfig& c) {
  if (c.leave_out >= static_cast<std::int64_t>(units.size())) {
    throw ConfigError({.what = "series.leave_out is beyond the last subject",
                       .where = "series.leave_out",
                       .got = fmt::format("{}", c.leave_out),
                       .expected = fmt::format("0 to {}", units.size() - 1)});
  }
  if (c.leave_out >= 0) return {units[static_cast<std::size_t>(c.leave_out)]};
  std::set<std::string> chosen;
  for (const std::string& wanted : c.test_subjects) {
    bool found = false;
    for (const std::string& u : units) {
      const bool hit = u == wanted || (c.split_by == SplitBy::kRun && u.substr(0, u.find('/')) == wanted);
      if (hit) chosen.insert(u);
      found = found || hit;
    }
    if (found) continue;
    const std::string near = nearest_name(wanted, units);
    throw ConfigError(
        {.what = "series.test_subjects names nobody in the data",
         .where = "series.test_subjects",
         .got = wanted,
         .expected =
             join(std::vector<std::string>(
                      units.begin(), units.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, units.size()))),
                  ", "),
         .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  return chosen;
}

std::map<std::string, SplitRole> roles_of_units(const RegionSeries& series, const SeriesConfig& c) {
  std::set<std::string> unique;
  for (const RegionRun& r : series.runs) {
    if (!r.further) unique.insert(unit_of(r, c.split_by));
  }
  std::vector<std::string> units(unique.begin(), unique.end());
  std::sort(units.begin(), units.end(), id_less);
  const auto n = static_cast<std::int64_t>(units.size());
  std::set<std::string> test = named_units(units, c);
  if (test.empty()) {
    const std::int64_t last = c.test_last > 0 ? c.test_last : part_of(n, c.test_fraction);
    if (last >= n) nothing_to_train(fmt::format("{} for testing of {} ({})", last, n, join(units, ", ").substr(0, 200)));
    test.insert(units.end() - last, units.end());
  }
  std::vector<std::string> rest;
  std::copy_if(units.begin(), units.end(), std::back_inserter(rest),
               [&](const std::string& u) { return !test.contains(u); });
  const std::int64_t validation = part_of(static_cast<std::int64_t>(rest.size()), c.validation_fraction);
  if (validation >= static_cast<std::int64_t>(rest.size()))
    nothing_to_train(fmt::format("{} for testing, {} for validation of {}", test.size(), validation, n));
  std::map<std::string, SplitRole> roles;
  for (const std::string& u : test) roles[u] = SplitRole::kTest;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    roles[rest[i]] = static_cast<std::int64_t>(rest.size() - i) <= validation ? SplitRole::kValidation : SplitRole::kTrain;
  }
  return roles;
}

void cut_run(RunWindows& out, std::int64_t windows, const SeriesConfig& c, std::size_t run) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(windows));
  std::iota(order.begin(), order.end(), 0);
  if (c.split_by == SplitBy::kSample) {
    Rng rng(0, fmt::format("series/split/{}", run));
    rng.shuffle(std::span(order));
  }
  const std::int64_t test = part_of(windows, c.test_fraction);
  const std::int64_t validation = part_of(windows - test, c.validation_fraction);
  const std::int64_t train = windows - test - validation;
  if (train < 1) nothing_to_train(fmt::format("{} windows", windows));
  for (std::int64_t i = 0; i < windows; ++i) {
    const SplitRole role = i < train                ? SplitRole::kTrain
                           : i < train + validation ? SplitRole::kValidation
                                                    : SplitRole::kTest;
    out.of_role[static_cast<std::size_t>(role)].push_back(order[static_cast<std::size_t>(i)]);
  }
  for (auto& list : out.of_role) std::sort(list.begin(), list.end());
}

void check_subjects(const RegionSeries& series, const std::vector<RunWindows>& windows) {
  std::map<std::string, std::set<std::size_t>> roles;
  for (std::size_t r = 0; r < windows.size(); ++r) {
    for (std::size_t role = 0; role < 4; ++role) {
      if (!windows[r].of_role[role].empty()) roles[series.runs[r].subject].insert(role);
    }
  }
  for (const auto& [subject, where] : roles) {
    if (where.size() < 2) continue;
    throw DataError({.what = "a subject stands on both sides of the split",
                     .where = "series.test_files",
                     .got = subject,
                     .expected = "other subjects in series.test_files than in series.files",
                     .hint = "remove the file, or ask for it with series.split_by=run"});
  }
}

}  // namespace

bool id_less(const std::string& a, const std::string& b) {
  if (digits_only(a) && digits_only(b)) {
    const std::string x = a.substr(std::min(a.find_first_not_of('0'), a.size() - 1));
    const std::string y = b.substr(std::min(b.find_first_not_of('0'), b.size() - 1));
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a < b;
}

std::vector<RunWindows> split_windows(const RegionSeries& series, const SeriesConfig& c) {
  const bool whole = c.split_by == SplitBy::kSubject || c.split_by == SplitBy::kRun;
  if (!whole && (!c.test_subjects.empty() || c.test_last > 0 || c.leave_out >= 0)) {
    throw ConfigError({.what = "series.test_subjects, test_last and leave_out need a split by subject or run",
                       .where = "series.split_by",
                       .got = std::string(kSplitByNames[static_cast<std::size_t>(c.split_by)]),
                       .expected = "subject or run",
                       .hint = "use series.test_fraction for time and samples"});
  }
  const std::map<std::string, SplitRole> roles = whole ? roles_of_units(series, c) : std::map<std::string, SplitRole>{};
  std::vector<RunWindows> out(series.runs.size());
  bool has_test = false;
  for (std::size_t r = 0; r < series.runs.size(); ++r) {
    const RegionRun& run = series.runs[r];
    const std::int64_t windows = run.frames.rows() / c.window;
    if (windows < 1) {
      throw DataError({.what = "a run is shorter than series.window",
                       .where = run.path,
                       .got = fmt::format("{} frames", run.frames.rows()),
                       .expected = fmt::format("at least {}", c.window)});
    }
    if (!whole && !run.further) {
      cut_run(out[r], windows, c, r);
    } else {
      const SplitRole role = run.further ? SplitRole::kFurther : roles.at(unit_of(run, c.split_by));
      auto& list = out[r].of_role[static_cast<std::size_t>(role)];
      list.resize(static_cast<std::size_t>(windows));
      std::iota(list.begin(), list.end(), 0);
    }
    has_test = has_test || !out[r].of_role[static_cast<std::size_t>(SplitRole::kTest)].empty();
  }
  if (c.split_by == SplitBy::kSubject) check_subjects(series, out);
  if (!has_test) {
    for (RunWindows& w : out) {
      std::swap(w.of_role[static_cast<std::size_t>(SplitRole::kTest)],
                w.of_role[static_cast<std::size_t>(SplitRole::kFurther)]);
    }
  }
  return out;
}

}  // namespace locus
