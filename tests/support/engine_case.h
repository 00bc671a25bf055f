// Runs the engine on a golden file: structure from its configuration, parameters and batch from its tensors.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "config/load.h"
#include "core/json.h"
#include "model/encoder.h"
#include "tests/support/golden.h"

namespace locus::golden {

struct EngineResult {
  double loss = 0;
  std::vector<float> outputs;
  std::map<std::string, std::vector<float>> gradients;
};

class EngineCase {
 public:
  explicit EngineCase(const File& file) : file_(file) {
    Json json = file.config();
    const Json shape = json["shape"];
    if (json.contains("coordinates")) coordinates_ = matrix(json["coordinates"]);
    json.erase("shape");
    json.erase("coordinates");
    config_ = run_config_from_json(json, file.name);
    read(shape, "tokens", shape_.tokens);
    read(shape, "features", shape_.features);
    read(shape, "outputs", shape_.outputs);
    shape_.regression = shape["task"] == "regression";
    shape_.ids = file.has("input.ids");
    load_batch();
  }

  RunConfig& config() { return config_; }
  const ModelShape& shape() const { return shape_; }

  ModelStructure structure() const {
    PeData data;
    data.coordinates = coordinates_;
    if (config_.pe.kind == PeKind::kLaplacian) {
      data.graph = MatrixD(shape_.tokens, shape_.tokens);
      for (std::int64_t i = 0; i < shape_.tokens; ++i) {
        for (std::int64_t j = 0; j < shape_.tokens; ++j)
          data.graph(i, j) = i == j ? 0.0 : 1.0 / static_cast<double>(1 + std::abs(i - j));
      }
    }
    return make_structure(config_, shape_, data);
  }

  AlignedBuffer<float> params(const ModelStructure& s) const {
    AlignedBuffer<float> arena(static_cast<std::size_t>(s.layout.floats()));
    for (const TensorSlot& slot : s.layout.slots()) {
      if (!given(slot)) continue;
      const std::vector<float> values = file_.values<float>("param." + slot.name);
      if (static_cast<std::int64_t>(values.size()) != slot.size)
        throw std::runtime_error(file_.name + ": size of " + slot.name);
      std::copy(values.begin(), values.end(), arena.data() + slot.offset);
    }
    return arena;
  }

  Microbatch microbatch(std::int64_t first, std::int64_t count) const {
    Microbatch b;
    b.sequences = count;
    b.first = first;
    const std::int64_t t = shape_.tokens;
    if (!ids_.empty()) b.ids = ids_.data() + first * t;
    if (!values_.empty()) b.values = values_.data() + first * t * shape_.features;
    if (!masked_.empty()) b.masked = masked_.data() + first * t;
    if (!read_.empty()) b.read_token = read_.data() + first;
    if (!labels_.empty()) b.labels = labels_.data() + first;
    if (!targets_.empty()) b.targets = targets_.data() + first * static_cast<std::int64_t>(targets_.size()) / examples_;
    return b;
  }
  std::int64_t examples() const { return examples_; }

  // One over the number of terms in the loss's mean.
  double loss_weight(const ModelStructure& s) const {
    if (!shape_.regression) return 1.0 / static_cast<double>(examples_);
    const bool per_token = config_.model.readout == Readout::kEvery || config_.model.readout == Readout::kMasked;
    const auto rows = static_cast<double>(per_token ? rows_read(s, microbatch(0, examples_)).rows() : examples_);
    return 1.0 / (rows * static_cast<double>(shape_.outputs));
  }

  // Forward and backward in micro-batches of `chunk` sequences.
  EngineResult run(const Savings* savings = nullptr, std::int64_t chunk = 1 << 20, bool training = false) const {
    const ModelStructure s = structure();
    const AlignedBuffer<float> p = params(s);
    Prepared prepared(s);
    prepared.update(p.data(), {});
    AlignedBuffer<float> grads(static_cast<std::size_t>(s.layout.floats()));
    chunk = std::min(chunk, examples_);
    EncoderPass pass(s, chunk, savings != nullptr ? *savings : admitted_savings(s));
    StepContext step;
    step.training = training;
    step.seed = 77;
    step.loss_weight = loss_weight(s);
    EngineResult result;
    pass.begin_shard(prepared, grads.data());
    for (std::int64_t i = 0; i < examples_; i += chunk) {
      const PassResult r = pass.train(prepared, microbatch(i, std::min(chunk, examples_ - i)), step);
      result.loss += r.loss;
      for (std::int64_t row = 0; row < r.outputs.rows; ++row) {
        result.outputs.insert(result.outputs.end(), r.outputs.row(row), r.outputs.row(row) + r.outputs.cols);
      }
    }
    pass.end_shard(prepared);
    for (const TensorSlot& slot : s.layout.slots()) {
      if (slot.trained && given(slot))
        result.gradients[slot.name] = {grads.data() + slot.offset, grads.data() + slot.offset + slot.size};
    }
    return result;
  }

 private:
  static MatrixD matrix(const Json& rows) {
    MatrixD m(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.front().size()));
    for (std::int64_t i = 0; i < m.rows(); ++i) {
      for (std::int64_t j = 0; j < m.cols(); ++j) m(i, j) = rows[i][j].get<double>();
    }
    return m;
  }

  // A regression that hides nothing has no mask vector in its file; the engine's stays unused.
  bool given(const TensorSlot& slot) const { return slot.name != "mask_token" || file_.has("param.mask_token"); }

  template <class T>
  std::vector<T> optional(const std::string& name) const {
    return file_.has(name) ? file_.values<T>(name) : std::vector<T>{};
  }

  void load_batch() {
    ids_ = optional<std::int16_t>("input.ids");
    values_ = optional<float>("input.features");
    masked_ = optional<std::uint8_t>("input.masked");
    read_ = optional<std::int32_t>("input.read_token");
    labels_ = optional<std::int32_t>("input.labels");
    targets_ = optional<float>("input.targets");
    const std::size_t per_example = static_cast<std::size_t>(shape_.tokens * (shape_.ids ? 1 : shape_.features));
    examples_ = static_cast<std::int64_t>((shape_.ids ? ids_.size() : values_.size()) / per_example);
  }

  const File& file_;
  RunConfig config_;
  ModelShape shape_;
  MatrixD coordinates_;
  std::int64_t examples_ = 0;
  std::vector<std::int16_t> ids_;
  std::vector<float> values_;
  std::vector<std::uint8_t> masked_;
  std::vector<std::int32_t> read_;
  std::vector<std::int32_t> labels_;
  std::vector<float> targets_;
};

}  // namespace locus::golden
