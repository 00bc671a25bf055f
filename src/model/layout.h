// Which tensors a model has and where they lie: parameters, gradients and optimiser moments are parallel arenas of one
// layout, so an optimiser is one flat loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

struct TensorSlot {
  std::string name;  // PyTorch's
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // in floats; a multiple of 16
  std::int64_t size = 0;
  bool trained = true;
};

class ParamLayout {
 public:
  // Adds a tensor and returns its index.
  std::int64_t add(std::string name, std::vector<std::int64_t> shape, bool trained = true);
  const std::vector<TensorSlot>& slots() const { return slots_; }
  const TensorSlot& operator[](std::int64_t index) const { return slots_[static_cast<std::size_t>(index)]; }
  const TensorSlot* find(std::string_view name) const;
  std::int64_t floats() const { return floats_; }  // length of an arena
  std::int64_t trained_parameters() const;

 private:
  std::vector<TensorSlot> slots_;
  std::int64_t floats_ = 0;
};

}  // namespace locus
