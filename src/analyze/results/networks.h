// How modular the code of each layer is, against labels and against chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct NetworkRow {
  std::string model;                  // "init", "snapshots/10", "final"
  std::int64_t epoch = -1;            // of a snapshot; -1: init or final
  std::int64_t layer = 0;             // -1: the codes of all layers side by side
  std::string code;                   // "raw", "centred" or "change" (since init, centred)
  double q_positive = kNotAvailable;  // Newman's modularity of the positive
                                      // cosines on the labels
  double q_signed = kNotAvailable;    // Rubinov and Sporns' form
  double q_signed_p = kNotAvailable;  // labels permuted, sizes kept; one-sided
  double within = kNotAvailable;      // mean cosine of pairs of equal label
  double between = kNotAvailable;
  double difference = kNotAvailable;  // within - between
  double difference_p = kNotAvailable;
  double difference_null = kNotAvailable;  // mean over permuted labels
  double segregation = kNotAvailable;      // (within - between) / within; NaN when within < 0.05
  std::int64_t communities = 0;            // found by consensus Louvain on the signed cosines
  double resolution = kNotAvailable;       // at which they were found
  double community_q = kNotAvailable;
  double adjusted_rand = kNotAvailable;  // of communities against labels
  double normalised_mutual_information = kNotAvailable;
  double adjusted_mutual_information = kNotAvailable;
  double adjusted_rand_p = kNotAvailable;      // labels permuted
  double difference_in_place = kNotAvailable;  // of pairs at the same places of each other;
                                               // NaN without coordinates
  double surrogate_p = kNotAvailable;          // of that, against codes that know space alone
  std::int64_t surrogates = 0;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("layer", r.layer, Role::kPlace);
    visit("code", r.code);
    visit("q_positive", r.q_positive);
    visit("q_signed", r.q_signed);
    visit("q_signed_p", r.q_signed_p);
    visit("within", r.within);
    visit("between", r.between);
    visit("difference", r.difference);
    visit("difference_p", r.difference_p);
    visit("difference_null", r.difference_null);
    visit("segregation", r.segregation);
    visit("communities", r.communities);
    visit("resolution", r.resolution);
    visit("community_q", r.community_q);
    visit("adjusted_rand", r.adjusted_rand);
    visit("normalised_mutual_information", r.normalised_mutual_information);
    visit("adjusted_mutual_information", r.adjusted_mutual_information);
    visit("adjusted_rand_p", r.adjusted_rand_p);
    visit("difference_in_place", r.difference_in_place);
    visit("surrogate_p", r.surrogate_p);
    visit("surrogates", r.surrogates);
  }
};

// What the same search finds in a matrix of the data itself: a measure of how
// well the labels can be found at all.
struct DataCommunities {
  std::string matrix;  // "correlation", "connectivity"
  std::int64_t communities = 0;
  double resolution = kNotAvailable;
  double adjusted_rand = kNotAvailable;  // of communities against labels

  static void fields(auto& r, auto&& visit) {
    visit("matrix", r.matrix);
    visit("communities", r.communities);
    visit("resolution", r.resolution);
    visit("adjusted_rand", r.adjusted_rand);
  }
};

// Arrays: communities.<model>.<layer>.<code> (T);
// similarity.<model>.<layer>.<code> (T, T); labels (T).
struct NetworkResult {
  static constexpr const char* kName = "networks";
  std::int64_t tokens = 0;
  std::int64_t labels = 0;
  std::vector<NetworkRow> rows;
  std::vector<DataCommunities> data;
  std::vector<std::string> notes;   // what could not be had, and why
  std::vector<ResultArray> arrays;  // in the NPZ file

  static void fields(auto& r, auto&& visit) {
    visit("tokens", r.tokens);
    visit("labels", r.labels);
  }
  static void tables(auto& r, auto&& visit) {
    visit("rows", "", r.rows);
    visit("data", kNoCsv, r.data);
  }
};

}  // namespace locus
