#include "tune/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyze/chosen_examples.h"
#include "analyze/logits.h"
#include "core/error.h"
#include "infer/model_files.h"
#include "train/optimizer.h"

namespace locus {
namespace {

// The rule: docs/decisions/0009-advice-on-sigma.md. To change a number is a new page there.
constexpr double kLeastOfContent = 0.1;  // below it positions hardly show beside the content
constexpr double kMostOfContent = 1.0;   // above it they drown it
constexpr double kMostSpread = 1.0;      // of the logits through positions: e^1 between likely and unlikely keys
constexpr double kLeastSteps = 10;       // below so many steps of the optimiser the start is forgotten at once
constexpr std::int64_t kExamples = 64;
constexpr double kTrialSigma = 0.1;

class Untrained {
 public:
  Untrained(const RunConfig& config, const Dataset& dataset)
      : config_(config),
        dataset_(dataset),
        examples_(sample_examples(dataset, dataset.split(dataset.has_split("validation") ? "validation" : "train"),
                                  kExamples, static_cast<std::uint64_t>(config.seed))) {}

  LogitRow row(double sigma) const {
    RunConfig c = config_;
    c.pe.sigma = sigma;
    const ModelStructure structure = structure_for(c, dataset_);
    AlignedBuffer<float> params(static_cast<std::size_t>(structure.layout.floats()));
    initialize_parameters(structure, c.seed, params.data());
    return logit_rows(structure, params.data(), examples_).back();
  }

  // The rate that the table is trained with once the warm-up is over.
  double step() const {
    const ModelStructure structure = structure_for(config_, dataset_);
    const Optimizer optimizer(config_.optim, structure.layout);
    double factor = 0;
    for (std::size_t i = 0; i < optimizer.groups().size(); ++i) {
      const TensorSlot& slot = structure.layout.slots()[i];
      if (slot.trained && slot.name.find("pe.") != std::string::npos)
        factor = std::max(factor, optimizer.groups()[i].lr_factor);
    }
    return config_.optim.lr * factor;
  }

 private:
  RunConfig config_;
  const Dataset& dataset_;
  Examples examples_;
};

double position_spread(const LogitRow& r) {
  return std::sqrt(r.position_position * r.position_position + r.position_content * r.position_content +
                   r.content_position * r.content_position);
}

// Sigma at which the logits spread by kMostSpread through positions: the parts with one position grow with sigma, the one
// with two with its square.
double saturating(const LogitRow& at_trial) {
  const double one =
      (at_trial.position_content * at_trial.position_content + at_trial.content_position * at_trial.content_position) /
      (kTrialSigma * kTrialSigma);
  const double two = at_trial.position_position * at_trial.position_position / std::pow(kTrialSigma, 4);
  const double limit = kMostSpread * kMostSpread;
  if (two <= 0) return one > 0 ? std::sqrt(limit / one) : 1;
  return std::sqrt((-one + std::sqrt(one * one + 4 * two * limit)) / (2 * two));
}

}  // namespace

SigmaAdvice advise_sigma(const RunConfig& config, const Dataset& dataset) {
  if (!sigma_counts(config.pe)) {
    throw ConfigError({.what = "sigma decides nothing for this encoding",
                       .where = "locus advise",
                       .got = encoding_name(config),
                       .expected = "pe.kind=learned"});
  }
  const Untrained model(config, dataset);
  const LogitRow trial = model.row(kTrialSigma);
  const double step = model.step();
  SigmaAdvice a;
  a.content_rms = trial.content_rms;
  const double drowns = kMostOfContent * trial.content_rms, saturates = saturating(trial);
  a.hi = std::min(drowns, saturates);
  a.high_reason = drowns <= saturates
                      ? fmt::format("above it positions are larger than the content they are added to (rms {:.3g})", drowns)
                      : "above it attention is decided by random positions before anything is learned";
  const double unseen = kLeastOfContent * trial.content_rms, forgotten = kLeastSteps * step;
  a.lo = std::min(a.hi, std::max(unseen, forgotten));
  a.low_reason =
      unseen >= forgotten
          ? fmt::format("below it positions are less than a tenth of the content (rms {:.3g})", trial.content_rms)
          : fmt::format("below it {:.0f} steps of the optimiser (rate {:.2g}) move an entry further than its start",
                        kLeastSteps, step);
  a.sigma = std::sqrt(a.lo * a.hi);
  for (const double sigma : {a.lo, a.sigma, a.hi}) {
    const LogitRow row = model.row(sigma);
    a.facts.push_back(
        {sigma, row.position_rms / row.content_rms, position_spread(row), row.content_content, row.entropy, step / sigma});
  }
  return a;
}

}  // namespace locus
