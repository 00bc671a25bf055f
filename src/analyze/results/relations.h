// Which measures of a run go with its generalisation: rank correlation over all runs, given sigma, and over means of each
// sigma.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct RelationRow {
  std::string measure;
  std::string outcome;  // "heldout.accuracy", "test.mse"
  std::int64_t runs = 0;
  double spearman = kNotAvailable;
  double p = kNotAvailable;
  double low = kNotAvailable;  // 95 % bootstrap interval, seeds resampled whole (at least 3)
  double high = kNotAvailable;
  std::int64_t clusters = 0;                    // seeds
  double spearman_given_sigma = kNotAvailable;  // partial: what is left beside sigma
  std::int64_t sigmas = 0;
  double spearman_sigma = kNotAvailable;   // over means of each sigma: trivially
                                           // high with few of them
  double spearman_within = kNotAvailable;  // mean over sigmas of the correlation
                                           // inside each (at least 4 runs)

  static void fields(auto& r, auto&& visit) {
    visit("measure", r.measure);
    visit("outcome", r.outcome);
    visit("runs", r.runs);
    visit("spearman", r.spearman, Role::kAside);
    visit("p", r.p);
    visit("low", r.low);
    visit("high", r.high);
    visit("sigmas", r.sigmas);
    visit("spearman_sigma", r.spearman_sigma);
    visit("spearman_within", r.spearman_within);
    visit("clusters", r.clusters);
    visit("spearman_given_sigma", r.spearman_given_sigma);
  }
};

struct RelationPoint {
  std::string run;
  std::string setting;
  double sigma = kNotAvailable;
  std::int64_t seed = 0;
  std::string measure;
  double value = kNotAvailable;
  double outcome = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("run", r.run);
    visit("setting", r.setting);
    visit("sigma", r.sigma);
    visit("seed", r.seed);
    visit("measure", r.measure);
    visit("value", r.value);
    visit("outcome", r.outcome);
  }
};

struct RelationResult {
  static constexpr const char* kName = "relations";
  std::vector<RelationRow> relations;
  std::vector<RelationPoint> points;
  std::vector<std::string> notes;  // what could not be had, and why

  static void tables(auto& r, auto&& visit) {
    visit("relations", "", r.relations);
    visit("points", "points", r.points);
  }
};

}  // namespace locus
