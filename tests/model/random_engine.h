// A random model of the oracle run by the engine: configuration, arena, batch and results by tensor name.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/reference/encoder.h"
#include "model/encoder.h"
#include "tests/support/reference_cases.h"

namespace locus::testing_support {

inline constexpr std::uint64_t kStepSeed = 4711;

inline RunConfig config_of(const reference::Spec& spec, bool train_all_encodings) {
  RunConfig c;
  c.model.layers = spec.layers;
  c.model.width = spec.width;
  c.model.heads = spec.heads;
  c.model.mlp_width = spec.mlp_width;
  c.model.norm = spec.pre_norm ? NormPlacement::kPre : NormPlacement::kPost;
  c.model.attention_mask = spec.causal ? AttentionMask::kCausal : AttentionMask::kFull;
  c.model.mlp_final_gelu = spec.mlp_final_gelu;
  c.model.attention_bias = spec.attention_bias;
  c.model.attention_output = spec.attention_output;
  c.model.logit_scale = spec.logit_scale;
  c.model.position_logit_scale = spec.position_logit_scale;
  c.model.readout = static_cast<Readout>(spec.readout);
  c.model.readout_token = spec.readout_token;
  c.model.head_hidden = spec.head_hidden;
  c.model.output_gain = spec.output_gain;
  c.pe.kind = static_cast<PeKind>(spec.pe);
  c.pe.placement = spec.pe_input_only ? PePlacement::kInput : PePlacement::kEveryLayer;
  c.pe.shared = spec.pe_shared;
  c.pe.positions = spec.coordinates.empty() ? PePositions::kIndex : PePositions::kData;
  c.pe.coord_scale = spec.coord_scale;
  c.pe.base = spec.base;
  c.pe.rotary_fraction = spec.rotary_fraction;
  c.pe.max_distance = spec.max_distance;
  c.pe.buckets = spec.buckets;
  c.pe.value_term = spec.value_term;
  c.pe.eigenvectors = 3;
  c.pe.trainable = train_all_encodings ? Trainable::kYes : Trainable::kAuto;
  return c;
}

struct EngineOutcome {
  double loss = 0;
  std::vector<float> outputs;
  std::map<std::string, std::vector<float>> gradients;  // of trained tensors
};

class RandomEngine {
 public:
  RandomEngine(const reference::Spec& given, std::uint64_t seed, int examples = 3)
      : spec(given), config(config_of(given, true)) {
    Rng rng(seed, "random model");
    params = reference::random_params(spec, rng);
    batch = reference::random_batch(spec, examples, rng);
    // The engine sees floats; so does the oracle.
    for (auto& [name, values] : params) round(values);
    round(batch.features);
    round(batch.targets);
  }

  ModelStructure structure() const {
    ModelShape shape;
    shape.tokens = spec.tokens;
    shape.features = spec.features;
    shape.outputs = spec.outputs;
    shape.regression = spec.task == reference::Task::kRegression;
    shape.missing = std::find(batch.masked.begin(), batch.masked.end(), kMissing) != batch.masked.end();
    PeData data;
    if (!spec.coordinates.empty()) {
      data.coordinates = MatrixD(spec.tokens, static_cast<std::int64_t>(spec.coordinates[0].size()));
      for (int t = 0; t < spec.tokens; ++t)
        std::copy(spec.coordinates[t].begin(), spec.coordinates[t].end(), data.coordinates.row(t).begin());
    }
    if (spec.pe == reference::PeKind::kLaplacian) {
      data.graph = MatrixD(spec.length(), spec.length());
      for (int i = 0; i < spec.length(); ++i) {
        for (int j = 0; j < spec.length(); ++j) data.graph(i, j) = i == j ? 0.0 : 1.0 / (1 + std::abs(i - j));
      }
    }
    return make_structure(config, shape, data);
  }

  AlignedBuffer<float> arena(const ModelStructure& s) const {
    AlignedBuffer<float> out(static_cast<std::size_t>(s.layout.floats()));
    for (const TensorSlot& slot : s.layout.slots()) {
      const std::vector<double>& values = params.at(slot.name);
      LOCUS_CHECK(static_cast<std::int64_t>(values.size()) == slot.size, "size of " + slot.name);
      std::copy(values.begin(), values.end(), out.data() + slot.offset);
    }
    return out;
  }

  // Some tokens have no value: a part of those that a mask shows, and of all where there is no mask.
  void lose_values(std::uint64_t seed) {
    Rng rng(seed, "missing");
    batch.masked.resize(static_cast<std::size_t>(batch.examples * spec.tokens));
    for (std::uint8_t& m : batch.masked) {
      if (m == kShown && rng.uniform() < 0.3) m = kMissing;
    }
    std::vector<double>& vector = params["mask_token"];
    vector.resize(static_cast<std::size_t>(spec.width));
    for (double& v : vector) v = static_cast<double>(static_cast<float>(0.5 * rng.normal()));
  }

