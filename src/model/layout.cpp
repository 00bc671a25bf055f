#include "model/layout.h"

namespace locus {

std::int64_t ParamLayout::add(std::string name, std::vector<std::int64_t> shape, bool trained) {
  TensorSlot slot;
  slot.name = std::move(name);
  slot.shape = std::move(shape);
  slot.offset = floats_;
  slot.size = 1;
  for (const std::int64_t n : slot.shape) slot.size *= n;
  slot.trained = trained;
  floats_ += (slot.size + 15) / 16 * 16;
  slots_.push_back(std::move(slot));
  return static_cast<std::int64_t>(slots_.size()) - 1;
}

const TensorSlot* ParamLayout::find(std::string_view name) const {
  for (const TensorSlot& s : slots_) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

std::int64_t ParamLayout::trained_parameters() const {
  std::int64_t total = 0;
  for (const TensorSlot& s : slots_) total += s.trained ? s.size : 0;
  return total;
}

}  // namespace locus
