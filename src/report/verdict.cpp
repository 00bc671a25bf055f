#include "report/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/results/networks.h"
#include "analyze/results/recovery.h"
#include "config/sources.h"
#include "core/nan.h"
#include "core/text.h"
#include "report/analysis.h"
#include "report/answer.h"
#include "report/data_names.h"
#include "report/figures/recovery.h"
#include "report/inputs.h"
#include "report/markup.h"
#include "run/layout.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

constexpr double kLevel = 0.05;
constexpr double kSmall = 0.1;  // a likeness below this is next to nothing, however small its p
constexpr std::size_t kFewestRuns = 3;
constexpr const char* kNothing = "zero";  // the baseline of predicting nothing

struct ScoredGroup {
  const Group* group = nullptr;
  std::vector<double> values;
  double mean = kNan;
};

bool better(const Measure& m, double a, double b) { return m.higher_is_better ? a > b : a < b; }

// Best first.
std::vector<ScoredGroup> scored_groups(const Inputs& inputs) {
  std::vector<ScoredGroup> out;
  for (const Group& g : inputs.groups) {
    ScoredGroup s{&g, values_of(inputs, g, inputs.measure->key()), kNan};
    if (s.values.empty()) continue;
    s.mean = stats::mean(s.values);
    out.push_back(std::move(s));
  }
  std::stable_sort(out.begin(), out.end(),
                   [&](const ScoredGroup& a, const ScoredGroup& b) { return better(*inputs.measure, a.mean, b.mean); });
  return out;
}

std::string runs_words(std::size_t n) { return n == 1 ? "one run" : fmt::format("{} runs", n); }

std::string value_words(const Inputs& inputs, const Group& group, double value) {
  const Measure& m = *inputs.measure;
  if (m.is_fraction()) return m.show(value);
  const double share = explained_share(inputs, group, value);
  return std::isfinite(share) ? fmt::format("{} of the variance (MSE {})", percent(share), pretty(value, 4))
                              : fmt::format("MSE {}", pretty(value, 4));
}

// What anyone reaches without learning anything, in tasks with a known number of answers.
double chance_of(const Inputs& inputs) {
  for (const Run& run : inputs.runs) {
    if (run.config && source_of(*run.config).answer_tokens != nullptr && inputs.measure->is_fraction())
      return 1.0 / static_cast<double>(run.config->lst.n);
  }
  return kNan;
}

class Writer {
 public:
  explicit Writer(const Inputs& inputs) : inputs_(inputs) {}

  Verdict write() {
    if (!inputs_.measure) {
      out_.sentences = {"No run has a result yet."};
      out_.not_yet = {"Anything: train at least one run to its end first."};
      return out_;
    }
    scored_ = scored_groups(inputs_);
    if (scored_.empty()) {
      out_.sentences = {fmt::format("No run has a finite {}: all diverged or broke off.", inputs_.measure->words())};
      out_.not_yet = {"Anything: lower optim.lr, and train again."};
      return out_;
    }
    for (const ScoredGroup& s : scored_) {
      if (s.group->sigma) {
        learned_ = &s;
        break;
      }
    }
    how_well();
    what_it_holds();
    which_sigma();
    picked();
    same_recordings();
    unconverged();
    return out_;
  }

 private:
  void how_well() {
    const Measure& m = *inputs_.measure;
    const ScoredGroup& best = scored_[0];
    const std::string who = best.group->label;
    std::string text =
        m.is_fraction()
            ? fmt::format("{} answers {} of the {} examples correctly", who, m.show(best.mean), split_words(m.split))
            : fmt::format("On {} data {} {} {}", split_words(m.split), who,
                          std::isfinite(explained_share(inputs_, *best.group, best.mean)) ? "explains" : "has",
                          value_words(inputs_, *best.group, best.mean));
    text += fmt::format(" ({})", runs_words(best.values.size()));
    const auto baselines = baselines_of(inputs_, *best.group);
    const auto top = std::min_element(baselines.begin(), baselines.end(),
                                      [&](const auto& a, const auto& b) { return better(m, a.second, b.second); });
    if (top != baselines.end()) {
      against_baseline(best, *top, text);
    } else if (const double chance = chance_of(inputs_); std::isfinite(chance)) {
      text += fmt::format("; guessing gives {}.", percent(chance, 0));
      if (best.mean > 2 * chance)
        out_.may_say.push_back(fmt::format("{} is far above guessing on {} examples.", who, split_words(m.split)));
    } else {
      text += "; there is no baseline to compare with.";
      out_.not_yet.emplace_back("Whether that is much: the runs have no baseline.");
    }
    out_.sentences.push_back(text);
  }

