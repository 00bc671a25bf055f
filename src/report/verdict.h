// The answer in three sentences (how well, what the encoding holds, which σ), and what may be said of it to others.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace locus::report {

struct Group;
struct Inputs;

struct Verdict {
  std::vector<std::string> sentences;
  std::vector<std::string> may_say;
  std::vector<std::string> not_yet;  // each with what is missing
};

Verdict make_verdict(const Inputs& inputs);

// Plain text for a terminal; lines are not broken.
std::string verdict_text(const Verdict& verdict);

// How a baseline is called in sentences and figures: "ridge regression".
std::string baseline_words(const std::string& name);

// The baselines of a group's measure: mean value by name, those that stand in the summary of every run.
std::vector<std::pair<std::string, double>> baselines_of(const Inputs& inputs, const Group& group);

// The share of variance that an error leaves explained, by the error of predicting nothing; NaN where that is not known.
double explained_share(const Inputs& inputs, const Group& group, double mse);

}  // namespace locus::report
