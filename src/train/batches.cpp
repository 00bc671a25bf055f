#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "config/tasks.h"

namespace locus {

void relabel_classes(Rng& rng, const ModelShape& shape, Examples& batch) {
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
      relabel_(dataset.relabel) {
  if (task_row(dataset.task).hides_tokens) masker_.emplace(config.mask, dataset.tokens_info, dataset.tokens);
}

void TrainingBatches::fill(std::int64_t step, Examples& out) {
  const std::int64_t pass = step / steps_per_pass_;
  if (pass != pass_) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    Rng rng(derive_seed(seed_, "data/order", static_cast<std::uint64_t>(pass)), "shuffle");
    rng.shuffle(std::span(order_));
    pass_ = pass;
  }
  const std::int64_t first = step % steps_per_pass_ * batch_;
  const std::int64_t last = std::min(first + batch_, examples_.count);
  take_examples({shape_.tokens, shape_.features}, examples_,
                std::span(order_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)), out);
  if (relabel_) {
    Rng rng(derive_seed(seed_, "data/relabel", static_cast<std::uint64_t>(step)), "draw");
    relabel_classes(rng, shape_, out);
  }
  if (!masker_) {
    hide_missing(out, shape_.tokens, Hiding::kMissingOnly);
    return;
  }
  Rng rng(derive_seed(seed_, "mask/train", static_cast<std::uint64_t>(step)), "draw");
  out.masks.resize(static_cast<std::size_t>(out.count * shape_.tokens));
  for (std::int64_t i = 0; i < out.count; ++i) masker_->draw(rng, out.masks.data() + i * shape_.tokens);
  hide_missing(out, shape_.tokens, Hiding::kAsks);
}

}  // namespace locus