  // The batch in the engine's types; must outlive the micro-batches.
  struct Floats {
    std::vector<float> values, targets;
    std::vector<std::uint8_t> masked;
    std::vector<std::int32_t> read_token, labels;
  };
  Floats floats() const {
    return {{batch.features.begin(), batch.features.end()},
            {batch.targets.begin(), batch.targets.end()},
            batch.masked,
            {batch.read_token.begin(), batch.read_token.end()},
            {batch.labels.begin(), batch.labels.end()}};
  }
  Microbatch slice(const Floats& f, std::int64_t first, std::int64_t n) const {
    Microbatch m;
    m.sequences = n;
    m.first = first;
    m.values = f.values.data() + first * spec.tokens * spec.features;
    if (!f.masked.empty()) m.masked = f.masked.data() + first * spec.tokens;
    m.read_token = f.read_token.data() + first;
    m.labels = f.labels.data() + first;
    m.targets = f.targets.data() + first * static_cast<std::int64_t>(f.targets.size()) / batch.examples;
    return m;
  }

  double loss_weight() const {
    if (spec.task == reference::Task::kClassification) return 1.0 / batch.examples;
    const bool per_token = spec.readout == reference::Readout::kEvery || spec.readout == reference::Readout::kMasked;
    const auto rows = per_token ? reference::read_rows(spec, batch).size() : static_cast<std::size_t>(batch.examples);
    return 1.0 / static_cast<double>(rows * spec.outputs);
  }

  EngineOutcome run(const Savings* savings, bool training = false, std::int64_t chunk = 2) const {
    const ModelStructure s = structure();
    const AlignedBuffer<float> p = arena(s);
    AlignedBuffer<float> grads(static_cast<std::size_t>(s.layout.floats()));
    Prepared prepared(s);
    prepared.update(p.data(), {training, kStepSeed});
    EncoderPass pass(s, chunk, savings != nullptr ? *savings : admitted_savings(s));
    StepContext step;
    step.training = training;
    step.seed = kStepSeed;
    step.loss_weight = loss_weight();
    const Floats f = floats();
    EngineOutcome out;
    pass.begin_shard(prepared, grads.data());
    for (std::int64_t i = 0; i < batch.examples; i += chunk) {
      const PassResult r = pass.train(prepared, slice(f, i, std::min<std::int64_t>(chunk, batch.examples - i)), step);
      out.loss += r.loss;
      for (std::int64_t row = 0; row < r.outputs.rows; ++row)
        out.outputs.insert(out.outputs.end(), r.outputs.row(row), r.outputs.row(row) + r.outputs.cols);
    }
    pass.end_shard(prepared);
    for (const TensorSlot& slot : s.layout.slots()) {
      if (slot.trained) out.gradients[slot.name] = {grads.data() + slot.offset, grads.data() + slot.offset + slot.size};
    }
    return out;
  }

  // The engine's dropout masks and signs of step kStepSeed, as the oracle takes them.
  reference::Noise noise() const {
    reference::Noise all(static_cast<std::size_t>(spec.layers));
    const std::int64_t length = spec.length(), rows = batch.examples * length;
    for (int l = 0; l < spec.layers; ++l) {
      reference::BlockNoise& n = all[static_cast<std::size_t>(l)];
      const auto layer = static_cast<std::uint64_t>(l);
      n.attention = mask(rows * spec.width, config.model.residual_dropout, derive_seed(kStepSeed, "attention", layer));
      n.mlp = mask(rows * spec.width, config.model.residual_dropout, derive_seed(kStepSeed, "mlp", layer));
      const reference::PeKind kind = spec.pe_of_block(l);
      const bool table = kind == reference::PeKind::kLearned || kind == reference::PeKind::kSinusoidal ||
                         kind == reference::PeKind::kLaplacian;
      if (table) n.input = mask(rows * spec.width, config.pe.dropout, derive_seed(kStepSeed, "pe/dropout", layer));
      for (int b = 0; b < batch.examples && config.model.attention_dropout > 0; ++b) {
        for (int h = 0; h < spec.heads; ++h) {
          const std::string site = "attention/" + std::to_string(l) + "/" + std::to_string(h);
          const auto square = mask(length * length, config.model.attention_dropout,
                                   derive_seed(kStepSeed, site, static_cast<std::uint64_t>(b)));
          n.pattern.insert(n.pattern.end(), square.begin(), square.end());
        }
      }
      Rng signs(kStepSeed, "pe/signs");
      for (int k = 0; k < 3; ++k) n.signs.push_back((signs.next_u32() & 1u) != 0 ? 1.0 : -1.0);
    }
    return all;
  }

  reference::LossAndGradients<double> oracle(bool training = false) const {
    return reference::loss_and_gradients(spec, params, batch, training ? noise() : reference::Noise{});
  }

  reference::Spec spec;
  RunConfig config;
  reference::Params<double> params;
  reference::Batch batch;

 private:
  static void round(std::vector<double>& values) {
    for (double& v : values) v = static_cast<double>(static_cast<float>(v));
  }
  static std::vector<double> mask(std::int64_t n, double p, std::uint64_t seed) {
    if (p <= 0) return {};
    std::vector<float> ones(static_cast<std::size_t>(n), 1.0f);
    kernels::dropout_apply(Mat(ones.data(), 1, n), static_cast<float>(p), seed, 0);
    return {ones.begin(), ones.end()};
  }
};

}  // namespace locus::testing_support
