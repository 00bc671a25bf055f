#include "tune/answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text.h"

namespace locus {
namespace {

constexpr std::size_t kDraws = 2000;
constexpr std::size_t kCurve = 61;
constexpr double kSure = 0.9;  // of the curves that the data allow
constexpr double kTail = 0.05;

double quantile(std::vector<double> v, double part) {
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, static_cast<std::size_t>(part * static_cast<double>(v.size())))];
}

double number_of(const FieldValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

// The key that the curve is drawn along: sigma, or the first with a range; -1 when all are lists.
int curve_key(const TuneSpace& space) {
  int first = -1;
  for (std::size_t k = 0; k < space.keys().size(); ++k) {
    if (!space.keys()[k].is_range()) continue;
    if (first < 0 || space.keys()[k].key == "pe.sigma") first = static_cast<int>(k);
  }
  return first;
}

// Curves along one key through the best candidate, that one last.
struct Along {
  std::vector<double> values;
  ScoreDraws draws;
};
Along draw_along(const Search& search, const Surrogate& model, std::size_t best, std::size_t key) {
  const TuneSpace& space = search.plan().space;
  Along out;
  std::vector<std::vector<double>> places;
  for (std::size_t i = 0; i < kCurve; ++i) {
    std::vector<double> x = search.candidates()[best].x;
    x[key] = static_cast<double>(i) / static_cast<double>(kCurve - 1);
    out.values.push_back(number_of(space.value(key, x[key])));
    places.push_back(std::move(x));
  }
  places.push_back(search.candidates()[best].x);
  Rng rng(search.plan().seed, "tune/answer");
  out.draws = model.draw(places, static_cast<int>(search.top_level()), kDraws, rng);
  return out;
}

// Where the best value lies, which values are as good, and whether the key matters at all.
void judge_key(const Search& search, const Along& along, TuneAnswer& a) {
  const std::size_t n = along.values.size();
  const auto draws = static_cast<double>(along.draws.curves.size());
  std::vector<double> tops, worse(n, 0), gap_sd(n, 0), gap_mean(n, 0);
  double flat = 0;
  for (std::size_t d = 0; d < along.draws.curves.size(); ++d) {
    const std::vector<double>& f = along.draws.curves[d];
    const double noise = along.draws.noise[d];
    const auto [low, top] = std::minmax_element(f.begin(), f.begin() + static_cast<std::ptrdiff_t>(n));
    tops.push_back(along.values[static_cast<std::size_t>(top - f.begin())]);
    if (*top - *low <= 2 * noise) flat += 1 / draws;
    for (std::size_t i = 0; i < n; ++i) {
      const double gap = f[n] - f[i];
      if (gap > noise) worse[i] += 1 / draws;
      gap_mean[i] += gap / draws;
      gap_sd[i] += gap * gap / draws;
    }
  }
  for (std::size_t i = 0; i < n; ++i) gap_sd[i] = std::sqrt(std::max(0.0, gap_sd[i] - gap_mean[i] * gap_mean[i]));
  a.seen = std::max(a.noise, 1.645 * quantile(gap_sd, 0.5));
  a.lo = std::min(a.value, quantile(tops, kTail));
  a.hi = std::max(a.value, quantile(tops, 1 - kTail));
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::abs(along.values[i] - a.value) < std::abs(along.values[at] - a.value)) at = i;
  }
  std::size_t from = at, to = at;
  while (from > 0 && worse[from - 1] < kSure) --from;
  while (to + 1 < n && worse[to + 1] < kSure) ++to;
  a.alike_lo = std::min(a.value, along.values[from]);
  a.alike_hi = std::max(a.value, along.values[to]);
  const bool excluded = std::any_of(worse.begin(), worse.end(), [](double w) { return w >= kSure; });
  a.effect = excluded ? kMatters : flat >= 0.5 ? kDoesNotMatter : kCannotTell;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> here;
    for (const auto& f : along.draws.curves) here.push_back(f[i]);
    CurvePoint p{along.values[i], mean_of(here), quantile(here, kTail), quantile(here, 1 - kTail)};
    if (!search.plan().higher_is_better) p = {p.value, -p.mean, -p.hi, -p.lo};
    a.curve.push_back(p);
  }
}

// Against the best candidate, at the highest level that the rival has.
void judge_rivals(const Search& search, const Surrogate& model, TuneAnswer& a) {
  for (std::size_t i = 0; i < search.candidates().size(); ++i) {
    const TuneCandidate& c = search.candidates()[i];
    if (c.rival.empty()) continue;
    RivalAnswer r;
    r.name = c.rival;
    std::vector<double> scores;
    std::size_t level = 0;
    for (std::size_t l = 0; l < search.plan().levels.size(); ++l) {
      const std::vector<double> here = search.scores_of(i, l);
      if (!here.empty()) scores = here, level = l;
    }
    if (scores.empty()) {
      r.verdict = "diverged";
      a.rivals.push_back(std::move(r));
      continue;
    }
    const PredictedScore best = model.at(search.candidates()[a.best].x, static_cast<int>(level));
    const double own = mean_of(scores);
    const double sd = std::sqrt(best.sd * best.sd + a.noise * a.noise / static_cast<double>(scores.size()));
    r.steps = search.plan().levels[level];
    r.score = search.high(own);
    r.behind = best.mean - own;
    r.lo = r.behind - 1.645 * sd;
    r.hi = r.behind + 1.645 * sd;
    // 90 % sure that the difference is more than the noise: one-sided.
    r.verdict = r.behind - 1.2816 * sd > a.noise ? "worse" : -r.behind - 1.2816 * sd > a.noise ? "better" : "as well";
    a.rivals.push_back(std::move(r));
  }
}

