#include "analyze/reliability.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analyze/analysis_run.h"
#include "analyze/run_settings.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "stats/bootstrap.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr int kResamples = 500;        // of regions
constexpr int kRegionResamples = 200;  // of the other regions, for each region
constexpr int kShuffles = 99;

struct HalfRun {
  std::string path;
  RunConfig config;
  std::set<std::string> people;  // trained on
  std::vector<std::string> names;
  // Cosines by code ("change", "centred") and layer.
  std::map<std::pair<std::string, std::int64_t>, MatrixD> cosines;

  std::int64_t tokens() const { return cosines.begin()->second.rows(); }
};

// The subjects that a run was trained on, by its manifest.
std::set<std::string> people_of(const RunReader& reader) {
  const Json& manifest = reader.manifest();
  if (!manifest.contains("data") || !manifest["data"].is_object()) return {};
  std::set<std::string> out;
  for (const std::string& who : split(manifest["data"].value("subjects.train", std::string()), ' ')) {
    if (!who.empty()) out.insert(who);
  }
  return out;
}

bool are_disjoint(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::none_of(a.begin(), a.end(), [&](const std::string& who) { return b.contains(who); });
}

HalfRun load(const fs::path& path, std::set<std::string> people) {
  const AnalysisRun run = load_analysis_run(path, nullptr, {.snapshots = false});
  HalfRun out;
  out.path = path.string();
  out.config = run.config;
  out.people = std::move(people);
  out.names = run.info.names;
  const std::vector<LayerCode> start = layer_codes(run, run.require_initial());
  const std::vector<LayerCode> end = layer_codes(run, run.require_trained());
  for (const LayerCode& c : end)
    out.cosines[{"centred", c.layer}] = stats::cosine_similarity(stats::centre_rows(c.code.view()).view());
  for (const LayerCode& c : code_changes(end, start))
    out.cosines[{"change", c.layer}] = stats::cosine_similarity(c.code.view());
  return out;
}

using Pair = std::pair<const MatrixD*, const MatrixD*>;

// Correlation of the cosines of the pairs of these tokens; a token drawn twice makes no pair with itself.
double agreement_of(const Pair& pair, std::span<const std::size_t> tokens) {
  std::vector<double> x, y;
  x.reserve(tokens.size() * (tokens.size() - 1) / 2);
  y.reserve(x.capacity());
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (tokens[i] == tokens[j]) continue;
      const auto a = static_cast<std::ptrdiff_t>(tokens[i]), b = static_cast<std::ptrdiff_t>(tokens[j]);
      x.push_back((*pair.first)(a, b));
      y.push_back((*pair.second)(a, b));
    }
  }
  return stats::pearson(x, y).r;
}

double mean_agreement(const std::vector<Pair>& pairs, std::span<const std::size_t> tokens) {
  double sum = 0;
  for (const Pair& pair : pairs) sum += agreement_of(pair, tokens);
  return sum / static_cast<double>(pairs.size());
}

// Of one token's rows, over these other tokens.
double profile_agreement(const std::vector<Pair>& pairs, std::ptrdiff_t token, std::span<const std::size_t> others) {
  double sum = 0;
  std::vector<double> x(others.size()), y(others.size());
  for (const auto& [a, b] : pairs) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      x[i] = (*a)(token, static_cast<std::ptrdiff_t>(others[i]));
      y[i] = (*b)(token, static_cast<std::ptrdiff_t>(others[i]));
    }
    sum += stats::pearson(x, y).r;
  }
  return sum / static_cast<double>(pairs.size());
}

double shuffled_agreement(const Pair& pair, std::uint64_t seed) {
  const std::ptrdiff_t n = pair.first->rows();
  std::vector<std::size_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  std::vector<double> drawn;
  for (int k = 0; k < kShuffles; ++k) {
    std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    Rng rng(derive_seed(seed, "reliability/shuffle", static_cast<std::uint64_t>(k)), "order");
    rng.shuffle(std::span(order));
    MatrixD moved(n, n);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < n; ++j)
        moved(i, j) = (*pair.second)(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
    }
    drawn.push_back(agreement_of({pair.first, &moved}, all));
  }
  return stats::quantile(drawn, 0.975);
}

// The runs of one setting, and the pairs of them that a comparison speaks of.
class Setting {
 public:
  Setting(std::string name, std::vector<const HalfRun*> runs, std::uint64_t seed)
      : name_(std::move(name)), runs_(std::move(runs)), seed_(seed) {}

  bool has_halves() const {
    return !pairs("halves", "change", 0).empty() || !pairs("halves_same_seed", "change", 0).empty();
  }

  void add_rows(ReliabilityResult& out) const {
    for (const auto& [key, cosines] : runs_.front()->cosines) {
      for (const char* comparison : {"halves", "halves_same_seed", "seeds"}) {
        const std::vector<Pair> found = pairs(comparison, key.first, key.second);
        if (!found.empty()) out.rows.push_back(row(comparison, key, found));
      }
    }
  }

