// The empirical neural tangent kernel on a probe set, through training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/results/result.h"

namespace locus {

struct KernelRow {
  std::string model;
  std::int64_t epoch = -1;
  std::string part;                       // "all", "pe" or "rest": which parameters' gradients
  double change = kNotAvailable;          // 1 - cos(K_init, K)
  double alignment = kNotAvailable;       // centred kernel alignment with the kernel of the targets
  double effective_rank = kNotAvailable;  // participation ratio of the eigenvalues
  double effective_rank_centred = kNotAvailable;
  double trace = kNotAvailable;           // mean of the diagonal
  double share = kNotAvailable;           // of the trace of "all"
  double change_centred = kNotAvailable;  // 1 - cos of the centred kernels

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("part", r.part);
    visit("change", r.change);
    visit("alignment", r.alignment);
    visit("effective_rank", r.effective_rank);
    visit("effective_rank_centred", r.effective_rank_centred);
    visit("trace", r.trace);
    visit("share", r.share);
    visit("change_centred", r.change_centred);
  }
};

// The first-order model at initialisation, f0 + J (theta - theta0), against the
// trained one.
struct TaylorRow {
  std::string model;
  std::int64_t epoch = -1;
  double r2 = kNotAvailable;  // of the linear model's outputs against the
                              // trained model's
  double correlation = kNotAvailable;
  double accuracy_linear = kNotAvailable;  // on the probe, classification
  double accuracy_trained = kNotAvailable;
  double accuracy_initial = kNotAvailable;
  double agreement = kNotAvailable;   // share of equal predictions
  double mse_linear = kNotAvailable;  // against targets, regression
  double mse_trained = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("epoch", r.epoch, Role::kAside);
    visit("r2", r.r2);
    visit("correlation", r.correlation);
    visit("accuracy_linear", r.accuracy_linear);
    visit("accuracy_trained", r.accuracy_trained);
    visit("accuracy_initial", r.accuracy_initial);
    visit("agreement", r.agreement);
    visit("mse_linear", r.mse_linear);
    visit("mse_trained", r.mse_trained);
  }
};

// Arrays: kernel.<model>, kernel_pe.<model> (n, n); targets (n, n); probe (n)
// indices in the split.
struct KernelResult {
  static constexpr const char* kName = "kernel";
  std::string split;
  std::int64_t probe = 0;
  std::int64_t outputs = 0;     // averaged over
  std::int64_t parameters = 0;  // trained
  std::vector<KernelRow> kernels;
  std::vector<TaylorRow> taylor;
  std::vector<std::string> notes;   // what could not be had, and why
  std::vector<ResultArray> arrays;  // in the NPZ file

  static void fields(auto& r, auto&& visit) {
    visit("split", r.split);
    visit("probe", r.probe);
    visit("outputs", r.outputs);
    visit("parameters", r.parameters);
  }
  static void tables(auto& r, auto&& visit) {
    visit("kernels", "", r.kernels);
    visit("taylor", "taylor", r.taylor);
  }
};

}  // namespace locus