  void against_baseline(const ScoredGroup& best, const std::pair<std::string, double>& top, std::string& text) {
    const Measure& m = *inputs_.measure;
    const std::string name = baseline_words(top.first);
    text += fmt::format("; {} reaches {}", name, value_words(inputs_, *best.group, top.second));
    if (!better(m, best.mean, top.second)) {
      text += fmt::format(": no model here beats {}.", name);
      out_.may_say.push_back(fmt::format("No model here beats {} on {} data.", name, split_words(m.split)));
      return;
    }
    const bool each =
        std::all_of(best.values.begin(), best.values.end(), [&](double v) { return better(m, v, top.second); });
    text += each ? ", less than the model." : ", less than the model's mean.";
    const std::string claim = fmt::format("{} beats {} on {} data", best.group->label, name, split_words(m.split));
    if (each && best.values.size() >= kFewestRuns) {
      out_.may_say.push_back(fmt::format("{}, with each of {} seeds.", claim, best.values.size()));
    } else {
      out_.not_yet.push_back(
          fmt::format("That {} in general: {} so far; {}.", claim, runs_words(best.values.size()), more_seeds()));
    }
  }

  // A number of the encoding with the p of its null, over the runs of the best learned setting.
  struct Finding {
    std::string what;  // "goes with the true grid"
    std::string numbers;
    std::string null;  // "tokens permuted"
    double p = kNan;   // of the run that stands for the setting
    double size = 0;   // of what is claimed; negative for its opposite
    std::size_t shown = 0, runs = 0;
    std::string also = {};  // a further test
    bool also_fails = false;

    bool beyond_chance() const { return size > 0 && p < kLevel; }
    bool holds() const { return beyond_chance() && size >= kSmall; }
  };

  template <class Row, class Result, class Fits>
  const Row* row_of(const Run& run, std::vector<Row> Result::*table, Fits fits) const {
    const Result* const result = find_result<Result>(run.analyses);
    if (result == nullptr) return nullptr;
    for (const Row& row : result->*table) {
      if (fits(row)) return &row;
    }
    return nullptr;
  }

  static bool is_first(const std::string& model, std::int64_t layer) { return model == "final" && layer == 0; }