  // Of the first layer's change; across seeds where there are several, else of the one.
  void add_regions(ReliabilityResult& out) const {
    std::vector<Pair> halves = pairs("halves", "change", 0);
    if (halves.empty()) halves = pairs("halves_same_seed", "change", 0);
    const std::vector<Pair> seeds = pairs("seeds", "change", 0);
    if (halves.empty()) return;
    for (std::int64_t t = 0; t < runs_.front()->tokens(); ++t) {
      std::vector<std::size_t> others;
      for (std::int64_t other = 0; other < runs_.front()->tokens(); ++other) {
        if (other != t) others.push_back(static_cast<std::size_t>(other));
      }
      RegionReliabilityRow r{name_, 0, t,
                             static_cast<std::size_t>(t) < runs_.front()->names.size()
                                 ? runs_.front()->names[static_cast<std::size_t>(t)]
                                 : std::to_string(t)};
      r.halves = profile_agreement(halves, t, others);
      const stats::Interval interval = resampled(others.size(), kRegionResamples, [&](std::span<const std::size_t> drawn) {
        std::vector<std::size_t> tokens;
        for (const std::size_t i : drawn) tokens.push_back(others[i]);
        return profile_agreement(halves, t, tokens);
      });
      r.low = interval.lo;
      r.high = interval.hi;
      if (!seeds.empty()) r.seeds = profile_agreement(seeds, t, others);
      out.regions.push_back(std::move(r));
    }
  }

 private:
  stats::Interval resampled(std::size_t n, int resamples, const stats::IndexStatistic& statistic) const {
    stats::BootstrapOptions options;
    options.kind = stats::BootstrapKind::kPercentile;
    options.resamples = resamples;
    options.seed = derive_seed(seed_, "reliability", fnv1a64(name_));
    return stats::bootstrap_rows(n, statistic, options).interval;
  }

  ReliabilityRow row(const char* comparison, const std::pair<std::string, std::int64_t>& key,
                     const std::vector<Pair>& found) const {
    ReliabilityRow out;
    out.setting = name_;
    out.layer = key.second;
    out.code = key.first;
    out.comparison = comparison;
    out.pairs = static_cast<std::int64_t>(found.size());
    std::vector<std::size_t> all(static_cast<std::size_t>(found.front().first->rows()));
    std::iota(all.begin(), all.end(), 0);
    out.agreement = mean_agreement(found, all);
    const stats::Interval interval = resampled(
        all.size(), kResamples, [&](std::span<const std::size_t> tokens) { return mean_agreement(found, tokens); });
    out.low = interval.lo;
    out.high = interval.hi;
    if (out.comparison != "seeds" && out.agreement > 0) out.whole = 2 * out.agreement / (1 + out.agreement);
    out.shuffled = shuffled_agreement(found.front(), seed_);
    return out;
  }

  bool belongs(const std::string& comparison, const HalfRun& a, const HalfRun& b) const {
    const bool same_seed = a.config.seed == b.config.seed;
    if (comparison == "seeds") return a.people == b.people && !same_seed;
    return are_disjoint(a.people, b.people) && same_seed == (comparison == "halves_same_seed");
  }

  std::vector<Pair> pairs(const std::string& comparison, const std::string& code, std::int64_t layer) const {
    std::vector<Pair> out;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto a = runs_[j]->cosines.find({code, layer}), b = runs_[i]->cosines.find({code, layer});
        if (a == runs_[j]->cosines.end() || b == runs_[i]->cosines.end()) continue;
        if (belongs(comparison, *runs_[j], *runs_[i])) out.emplace_back(&a->second, &b->second);
      }
    }
    return out;
  }

  std::string name_;
  std::vector<const HalfRun*> runs_;
  std::uint64_t seed_;
};

std::vector<HalfRun> load_halves(const std::vector<fs::path>& paths, const AnalyzeProgress& progress,
                                 ReliabilityResult& result) {
  std::vector<HalfRun> runs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (progress) progress("reading " + paths[i].string(), 0.2 * static_cast<double>(i) / static_cast<double>(paths.size()));
    try {
      const RunReader reader(paths[i]);
      std::set<std::string> people = people_of(reader);
      if (people.empty()) continue;
      runs.push_back(load(paths[i], std::move(people)));
      result.runs.push_back(runs.back().path);
    } catch (const Error& e) {
      // One run without a table of positions or unfinished must not cost the others' comparison.
      result.notes.push_back(fmt::format("left out {}: {}", paths[i].string(), e.parts().what));
    }
  }
  return runs;
}

}  // namespace

ReliabilityResult analyze_reliability(const std::vector<fs::path>& paths, const AnalyzeSettings& settings,
                                      const AnalyzeProgress& progress) {
  ReliabilityResult result;
  const std::vector<HalfRun> runs = load_halves(paths, progress, result);
  std::vector<const RunConfig*> configs;
  for (const HalfRun& run : runs) configs.push_back(&run.config);
  const std::vector<std::string> names = setting_names(
      configs, {"seed", "series.test_subjects", "series.test_last", "series.leave_out", "series.test_fraction"});
  std::map<std::string, std::vector<const HalfRun*>> by_setting;
  for (std::size_t i = 0; i < runs.size(); ++i) by_setting[names[i]].push_back(&runs[i]);
  std::size_t done = 0;
  for (const auto& [name, own] : by_setting) {
    if (progress)
      progress("comparing halves", 0.2 + 0.8 * static_cast<double>(done++) / static_cast<double>(by_setting.size()));
    const Setting setting(name, own, settings.seed);
    if (!setting.has_halves()) {
      result.notes.push_back(name + ": no two of its runs were trained on different people");
      continue;
    }
    setting.add_rows(result);
    setting.add_regions(result);
  }
  if (result.rows.empty()) {
    throw DataError({.what = "no two runs were trained on different people",
                     .got = fmt::format("{} runs that say whom they were trained on", runs.size()),
                     .expected = "runs on two halves of the people that are otherwise alike, better of two seeds",
                     .hint = "give each half its own series.files, as configs/sweeps/aal2_halves.toml does"});
  }
  return result;
}

}  // namespace locus
