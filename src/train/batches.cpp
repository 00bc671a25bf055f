#include "train/batches.h"

#include <algorithm>
#include <numeric>

namespace locus {

Microbatch BatchData::slice(const ModelShape& shape, std::int64_t first, std::int64_t n) const {
  Microbatch b;
  b.sequences = n;
  b.first = first;
  const std::int64_t t = shape.tokens;
  if (!ids.empty()) b.ids = ids.data() + first * t;
  if (!values.empty()) b.values = values.data() + first * t * shape.features;
  if (!masked.empty()) b.masked = masked.data() + first * t;
  if (!read_token.empty()) b.read_token = read_token.data() + first;
  if (!labels.empty()) b.labels = labels.data() + first;
  if (shape.regression) b.targets = b.values;
  return b;
}

void gather_batch(const Examples& examples, const ModelShape& shape, const std::vector<std::int64_t>& indices,
                  BatchData& out) {
  const std::int64_t t = shape.tokens;
  const std::int64_t wide = t * shape.features;
  const auto n = static_cast<std::int64_t>(indices.size());
  out.count = n;
  const auto copy = [&](const auto& from, auto& to, std::int64_t width) {
    to.resize(from.empty() ? 0 : static_cast<std::size_t>(n * width));
    if (from.empty()) return;
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(from.data() + indices[static_cast<std::size_t>(i)] * width, width, to.data() + i * width);
    }
  };
  copy(examples.ids, out.ids, t);
  copy(examples.values, out.values, wide);
  copy(examples.fixed_masks, out.masked, t);
  copy(examples.read_token, out.read_token, 1);
  copy(examples.labels, out.labels, 1);
}

void relabel_classes(Rng& rng, const ModelShape& shape, BatchData& batch) {
  std::vector<std::int16_t> names(static_cast<std::size_t>(shape.outputs));
  std::iota(names.begin(), names.end(), std::int16_t{0});
  for (std::int64_t i = 0; i < batch.count; ++i) {
    rng.shuffle(std::span(names));
    for (std::int16_t& id :
         std::span(batch.ids).subspan(static_cast<std::size_t>(i * shape.tokens), static_cast<std::size_t>(shape.tokens))) {
      if (id >= 0 && id < shape.outputs) id = names[static_cast<std::size_t>(id)];
    }
    std::int32_t& label = batch.labels[static_cast<std::size_t>(i)];
    label = names[static_cast<std::size_t>(label)];
  }
}

TrainingBatches::TrainingBatches(const Dataset& dataset, const RunConfig& config, const ModelShape& shape)
    : examples_(dataset.split("train")),
      shape_(shape),
      seed_(static_cast<std::uint64_t>(config.seed)),
      batch_(std::min(config.train.batch, examples_.count)),
      steps_per_pass_((examples_.count + batch_ - 1) / batch_),
      order_(static_cast<std::size_t>(examples_.count)),
      relabel_(config.study == Study::kLst && config.lst.relabel) {
  if (shape.regression) masker_.emplace(config.mask, dataset.tokens_info, dataset.tokens);
}

void TrainingBatches::fill(std::int64_t step, BatchData& out) {
  const std::int64_t pass = step / steps_per_pass_;
  if (pass != pass_) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    Rng rng(derive_seed(seed_, "data/order", static_cast<std::uint64_t>(pass)), "shuffle");
    rng.shuffle(std::span(order_));
    pass_ = pass;
  }
  const std::int64_t first = step % steps_per_pass_ * batch_;
  const std::int64_t last = std::min(first + batch_, examples_.count);
  indices_.assign(order_.begin() + first, order_.begin() + last);
  gather_batch(examples_, shape_, indices_, out);
  if (relabel_) {
    Rng rng(derive_seed(seed_, "data/relabel", static_cast<std::uint64_t>(step)), "draw");
    relabel_classes(rng, shape_, out);
  }
  if (!masker_) return;
  Rng rng(derive_seed(seed_, "mask/train", static_cast<std::uint64_t>(step)), "draw");
  out.masked.resize(static_cast<std::size_t>(out.count * shape_.tokens));
  for (std::int64_t i = 0; i < out.count; ++i) masker_->draw(rng, out.masked.data() + i * shape_.tokens);
}

ModelShape model_shape(const Dataset& dataset) {
  ModelShape shape;
  shape.tokens = dataset.tokens;
  shape.features = dataset.features;
  shape.outputs = dataset.outputs;
  shape.ids = !dataset.split("train").ids.empty();
  shape.regression = dataset.task == Task::kRegression;
  return shape;
}

PeData pe_data(const Dataset& dataset) {
  PeData data;
  data.coordinates = dataset.tokens_info.coordinates;
  data.graph = dataset.tokens_info.graph;
  return data;
}

}  // namespace locus