  std::vector<Finding> findings() const {
    std::vector<Finding> out;
    const Run& shown = inputs_.run(median_run(inputs_, *learned_->group));
    const std::string truth = recovery_truth(inputs_);
    // What training added is what was learned; where it is not known, the whole code.
    const auto truth_row_of = [&](const Run& run, const char* model, const char* code) {
      return row_of(run, &RecoveryResult::truths, [&](const TruthRow& r) {
        return r.model == model && r.layer == 0 && r.code == code && r.similarity == "cosine" && r.truth == truth;
      });
    };
    const auto truth_row = [&](const Run& run) {
      const TruthRow* change = truth_row_of(run, "final", "change");
      return change != nullptr ? change : truth_row_of(run, "final", "raw");
    };
    const auto network_row = [&](const Run& run) {
      const auto of = [&](const char* code) {
        return row_of(run, &NetworkResult::rows,
                      [&](const NetworkRow& r) { return is_first(r.model, r.layer) && r.code == code; });
      };
      const NetworkRow* change = of("change");
      return change != nullptr ? change : of("raw");
    };
    if (const NetworkRow* row = network_row(shown); row != nullptr && std::isfinite(row->difference_p)) {
      Finding f{"holds the labels of the tokens",
                fmt::format("pairs of one label have cosine {}, others {}", r_text(row->within), r_text(row->between)),
                "labels permuted", row->difference_p, row->difference};
      if (std::isfinite(row->surrogate_p)) {
        f.also = fmt::format("against codes that know space alone {}", p_text(row->surrogate_p));
        f.also_fails = row->surrogate_p >= kLevel;
      }
      count(f, [&](const Run& run) {
        const NetworkRow* r = network_row(run);
        return r == nullptr ? kNan : r->difference > 0 ? r->difference_p : 1.0;
      });
      out.push_back(std::move(f));
    }
    if (const TruthRow* row = truth_row(shown); row != nullptr && std::isfinite(row->mantel_p)) {
      const TruthRow* before = row->code == "raw" ? truth_row_of(shown, "init", "raw") : nullptr;
      Finding f{"goes with " + truth_words(truth),
                fmt::format("r = {}{}", r_text(row->pearson),
                            before == nullptr ? "" : fmt::format(", {} untrained", r_text(before->pearson))),
                "tokens permuted", row->mantel_p, row->pearson};
      count(f, [&](const Run& run) {
        const TruthRow* r = truth_row(run);
        return r == nullptr ? kNan : r->pearson > 0 ? r->mantel_p : 1.0;
      });
      out.push_back(std::move(f));
    }
    const RecoveryRow* pairs =
        row_of(shown, &RecoveryResult::layers, [](const RecoveryRow& r) { return is_first(r.model, r.layer); });
    if (pairs != nullptr && std::isfinite(pairs->homotopic_p)) {
      out.push_back({"holds the pairs of the two hemispheres",
                     fmt::format("cosine {} for homologous regions, {} for others across", r_text(pairs->homotopic),
                                 r_text(pairs->homotopic_other)),
                     "pairs permuted", pairs->homotopic_p, pairs->homotopic - pairs->homotopic_other,
                     pairs->homotopic_p < kLevel ? 1u : 0u, 1});
    }
    return out;
  }

  template <class Number>
  void count(Finding& f, Number p_of) const {
    for (const int r : learned_->group->runs) {
      const double p = p_of(inputs_.run(r));
      if (!std::isfinite(p)) continue;
      ++f.runs;
      if (p < kLevel) ++f.shown;
    }
  }

