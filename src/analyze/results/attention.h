// Where attention goes, how much two models agree, and whether it follows what
// the task depends on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct AttentionEntropyRow {
  std::string model;        // "init", "snapshots/10", "final"
  std::int64_t epoch = -1;  // of a snapshot; -1: init or final
  std::int64_t layer = 0;
  std::int64_t head = 0;
  double entropy = kNotAvailable;     // mean over queries and examples, nats
  double normalised = kNotAvailable;  // over the logarithm of the number of keys
  double diagonal = kNotAvailable;    // mean weight on the token itself

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
    visit("head", r.head, Role::kPlace);
    visit("entropy", r.entropy);
    visit("normalised", r.normalised);
    visit("diagonal", r.diagonal);
  }
};

// Cosine of maps with those of reference runs, averaged over examples.
struct AttentionAgreementRow {
  std::string model;
  std::string map;        // "mean" over heads and layers, or "layer.0", ...
  std::string form;       // "plain" or "centred" (minus 1/T)
  std::string reference;  // "example": reference maps of the same example;
                          // "overall": their mean over examples
  double cosine = kNotAvailable;
  double low = kNotAvailable;  // 95 % interval over clusters of examples
  double high = kNotAvailable;
  std::int64_t examples = 0;
  std::int64_t references = 0;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("map", r.map);
    visit("form", r.form);
    visit("reference", r.reference);
    visit("cosine", r.cosine);
    visit("low", r.low);
    visit("high", r.high);
    visit("examples", r.examples, Role::kAside);
    visit("references", r.references, Role::kAside);
  }
};

// Weight on the tokens the answer depends on (LST: cells the solver used).
struct AttentionDependencyRow {
  std::string model;        // "init", "snapshots/10", "final"
  std::int64_t epoch = -1;  // of a snapshot; -1: init or final
  std::int64_t layer = 0;
  std::string query;                   // "read" (the token that is read out) or "target"
  std::string condition;               // "" for all
  double mass = kNotAvailable;         // on the cells used
  double chance = kNotAvailable;       // cells used over keys
  double filled_mass = kNotAvailable;  // on all other filled cells
  double filled_chance = kNotAvailable;
  double lift = kNotAvailable;  // mass / chance
  std::int64_t examples = 0;

  bool is_main() const { return condition.empty(); }
  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
    visit("query", r.query);
    visit("condition", r.condition, Role::kAside);
    visit("mass", r.mass);
    visit("chance", r.chance);
    visit("filled_mass", r.filled_mass);
    visit("filled_chance", r.filled_chance);
    visit("lift", r.lift);
    visit("examples", r.examples, Role::kAside);
  }
};

// The mean map of a layer, made symmetric, against a matrix of true
// dependencies, off-diagonal.
struct AttentionTruthRow {
  std::string model;        // "init", "snapshots/10", "final"
  std::int64_t epoch = -1;  // of a snapshot; -1: init or final
  std::int64_t layer = 0;
  std::string truth;
  double pearson = kNotAvailable;
  double spearman = kNotAvailable;
  double mantel_p = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
    visit("truth", r.truth);
    visit("pearson", r.pearson);
    visit("spearman", r.spearman, Role::kAside);
    visit("mantel_p", r.mantel_p);
  }
};

// Arrays: maps.<model> (L, H, T, T) mean over examples; examples.<model> (K, L,
// H, T, T) of the first K; mean_maps.<model> (N, T, T) over heads and layers;
// reference (N, T, T).
struct AttentionResult {
  static constexpr const char* kName = "attention";
  std::string split;
  std::int64_t examples = 0;
  std::vector<AttentionEntropyRow> entropy;
  std::vector<AttentionAgreementRow> agreement;
  std::vector<AttentionDependencyRow> dependencies;
  std::vector<AttentionTruthRow> truths;
  std::vector<std::string> notes;   // what could not be had, and why
  std::vector<ResultArray> arrays;  // in the NPZ file

  static void fields(auto& r, auto&& visit) {
    visit("split", r.split);
    visit("examples", r.examples);
  }
  static void tables(auto& r, auto&& visit) {
    visit("entropy", "entropy", r.entropy);
    visit("agreement", "", r.agreement);
    visit("dependencies", "dependencies", r.dependencies);
    visit("truths", "truths", r.truths);
  }
};

}  // namespace locus