std::string key_words(const std::string& key) { return key == "pe.sigma" ? "σ" : key; }

std::string number_text(double x) { return fmt::format("{:.3g}", x); }

void say_key(const Search& search, const AnswerWords& words, TuneAnswer& a) {
  const TuneCandidate& best = search.candidates()[a.best];
  const std::string name = key_words(a.key);
  const std::string score =
      fmt::format("{} {} (90 %: {} to {}) is expected after {} steps", words.words, show_score(words, a.score),
                  show_score(words, a.score_lo), show_score(words, a.score_hi), a.steps);
  if (a.key.empty()) {
    a.sentences.push_back(fmt::format("Best: {}. {}.", candidate_name(best), score));
    return;
  }
  const TuneKey& key = search.plan().space.keys()[static_cast<std::size_t>(curve_key(search.plan().space))];
  if (a.effect == kDoesNotMatter) {
    a.sentences.push_back(fmt::format(
        "{} does not matter here: from {} to {} nothing differs by more than the noise of a seed ({}); a difference "
        "of {} would have been seen.",
        name, number_text(key.from), number_text(key.to), show_difference(words, a.noise), show_difference(words, a.seen)));
    a.sentences.push_back(fmt::format("{} {} is as good as any: {}.", name, number_text(a.value), score));
    return;
  }
  a.sentences.push_back(fmt::format("{} {}; the best lies between {} and {} (90 %). {}.", name, number_text(a.value),
                                    number_text(a.lo), number_text(a.hi), score));
  if (a.effect == kCannotTell) {
    a.sentences.push_back(
        fmt::format("Whether {} matters cannot be told from this much training: a difference below {} is not seen, and none "
                    "above it was found. A larger --budget tells.",
                    name, show_difference(words, a.seen)));
    return;
  }
  a.sentences.push_back(fmt::format("Between {} and {} nothing differs by more than the noise of a seed ({}).",
                                    number_text(a.alike_lo), number_text(a.alike_hi), show_difference(words, a.noise)));
}

void say_rivals(const AnswerWords& words, TuneAnswer& a) {
  for (const RivalAnswer& r : a.rivals) {
    if (r.verdict == "diverged") {
      a.sentences.push_back(fmt::format("{} diverged.", r.name));
      continue;
    }
    const std::string range = fmt::format("difference {} to {}, after {} steps", show_difference(words, r.lo),
                                          show_difference(words, r.hi), r.steps);
    if (r.verdict == "worse") {
      a.sentences.push_back(fmt::format("{} is worse ({}).", r.name, range));
    } else if (r.verdict == "better") {
      a.sentences.push_back(
          fmt::format("{} does better ({}): best.toml is the best of the searched keys, not this.", r.name, range));
    } else {
      a.sentences.push_back(fmt::format("{} does as well, within the noise ({}).", r.name, range));
    }
  }
}

void say_not_tried(const Search& search, const AnswerWords& words, TuneAnswer& a) {
  std::vector<std::string> left = words.not_tried;
  for (std::size_t r = 0; r < search.plan().rivals.size(); ++r) {
    const std::string& name = search.plan().rivals[r].name;
    const bool tried = std::any_of(a.rivals.begin(), a.rivals.end(), [&](const RivalAnswer& x) { return x.name == name; });
    if (!tried) left.push_back(name + " (the budget was too small)");
  }
  if (a.steps < search.plan().levels.back())
    left.push_back(fmt::format("runs longer than {} of {} steps", a.steps, search.plan().levels.back()));
  for (const TuneKey& k : search.plan().space.keys()) {
    if (k.is_range()) left.push_back(fmt::format("{} outside {}", k.key, k.text()));
  }
  left.push_back("any other key of the configuration");
  a.sentences.push_back("Not tried: " + join(left, "; ") + ".");
}

}  // namespace

std::string show_score(const AnswerWords& words, double value) {
  return words.is_fraction ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4g}", value);
}

std::string show_difference(const AnswerWords& words, double value) {
  return words.is_fraction ? fmt::format("{:.2g} points", 100 * value) : fmt::format("{:.2g}", value);
}

std::string candidate_name(const TuneCandidate& candidate) {
  if (!candidate.rival.empty()) return candidate.rival;
  std::vector<std::string> parts;
  for (const auto& [key, value] : candidate.settings) parts.push_back(key + " " + plain_text(value));
  return join(parts, ", ");
}

TuneAnswer answer_of(const Search& search, const AnswerWords& words) {
  TuneAnswer a;
  a.best = search.best();
  const std::size_t level = search.top_level();
  a.steps = search.plan().levels[level];
  const Surrogate model = search.model();
  a.noise = model.noise();
  const PredictedScore score = model.at(search.candidates()[a.best].x, static_cast<int>(level));
  const double lo = search.high(score.mean - 1.645 * score.sd), hi = search.high(score.mean + 1.645 * score.sd);
  a.score = search.high(score.mean);
  a.score_lo = std::min(lo, hi);
  a.score_hi = std::max(lo, hi);
  if (const int key = curve_key(search.plan().space); key >= 0) {
    const auto k = static_cast<std::size_t>(key);
    a.key = search.plan().space.keys()[k].key;
    a.value = number_of(search.plan().space.value(k, search.candidates()[a.best].x[k]));
    judge_key(search, draw_along(search, model, a.best, k), a);
  }
  judge_rivals(search, model, a);
  say_key(search, words, a);
  say_rivals(words, a);
  say_not_tried(search, words, a);
  return a;
}

}  // namespace locus