  void what_it_holds() {
    if (learned_ == nullptr) {
      out_.sentences.emplace_back("No encoding here was learned, so there is nothing to look for in it.");
      return;
    }
    std::vector<Finding> all = findings();
    const std::string who = fmt::format("The encoding of {}", learned_->group->label);
    if (all.empty()) {
      out_.sentences.push_back(who + " was not analysed, or nothing is known of its tokens to compare it with.");
      out_.not_yet.emplace_back("What the encoding holds: locus analyze, with labels, coordinates or a known matrix.");
      return;
    }
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.holds() > b.holds(); });
    const Finding& first = all.front();
    const std::string tests =
        fmt::format("{}; {}: {}{}", first.numbers, first.null, p_text(first.p), first.also.empty() ? "" : "; " + first.also);
    out_.sentences.push_back(
        first.holds() ? fmt::format("{} {} ({}).", who, first.what, tests)
        : first.beyond_chance()
            ? fmt::format("{} hardly {}: beyond chance, but next to nothing ({}).", who, first.what, tests)
            : fmt::format("Not shown: that {} {} ({}).", lower_first(who), first.what, tests));
    for (const Finding& f : all) tell(f);
  }

  void tell(const Finding& f) {
    const std::string claim = fmt::format("the encoding of {} {}", learned_->group->label, f.what);
    if (!f.holds() || f.shown < f.runs) {
      out_.not_yet.push_back(f.shown > 0 && f.shown < f.runs
                                 ? fmt::format("That {}: shown in {} of {} runs.", claim, f.shown, f.runs)
                                 : fmt::format("That {}: {} ({}, {}).", claim, f.numbers, f.null, p_text(f.p)));
      return;
    }
    if (f.also_fails) {
      out_.not_yet.push_back(fmt::format("That {} by more than being near one another: {}.", claim, f.also));
      return;
    }
    const std::string how_many = f.runs >= kFewestRuns ? fmt::format("in each of {} seeds", f.runs)
                                                       : fmt::format("in {}", f.runs <= 1 ? "this run" : "both runs");
    out_.may_say.push_back(fmt::format("T{}, {} ({}; {}, {}).", claim.substr(1), how_many, f.numbers, f.null, p_text(f.p)));
  }

  // Settings of σ that share all other keys; the largest such family, by σ.
  std::vector<const ScoredGroup*> family() const {
    std::map<std::string, std::vector<const ScoredGroup*>> families;
    for (const ScoredGroup& s : scored_) {
      if (s.group->sigma) families[s.group->others].push_back(&s);
    }
    std::vector<const ScoredGroup*> largest;
    for (const auto& [others, members] : families) {
      if (members.size() > largest.size()) largest = members;
    }
    return largest;  // best first, as scored_
  }

  void which_sigma() {
    const std::vector<const ScoredGroup*> members = family();
    if (members.empty()) return;
    const Measure& m = *inputs_.measure;
    const ScoredGroup& first = *members.front();
    const std::string sigma = pretty(*first.group->sigma, 4);
    if (members.size() == 1) {
      out_.sentences.push_back(fmt::format("Which σ is best cannot be said: σ {} is the only one here.", sigma));
      out_.not_yet.push_back("Which σ is best: " + sweep_words("pe.sigma=0.1,0.5,2 seed=0..4", "sigma") + " asks that.");
      return;
    }
    const ScoredGroup& last = *members.back();
    std::string text = fmt::format("Of {} values of σ, σ {} has the best {}: {} against {} at σ {}", members.size(), sigma,
                                   m.words(), m.show(first.mean), m.show(last.mean), pretty(*last.group->sigma, 4));
    // The two ends were picked from all pairs, which Bonferroni's correction pays for.
    const std::size_t pairs = members.size() * (members.size() - 1) / 2;
    const double p = std::min(static_cast<double>(pairs) * difference_p(first.values, last.values), 1.0);  // NaN stays
    const std::string test = pairs == 1 ? "Welch's t" : fmt::format("Welch's t, corrected for {} pairs", pairs);
    const std::string claim = fmt::format("σ {} does better than σ {}", sigma, pretty(*last.group->sigma, 4));
    if (!std::isfinite(p)) {
      text += "; with one run each no test is possible.";
      out_.not_yet.push_back(fmt::format("That {} in general: another seed may turn the order; {}.", claim, more_seeds()));
    } else if (p < kLevel && std::min(first.values.size(), last.values.size()) >= kFewestRuns) {
      text += fmt::format(" ({}, {}).", test, p_text(p));
      out_.may_say.push_back(
          fmt::format("{} ({}, {} and {} runs).", upper_first(claim), p_text(p), first.values.size(), last.values.size()));
    } else {
      text += fmt::format(" ({}, {}).", test, p_text(p));
      out_.not_yet.push_back(
          fmt::format("That {}: {} with {} and {} runs.", claim, p_text(p), first.values.size(), last.values.size()));
    }
    out_.sentences.push_back(text);
  }

  // A command that can be typed where one run is all there is.
  std::string sweep_words(const std::string& settings, const std::string& suffix) const {
    if (inputs_.runs.size() != 1) return "locus sweep with " + settings;
    const std::string& run = inputs_.runs[0].path;
    return fmt::format("locus sweep {}/{} {} --out {}-{}", run, run_files::kConfig, settings, run, suffix);
  }
  std::string more_seeds() const { return inputs_.runs.size() == 1 ? sweep_words("seed=0..4", "seeds") : "train seed=0..4"; }

  // The best of several on the data it is then judged by is flattered by the choice.
  void picked() {
    if (scored_.size() < 2) return;
    out_.not_yet.push_back(
        fmt::format("That {} would do as well on new data: it was picked as the best of {} settings on these.",
                    scored_[0].group->label, scored_.size()));
  }

  // A model that is tested on the people it was trained on says nothing of others.
  void same_recordings() {
    const RunConfig& c = inputs_.config(scored_[0].group->runs[0]);
    const bool recordings = !c.series.files.empty() || !c.series.manifest.empty();
    if (!recordings || c.series.orientation == Orientation::kTimeByTokens) return;
    if (c.series.split_by == SplitBy::kSubject || !c.series.test_files.empty()) return;
    out_.not_yet.emplace_back(
        "Anything of other people: the test data are from the recordings that were trained on; three subjects or more are "
        "split by subject.");
  }

  void unconverged() {
    std::size_t open = 0;
    for (const Warning& w : inputs_.warnings) open += w.text.starts_with("not converged") ? 1 : 0;
    if (open == 0) return;
    out_.not_yet.push_back(
        fmt::format("How the settings compare once trained: {} of {} runs have not converged.", open, inputs_.runs.size()));
  }

  static std::string lower_first(std::string text) {
    if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
  }
  static std::string upper_first(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
  }

  const Inputs& inputs_;
  std::vector<ScoredGroup> scored_;
  const ScoredGroup* learned_ = nullptr;
  Verdict out_;
};

