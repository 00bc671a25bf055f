#include "train/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/hash.h"
#include "core/parallel.h"
#include "data/datasets.h"
#include "infer/model_files.h"
#include "kernels/reference/encoder.h"
#include "model/structure.h"
#include "train/batches.h"
#include "train/optimizer.h"
#include "train/step.h"

namespace locus {
namespace {

constexpr int kSteps = 6;
constexpr std::size_t kDigits = 12;
constexpr double kEngineTolerance = 1e-4;  // single precision over six steps; 4e-8 was seen

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
  spec.pe = s.config.pe.kind;
  spec.base = s.config.pe.base;
  spec.buckets = static_cast<int>(s.config.pe.buckets);
  spec.max_distance = static_cast<int>(s.config.pe.max_distance);
  spec.value_term = s.config.pe.value_term;
  if (s.config.pe.positions == PePositions::kIndex) return spec;
  for (std::int64_t t = 0; t < d.tokens; ++t) {
    spec.coordinates.emplace_back(d.tokens_info.coordinates.row(t).begin(), d.tokens_info.coordinates.row(t).end());
  }
  return spec;
}

reference::Batch batch_of(const Examples& b) {
  reference::Batch out;
  out.examples = static_cast<int>(b.count);
  out.ids.assign(b.ids.begin(), b.ids.end());
  out.labels.assign(b.labels.begin(), b.labels.end());
  return out;
}

RunConfig with_optimizer(RunConfig c, const OptimizerRow& optimizer) {
  c.optim.kind = optimizer.kind;
  optimizer.exercise(c.optim);
  return c;
}

// Loss of a batch at `params`, and its gradients into `grads`.
using Gradient = std::function<double(const Examples& batch, const std::vector<float>& params, std::vector<float>& grads)>;

// Losses of a short training whose gradients come from `gradient`.
std::vector<double> trained_losses(const ModelStructure& s, const Dataset& dataset, const Gradient& gradient) {
  std::vector<float> params(static_cast<std::size_t>(s.layout.floats()));
  std::vector<float> grads(params.size());
  initialize_parameters(s, s.config.seed, params.data());
  Optimizer optimizer(s.config.optim, s.layout);
  TrainingBatches batches(dataset, s.config, s.shape);
  Examples batch;
  std::vector<double> losses;
  for (int step = 0; step < kSteps; ++step) {
    batches.fill(step, batch);
    losses.push_back(gradient(batch, params, grads));
    optimizer.update(step, grads.data(), params.data(), {});
  }
  return losses;
}

std::vector<double> reference_losses(const ModelStructure& s, const Dataset& dataset) {
  const reference::Spec spec = spec_of(s, dataset);
  return trained_losses(s, dataset, [&](const Examples& batch, const auto& params, auto& grads) {
    reference::Params<double> p;
    for (const TensorSlot& slot : s.layout.slots()) {
      p[slot.name] = std::vector<double>(params.data() + slot.offset, params.data() + slot.offset + slot.size);
    }
    const auto result = reference::loss_and_gradients(spec, p, batch_of(batch));
    for (const TensorSlot& slot : s.layout.slots()) {
      if (!slot.trained) continue;
      const std::vector<double>& g = result.gradients.at(slot.name);
      for (std::int64_t i = 0; i < slot.size; ++i)
        grads[static_cast<std::size_t>(slot.offset + i)] = static_cast<float>(g[static_cast<std::size_t>(i)]);
    }
    return result.loss;
  });
}

std::vector<double> engine_losses(const ModelStructure& s, const Dataset& dataset) {
  ThreadPool pool(1);
  Prepared prepared(s);
  StepRunner runner(s, pool);
  return trained_losses(s, dataset, [&](const Examples& batch, const auto& params, auto& grads) {
    // Signs of eigenvectors as they are: the scalar path draws none.
    prepared.update(params.data(), {}, &pool);
    const StepResult result = runner.run(prepared, batch, {});
    std::copy_n(runner.gradients(), grads.size(), grads.begin());
    return result.loss;
  });
}

std::vector<double> losses_of(const RunConfig& config, const Dataset& dataset) {
  return reference_losses(make_structure(config, model_shape(dataset), pe_data(dataset.tokens_info)), dataset);
}

// Clipped offsets, buckets beyond the exact ones and a value term, so that no constant stays without effect.
RunConfig engine_config(PeKind kind) {
  RunConfig c = tiny_config(kind);
  c.pe.sigma = 0.5;
  if (kind == PeKind::kRelative) {
    c.pe.max_distance = 1;
    c.pe.value_term = true;
  }
  if (kind == PeKind::kRotary) c.model.heads = 1;  // with 4 numbers a head and axis each rotation has frequency 1
  if (kind == PeKind::kT5) {
    c.pe.positions = PePositions::kIndex;
    c.pe.buckets = 8;
    c.pe.max_distance = 8;
  }
  return c;
}

}  // namespace

std::vector<SignatureLine> behaviour_lines(const std::function<void(RunConfig&)>& change) {
  const auto changed = [&](RunConfig config) {
    if (change) change(config);
    return config;
  };
  const Dataset dataset = make_dataset(changed(tiny_config(PeKind::kNone)));
  std::vector<SignatureLine> lines;
  for (const EncodingRow& encoding : encoding_rows()) {
    for (const OptimizerRow& optimizer : optimizer_rows()) {
      const RunConfig config = changed(with_optimizer(tiny_config(encoding.kind), optimizer));
      const std::string_view name = kOptimizerNames[static_cast<std::size_t>(optimizer.kind)];
      lines.push_back({std::string(encoding.name()), std::string(name), losses_of(config, dataset)});
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

std::vector<EngineLine> engine_lines(const std::function<void(RunConfig&)>& change) {
  const Dataset dataset = make_dataset(tiny_config(PeKind::kNone));
  std::vector<EngineLine> lines;
  for (std::size_t k = 0; k < kPeKindNames.size(); ++k) {
    RunConfig config = engine_config(static_cast<PeKind>(k));
    if (change) change(config);
    const ModelStructure s = make_structure(config, model_shape(dataset), pe_data(dataset.tokens_info));
    lines.push_back({std::string(kPeKindNames[k]), engine_losses(s, dataset), reference_losses(s, dataset)});
  }
  return lines;
}

std::string engine_signature(const EngineLine& line) {
  std::string text = line.encoding;
  for (const double loss : line.losses) text += fmt::format(" {:.7e}", loss);
  return sha256_hex(text).substr(0, kDigits);
}

EngineVerdict check_engine_line(const EngineLine& line, std::string_view isa, std::string_view compiler,
                                const std::vector<SignaturePin>& pins) {
  EngineVerdict verdict;
  for (std::size_t i = 0; i < line.losses.size(); ++i) {
    const double apart = std::abs(line.losses[i] - line.reference[i]) / std::abs(line.reference[i]);
    if (!(apart <= verdict.difference)) verdict.difference = apart;
  }
  for (const SignaturePin& pin : pins) {
    if (pin.encoding == line.encoding && pin.isa == isa && pin.compiler == compiler) verdict.pinned = pin.hash;
  }
  const bool near = verdict.difference <= kEngineTolerance;
  verdict.agrees = near && (verdict.pinned.empty() || verdict.pinned == engine_signature(line));
  return verdict;
}

}  // namespace locus
