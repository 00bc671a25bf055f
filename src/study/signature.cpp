#include "study/signature.h"

#include <fmt/format.h>

#include "core/hash.h"
#include "kernels/reference/encoder.h"
#include "model/structure.h"
#include "study/datasets.h"
#include "train/batches.h"
#include "train/optimizer.h"

namespace locus {
namespace {

constexpr int kSteps = 6;

RunConfig tiny_config(PeKind kind) {
  RunConfig c;
  c.seed = 11;
  c.lst.n = 3;
  c.lst.per_difficulty = 20;
  c.lst.heldout_items = 1;
  c.lst.rotations = 1;
  c.lst.min_distance = 0.0;
  c.model.layers = 2;
  c.model.width = 8;
  c.model.heads = 2;
  c.pe.kind = kind;
  c.pe.positions = PePositions::kGrid;
  c.pe.eigenvectors = 3;
  c.optim.lr = 3e-3;
  c.train.batch = 6;
  return c;
}

reference::Spec spec_of(const ModelStructure& s, const Dataset& d) {
  reference::Spec spec;
  spec.tokens = static_cast<int>(s.shape.tokens);
  spec.features = static_cast<int>(s.shape.features);
  spec.outputs = static_cast<int>(s.shape.outputs);
  spec.width = static_cast<int>(s.width());
  spec.layers = static_cast<int>(s.layers());
  spec.heads = static_cast<int>(s.heads());
  spec.mlp_width = static_cast<int>(s.config.model.mlp());
  spec.readout = static_cast<reference::Readout>(s.config.model.readout);
  spec.pe = static_cast<reference::PeKind>(s.config.pe.kind);
  for (std::int64_t t = 0; t < d.tokens; ++t) {
    spec.coordinates.emplace_back(d.tokens_info.coordinates.row(t).begin(), d.tokens_info.coordinates.row(t).end());
  }
  return spec;
}

reference::Batch batch_of(const BatchData& b) {
  reference::Batch out;
  out.examples = static_cast<int>(b.count);
  out.ids.assign(b.ids.begin(), b.ids.end());
  out.labels.assign(b.labels.begin(), b.labels.end());
  return out;
}

SignatureLine run_line(const RunConfig& config, const Dataset& dataset, std::string name) {
  const ModelStructure s = make_structure(config, model_shape(dataset), pe_data(dataset));
  const reference::Spec spec = spec_of(s, dataset);
  std::vector<float> params(static_cast<std::size_t>(s.layout.floats()));
  std::vector<float> grads(params.size());
  initialize_parameters(s, config.seed, params.data());
  Optimizer optimizer(config.optim, s.layout);
  TrainingBatches batches(dataset, config, s.shape);
  BatchData batch;
  SignatureLine line{std::move(name), {}};
  for (int step = 0; step < kSteps; ++step) {
    batches.fill(step, batch);
    reference::Params<double> p;
    for (const TensorSlot& slot : s.layout.slots()) {
      p[slot.name] = std::vector<double>(params.data() + slot.offset, params.data() + slot.offset + slot.size);
    }
    const auto result = reference::loss_and_gradients(spec, p, batch_of(batch));
    line.losses.push_back(result.loss);
    for (const TensorSlot& slot : s.layout.slots()) {
      if (!slot.trained) continue;
      const std::vector<double>& g = result.gradients.at(slot.name);
      for (std::int64_t i = 0; i < slot.size; ++i)
        grads[static_cast<std::size_t>(slot.offset + i)] = static_cast<float>(g[static_cast<std::size_t>(i)]);
    }
    optimizer.update(step, grads.data(), params.data(), {});
  }
  return line;
}

}  // namespace

std::vector<SignatureLine> behaviour_lines(const std::function<void(RunConfig&)>& change) {
  const auto changed = [&](RunConfig config) {
    if (change) change(config);
    return config;
  };
  const Dataset dataset = make_dataset(changed(tiny_config(PeKind::kNone)));
  std::vector<SignatureLine> lines;
  for (std::size_t k = 0; k < kPeKindNames.size(); ++k) {
    lines.push_back(run_line(changed(tiny_config(static_cast<PeKind>(k))), dataset, std::string(kPeKindNames[k]) + "/adam"));
  }
  RunConfig sgd = tiny_config(PeKind::kLearned);
  sgd.optim.kind = OptimizerKind::kSgd;
  sgd.optim.momentum = 0.9;
  sgd.optim.clip_norm = 1;
  lines.push_back(run_line(changed(sgd), dataset, "learned/sgd"));
  RunConfig decay = tiny_config(PeKind::kLearned);
  decay.optim.kind = OptimizerKind::kAdamW;
  decay.optim.weight_decay = 0.1;
  lines.push_back(run_line(changed(decay), dataset, "learned/adamw"));
  return lines;
}

std::string signature_of(const std::vector<SignatureLine>& lines) {
  std::string text;
  for (const SignatureLine& line : lines) {
    text += line.name;
    for (const double loss : line.losses) text += fmt::format(" {:.4f}", loss);
    text += '\n';
  }
  return sha256_hex(text).substr(0, 12);
}

std::string behaviour_signature() {
  static const std::string signature = signature_of(behaviour_lines());
  return signature;
}

}  // namespace locus