Verdict verdict_of_one(const Inputs& inputs) {
  Verdict verdict = Writer(inputs).write();
  for (auto* list : {&verdict.sentences, &verdict.may_say, &verdict.not_yet}) {
    for (std::string& text : *list) {
      if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
  }
  return verdict;
}

}  // namespace

std::string baseline_words(const std::string& name) {
  if (name == "ridge") return "ridge regression";
  if (name == kNothing) return "predicting the mean";
  if (name == "mean_visible") return "mean of visible tokens";
  if (name == "nearest") return "nearest neighbours";
  if (name == "mean") return "predicting the mean";
  if (name == "majority") return "the commonest class";
  if (name == "logistic") return "logistic regression";
  if (name == "knn") return "the nearest samples";
  if (name == "mlp") return "a small perceptron";
  std::string words = name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::vector<std::pair<std::string, double>> baselines_of(const Inputs& inputs, const Group& group) {
  std::vector<std::pair<std::string, double>> out;
  if (!inputs.measure) return out;
  const std::string prefix = inputs.measure->key() + "_";
  std::map<std::string, std::vector<double>> found;
  for (const int r : group.runs) {
    for (const auto& [name, value] : inputs.run(r).measures) {
      if (name.starts_with(prefix) && name.find('.', prefix.size()) == std::string::npos && std::isfinite(value))
        found[name.substr(prefix.size())].push_back(value);
    }
  }
  for (const auto& [name, values] : found) out.emplace_back(name, stats::mean(values));
  return out;
}

double explained_share(const Inputs& inputs, const Group& group, double mse) {
  for (const auto& [name, value] : baselines_of(inputs, group)) {
    if (name == kNothing && value > 0 && inputs.measure->name == "mse") return 1 - mse / value;
  }
  return kNan;
}

Verdict make_verdict(const Inputs& inputs) {
  constexpr std::size_t kMostData = 4;
  const auto parts = by_data(inputs);
  if (parts.empty()) return verdict_of_one(inputs);
  Verdict verdict;
  for (std::size_t i = 0; i < std::min(parts.size(), kMostData); ++i) {
    const Verdict own = verdict_of_one(parts[i].second);
    for (const auto list : {&Verdict::sentences, &Verdict::may_say, &Verdict::not_yet}) {
      for (const std::string& text : own.*list) (verdict.*list).push_back(fmt::format("{}: {}", parts[i].first, text));
    }
  }
  if (parts.size() > kMostData)
    verdict.sentences.push_back(fmt::format("{} more sets of data: give them a report each.", parts.size() - kMostData));
  verdict.not_yet.push_back(fmt::format(
      "Which of the {} sets of data is learned best: errors of different data cannot be compared.", parts.size()));
  return verdict;
}

std::string verdict_text(const Verdict& verdict) {
  std::string out = join(verdict.sentences, "\n");
  const auto list = [&](const char* head, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out += fmt::format("\n\n{}", head);
    for (const std::string& line : lines) out += "\n  " + line;
  };
  list("You may say", verdict.may_say);
  list("You may not say yet", verdict.not_yet);
  return out;
}

}  // namespace locus::report
