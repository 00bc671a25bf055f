// T5's relative bias: one learned number for each bucket of offsets and each head, summed over coordinate axes.
#pragma once

#include "model/pe/encoding.h"

namespace locus {

class T5Encoding : public Encoding {
 public:
  T5Encoding(const PeConfig& config, const PeContext& context);
  std::vector<PeTensor> tensors() const override;
  void initialize(Rng& rng, std::span<float* const> values) const override;
  std::unique_ptr<kernels::AttentionTerms> terms(PeParams params, PeGradients gradients) const override;

 private:
  PeConfig config_;
  MatrixD coordinates_;
  std::int64_t heads_;
};

// Bucket of an offset (key minus query), bidirectional: 0 .. buckets-1.
std::int64_t t5_bucket(std::int64_t offset, std::int64_t buckets, std::int64_t max_distance);

}  // namespace locus
