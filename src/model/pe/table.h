// Encodings that are a table (T,C) added to the input: learned(sigma), random fixed, sinusoidal, from a file.
#pragma once

#include "model/pe/encoding.h"

namespace locus {

class TableEncoding : public Encoding {
 public:
  TableEncoding(const PeConfig& config, const PeContext& context);
  std::vector<PeTensor> tensors() const override;
  void initialize(Rng& rng, std::span<float* const> values) const override;
  bool adds_to_input() const override { return true; }
  void table(PeParams params, const PeStep& step, Mat out) const override;
  void table_backward(PeParams params, const PeStep& step, ConstMat dtable, PeGradients gradients) const override;
  std::string resize_obstacle() const override;

 private:
  PeConfig config_;
  std::int64_t tokens_;
  std::int64_t width_;
  std::vector<float> start_;  // sinusoid or given values; empty for random starts
};

}  // namespace locus
