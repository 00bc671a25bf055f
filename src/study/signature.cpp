#include "study/signature.h"

#include <fmt/format.h>

#include <set>

#include "core/hash.h"
#include "kernels/reference/encoder.h"
#include "model/structure.h"
#include "study/datasets.h"
#include "train/batches.h"
#include "train/optimizer.h"

namespace locus {
namespace {

constexpr int kSteps = 6;
constexpr std::size_t kDigits = 12;

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

// Each optimiser with the settings that only it has.
RunConfig with_optimizer(RunConfig c, OptimizerKind kind) {
  c.optim.kind = kind;
  if (kind == OptimizerKind::kSgd) {
    c.optim.momentum = 0.9;
    c.optim.clip_norm = 1;
  }
  if (kind == OptimizerKind::kAdamW) c.optim.weight_decay = 0.1;
  return c;
}

std::vector<double> losses_of(const RunConfig& config, const Dataset& dataset) {
  const ModelStructure s = make_structure(config, model_shape(dataset), pe_data(dataset));
  const reference::Spec spec = spec_of(s, dataset);
  std::vector<float> params(static_cast<std::size_t>(s.layout.floats()));
  std::vector<float> grads(params.size());
  initialize_parameters(s, config.seed, params.data());
  Optimizer optimizer(config.optim, s.layout);
  TrainingBatches batches(dataset, config, s.shape);
  BatchData batch;
  std::vector<double> losses;
  for (int step = 0; step < kSteps; ++step) {
    batches.fill(step, batch);
    reference::Params<double> p;
    for (const TensorSlot& slot : s.layout.slots()) {
      p[slot.name] = std::vector<double>(params.data() + slot.offset, params.data() + slot.offset + slot.size);
    }
    const auto result = reference::loss_and_gradients(spec, p, batch_of(batch));
    losses.push_back(result.loss);
    for (const TensorSlot& slot : s.layout.slots()) {
      if (!slot.trained) continue;
      const std::vector<double>& g = result.gradients.at(slot.name);
      for (std::int64_t i = 0; i < slot.size; ++i)
        grads[static_cast<std::size_t>(slot.offset + i)] = static_cast<float>(g[static_cast<std::size_t>(i)]);
    }
    optimizer.update(step, grads.data(), params.data(), {});
  }
  return losses;
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
    for (std::size_t o = 0; o < kOptimizerNames.size(); ++o) {
      const RunConfig config = changed(with_optimizer(tiny_config(static_cast<PeKind>(k)), static_cast<OptimizerKind>(o)));
      lines.push_back({std::string(kPeKindNames[k]), std::string(kOptimizerNames[o]), losses_of(config, dataset)});
    }
  }
  return lines;
}

std::string encoding_signature(const std::vector<SignatureLine>& lines, std::string_view encoding) {
  std::string text;
  for (const SignatureLine& line : lines) {
    if (line.encoding != encoding) continue;
    text += line.name();
    for (const double loss : line.losses) text += fmt::format(" {:.4f}", loss);
    text += '\n';
  }
  return sha256_hex(text).substr(0, kDigits);
}

std::string signature_of(const std::vector<SignatureLine>& lines) {
  std::set<std::string> encodings;
  for (const SignatureLine& line : lines) encodings.insert(line.encoding);
  std::string text;
  for (const std::string& encoding : encodings) text += encoding + " " + encoding_signature(lines, encoding) + "\n";
  return sha256_hex(text).substr(0, kDigits);
}

}  // namespace locus
