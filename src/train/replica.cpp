#include "train/replica.h"

#include <cmath>

#include "config/identity.h"
#include "core/hash.h"
#include "core/isa.h"
#include "core/rng.h"
#include "core/text.h"
#include "infer/evaluate.h"
#include "infer/model_files.h"
#include "kernels/elementwise.h"
#include "kernels/optimizer.h"

namespace locus {

Replica::Replica(const RunConfig& config, const Dataset& dataset, int threads, RankTeam* team)
    : config_(config),
      dataset_(dataset),
      structure_(structure_for(config, dataset)),
      pool_(threads),
      params_(static_cast<std::size_t>(structure_.layout.floats())),
      optimizer_(config_.optim, structure_.layout),
      prepared_(structure_),
      runner_(structure_, pool_, team),
      batches_(dataset_, config_, structure_.shape) {
  initialize_parameters(structure_, config_.seed, params_.data());
  load_given_tables(structure_, params_.data());
  transfer_ = take_from_run(structure_, dataset_, params_.data());
  for (const TensorSlot& slot : structure_.layout.slots()) {
    const bool pe = matches_pattern("*pe.*", slot.name);
    pe_slots_.push_back(pe);
    pe_norms_.push_back(pe ? std::sqrt(kernels::sum_of_squares(params_.data() + slot.offset, slot.size)) : 0.0);
  }
}

StepResult Replica::compute(std::int64_t number, bool frozen) {
  batches_.fill(number, batch_);
  StepContext step;
  step.training = true;
  step.seed = derive_seed(static_cast<std::uint64_t>(config_.seed), "step", static_cast<std::uint64_t>(number));
  prepared_.update(params_.data(), {true, step.seed}, &pool_);
  return runner_.run(prepared_, batch_, step, frozen);
}

void Replica::update(std::int64_t step, bool frozen) {
  optimizer_.update(step, runner_.gradients(), params_.data(), frozen ? pe_slots_ : std::vector<bool>{}, &pool_);
  if (config_.train.pe_norm_clamp > 0) clamp_pe();
}

void Replica::clamp_pe() {
  for (std::size_t i = 0; i < pe_slots_.size(); ++i) {
    const TensorSlot& slot = structure_.layout.slots()[i];
    if (!pe_slots_[i] || !slot.trained) continue;
    float* p = params_.data() + slot.offset;
    const double norm = std::sqrt(kernels::sum_of_squares(p, slot.size));
    if (norm > 0)
      kernels::scale_rows({p, 1, slot.size}, static_cast<float>(config_.train.pe_norm_clamp * pe_norms_[i] / norm));
  }
}

std::string Replica::identity_text() const {
  return sha256_hex(config_identity(config_, dataset_.hash).current + " " + dataset_.hash + " " +
                    std::string(isa_name(isa_in_use())) + " " + pinned_signature(pe_kind_name(config_.pe.kind)).hash);
}

std::vector<std::span<float>> Replica::arrays() {
  std::vector<std::span<float>> out = {params_.span()};
  for (AlignedBuffer<float>& state : optimizer_.states()) out.push_back(state.span());
  return out;
}

void Replica::follow(RankTeam& team) {
  std::int64_t step = 0;
  if (!team.start(identity_text(), step, arrays())) return;
  while (true) {
    const StepResult result = compute(step, false);
    if (result.ended) return;
    update(step, result.frozen);
    ++step;
  }
}

}  // namespace locus
