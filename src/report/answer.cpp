#include "report/answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "analyze/results/recovery.h"
#include "report/analysis.h"
#include "report/data_names.h"
#include "report/figures/recovery.h"
#include "report/markup.h"
#include "report/rank_test.h"
#include "stats/descriptive.h"
#include "stats/small_samples.h"
#include "stats/tests.h"

namespace locus::report {
namespace {

struct Scored {
  const Group* group = nullptr;
  std::vector<double> values;
  Estimate mean;
};

std::vector<Scored> score_groups(const Inputs& inputs) {
  std::vector<Scored> scored;
  for (const Group& g : inputs.groups) {
    Scored s{&g, values_of(inputs, g, inputs.measure->key()), {}};
    if (s.values.empty()) continue;
    s.mean = mean_over_runs(s.values, 0);
    scored.push_back(std::move(s));
  }
  const bool up = inputs.measure->higher_is_better;
  std::stable_sort(scored.begin(), scored.end(), [&](const Scored& a, const Scored& b) {
    return up ? a.mean.value > b.mean.value : a.mean.value < b.mean.value;
  });
  return scored;
}

std::string value_text(const Measure& m, const Scored& s) {
  if (s.values.size() == 1) return fmt::format("{} (one run)", m.show(s.mean.value));
  if (s.values.size() == 2)
    return fmt::format("{} (two runs: {} and {})", m.show(s.mean.value), m.show(s.values[0]), m.show(s.values[1]));
  return fmt::format("{} (95 % interval {} to {}, n = {})", m.show(s.mean.value), m.show(s.mean.lo), m.show(s.mean.hi),
                     s.values.size());
}

Claim claim_best(const Measure& m, const std::vector<Scored>& scored) {
  const Scored& best = scored[0];
  Claim claim;
  claim.text = fmt::format("{} comes first: {} {}.", best.group->label, m.words(), value_text(m, best));
  if (scored.size() == 1) {
    claim.text = fmt::format("{}: {} {}.", best.group->label, m.words(), value_text(m, best));
    claim.test = best.values.size() < 2 ? "One run of one setting: nothing to compare, and no measure of spread."
                                        : "One setting: nothing to compare with.";
    return claim;
  }
  std::vector<double> p;
  std::vector<std::size_t> tested;
  for (std::size_t i = 1; i < scored.size(); ++i) {
    const double own = difference_p(best.values, scored[i].values);
    if (std::isfinite(own)) p.push_back(own), tested.push_back(i);
  }
  const double lead = std::abs(best.mean.value - scored[1].mean.value);
  if (p.empty()) {
    claim.test = fmt::format(
        "It leads {} by {}, but with one run of each setting no test is possible: another seed may turn the order.",
        scored[1].group->label, m.show_difference(lead));
    return claim;
  }
  const std::vector<double> adjusted = stats::holm(p);
  const auto beaten =
      static_cast<std::size_t>(std::count_if(adjusted.begin(), adjusted.end(), [](double q) { return q < 0.05; }));
  const bool enough = best.values.size() >= 3;
  claim.evidence =
      beaten == adjusted.size() && enough && tested.size() + 1 == scored.size() ? Evidence::kClear : Evidence::kWeak;
  if (claim.evidence == Evidence::kClear)
    claim.text = fmt::format("{} does best: {} {}.", best.group->label, m.words(), value_text(m, best));
  claim.test = fmt::format("Next is {} at {}", scored[1].group->label, m.show(scored[1].mean.value));
  if (tested[0] == 1)
    claim.test += fmt::format(", {} behind (Welch's t, Holm-corrected {})", m.show_difference(lead), p_text(adjusted[0]));
  claim.test += fmt::format("; by that test ahead of {} of the {} other settings that have at least two runs.", beaten,
                            adjusted.size());
  if (beaten < adjusted.size()) claim.test += " It may be level with the rest.";
  if (!enough) claim.test += fmt::format(" {} runs a setting are few.", best.values.size());
  return claim;
}

// The settings with σ that share all other keys; the largest such family.
std::vector<const Scored*> sigma_family(const std::vector<Scored>& scored) {
  std::map<std::string, std::vector<const Scored*>> families;
  for (const Scored& s : scored) {
    if (s.group->sigma) families[s.group->others].push_back(&s);
  }
  std::vector<const Scored*> largest;
  for (const auto& [others, family] : families) {
    if (family.size() > largest.size()) largest = family;
  }
  std::sort(largest.begin(), largest.end(),
            [](const auto* a, const auto* b) { return *a->group->sigma < *b->group->sigma; });
  return largest;
}

Claim claim_sigma(const Measure& m, const std::vector<const Scored*>& family) {
  std::vector<double> x, y;
  std::size_t fewest = SIZE_MAX;
  for (const Scored* s : family) {
    fewest = std::min(fewest, s->values.size());
    for (const double v : s->values) x.push_back(*s->group->sigma), y.push_back(v);
  }
  const stats::Correlation rho = rank_correlation(x, y);
  const Scored &first = *family.front(), &last = *family.back();
  const bool real = rho.p < 0.05;
  Claim claim;
  claim.evidence = fewest < 2 ? Evidence::kNone : real && fewest >= 3 ? Evidence::kClear : Evidence::kWeak;
  std::string verb = !std::isfinite(rho.r) || !real ? "shows no clear trend with σ"
                     : rho.r < 0                    ? "falls as σ grows"
                                                    : "rises with σ";
  std::string subject = m.words();
  subject[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(subject[0])));
  claim.text = fmt::format("{} {}: {} at σ {}, {} at σ {}.", subject, verb, m.show(first.mean.value),
                           pretty(*first.group->sigma, 4), m.show(last.mean.value), pretty(*last.group->sigma, 4));
  claim.test = fmt::format("Spearman's ρ = {} over {} runs at {} values of σ, {}.", r_text(rho.r), x.size(), family.size(),
                           p_text(rho.p));
  if (fewest < 3) claim.test += fmt::format(" As few as {} run{} a setting: weak evidence.", fewest, fewest == 1 ? "" : "s");
  const auto best = *std::min_element(family.begin(), family.end(), [&](const auto* a, const auto* b) {
    return m.higher_is_better ? a->mean.value > b->mean.value : a->mean.value < b->mean.value;
  });
  if (best != family.front() && best != family.back()) {
    claim.test += fmt::format(" The best σ is inside the range ({}), so a monotone trend does not tell everything.",
                              pretty(*best->group->sigma, 4));
  }
  return claim;
}

Claim claim_fixed(const Measure& m, const Scored& learned, const Scored& fixed) {
  const double difference = learned.mean.value - fixed.mean.value;
  const bool learned_wins = m.higher_is_better == (difference > 0);
  const double p = difference_p(learned.values, fixed.values);
  Claim claim;
  const std::size_t fewest = std::min(learned.values.size(), fixed.values.size());
  claim.evidence = !std::isfinite(p) ? Evidence::kNone : p < 0.05 && fewest >= 3 ? Evidence::kClear : Evidence::kWeak;
  const std::string size = m.show_difference(std::abs(difference));
  if (std::isfinite(p) && p >= 0.05) {
    claim.text =
        fmt::format("The best learned encoding ({}) and the best other one ({}) cannot be told apart: they differ by {}.",
                    learned.group->label, fixed.group->label, size);
  } else {
    claim.text = fmt::format("The best learned encoding ({}) is {} {} the best other one ({}).", learned.group->label, size,
                             learned_wins ? "better than" : "worse than", fixed.group->label);
  }
  claim.test =
      std::isfinite(p)
          ? fmt::format("Welch's t, {}, n = {} and {}; both were picked as the best of their kind, which flatters both.",
                        p_text(p), learned.values.size(), fixed.values.size())
          : "One run on a side: no test possible.";
  return claim;
}

// What training did to the likeness of the codes with the truth, in the σ where it did most.
struct Gain {
  const Group* group = nullptr;
  std::vector<double> before, after, difference;  // one a run
};

std::vector<Gain> recovery_gains(const Inputs& inputs, const std::string& truth) {
  std::vector<Gain> gains;
  const RunNumber untrained = truth_likeness("init", truth, 0);
  const RunNumber trained = truth_likeness("final", truth, 0);
  for (const Group& g : inputs.groups) {
    if (!g.sigma) continue;
    Gain gain;
    gain.group = &g;
    for (const int r : g.runs) {
      const double before = untrained(inputs.run(r)), after = trained(inputs.run(r));
      if (!std::isfinite(before) || !std::isfinite(after)) continue;
      gain.before.push_back(before);
      gain.after.push_back(after);
      gain.difference.push_back(after - before);
    }
    if (!gain.after.empty()) gains.push_back(std::move(gain));
  }
  return gains;
}

// The smallest p among the runs of a setting for its likeness with the truth, tokens permuted; 1 where there is none.
double likeness_p(const Inputs& inputs, const Gain& gain, const std::string& truth) {
  double smallest = 1;
  for (const int r : gain.group->runs) {
    const auto* const result = find_result<RecoveryResult>(inputs.run(r).analyses);
    if (result == nullptr) continue;
    for (const TruthRow& row : result->truths) {
      const bool fits =
          row.model == "final" && row.code == "raw" && row.similarity == "cosine" && row.truth == truth && row.layer == 0;
      if (fits && row.pearson > 0 && std::isfinite(row.mantel_p)) smallest = std::min(smallest, row.mantel_p);
    }
  }
  return smallest;
}

std::optional<Claim> claim_recovery(const Inputs& inputs) {
  const std::string truth = recovery_truth(inputs);
  const std::vector<Gain> gains = recovery_gains(inputs, truth);
  if (gains.empty()) return std::nullopt;
  const Gain& most = *std::max_element(
      gains.begin(), gains.end(), [](const Gain& a, const Gain& b) { return stats::mean(a.after) < stats::mean(b.after); });
  const std::size_t n = most.difference.size();
  double p = std::numeric_limits<double>::quiet_NaN();
  if (n >= 2) {
    const stats::LocationTest exact = stats::paired_location_test(most.difference, std::vector<double>(n, 0.0));
    p = exact.constant ? exact.p : stats::one_sample_t(most.difference).p;
  }
  // One run cannot be told from another seed's noise: only a likeness beyond that of permuted tokens is a headline then.
  const bool rises = stats::mean(most.difference) > 0 && (n >= 2 || likeness_p(inputs, most, truth) < 0.05);
  Claim claim;
  claim.evidence = !std::isfinite(p) ? Evidence::kNone : p < 0.05 && n >= 3 ? Evidence::kClear : Evidence::kWeak;
  const std::string likeness = fmt::format("r = {} with {}", r_text(stats::mean(most.after)), truth_words(truth));
  claim.text =
      !rises || (std::isfinite(p) && p >= 0.05)
          ? fmt::format("No learned encoding is shown to have moved towards the truth; nearest is {}: {}, {} untrained.",
                        most.group->label, likeness, r_text(stats::mean(most.before)))
          : fmt::format("Training moved the positions towards the truth most in {}: {}, {} untrained.", most.group->label,
                        likeness, r_text(stats::mean(most.before)));
  claim.test = std::isfinite(p)
                   ? fmt::format("First layer; t of trained minus untrained, {}, n = {}; picked as the best of {} settings.",
                                 p_text(p), n, gains.size())
                   : "First layer; one run, so no test.";
  std::vector<double> x, y;
  for (const Gain& g : gains) {
    for (const double v : g.after) x.push_back(*g.group->sigma), y.push_back(v);
  }
  if (gains.size() >= 3) {
    const stats::Correlation rho = rank_correlation(x, y);
    claim.test += fmt::format(" Over σ: Spearman's ρ = {}, {}, n = {}.", r_text(rho.r), p_text(rho.p), x.size());
  }
  return claim;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::vector<Claim> raw_claims(const Inputs& inputs) {
  if (!inputs.measure) {
    return {
        {Evidence::kNone, "No run has a result yet.", "Neither the summary nor an evaluation of any run holds a measure."}};
  }
  const std::vector<Scored> scored = score_groups(inputs);
  if (scored.empty()) {
    return {{Evidence::kNone, fmt::format("No run has a finite {}.", inputs.measure->words()),
             "All runs diverged or broke off."}};
  }
  std::vector<Claim> claims = {claim_best(*inputs.measure, scored)};
  const std::vector<const Scored*> family = sigma_family(scored);
  if (family.size() >= 3) claims.push_back(claim_sigma(*inputs.measure, family));
  const auto learned =
      std::find_if(scored.begin(), scored.end(), [](const Scored& s) { return s.group->sigma.has_value(); });
  const auto fixed = std::find_if(scored.begin(), scored.end(), [](const Scored& s) { return !s.group->sigma.has_value(); });
  if (learned != scored.end() && fixed != scored.end()) claims.push_back(claim_fixed(*inputs.measure, *learned, *fixed));
  if (std::optional<Claim> recovered = claim_recovery(inputs)) claims.push_back(std::move(*recovered));
  return claims;
}

}  // namespace

double difference_p(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const stats::LocationTest exact = stats::two_sample_location_test(a, b);
  return exact.constant ? exact.p : stats::welch_t(a, b).p;
}

std::string truth_words(const std::string& truth) {
  if (truth == "sinusoid") return "the true grid (2-D sinusoid)";
  if (truth == "modules") return "the true modules";
  if (truth == "W") return "the true connections";
  if (truth == "correlation" || truth == "connectivity") return "the " + truth + " of the data";
  return truth;
}

std::vector<Claim> make_claims(const Inputs& inputs) {
  std::vector<Claim> claims;
  for (const auto& [data, part] : by_data(inputs)) {
    for (Claim& claim : raw_claims(part)) {
      claim.text = fmt::format("{}: {}", data, sentence(claim.text));
      claims.push_back(std::move(claim));
    }
  }
  if (!claims.empty()) return claims;
  claims = raw_claims(inputs);
  for (Claim& claim : claims) claim.text = sentence(std::move(claim.text));
  return claims;
}

}  // namespace locus::report
