// Relative encoding (Shaw; Huang's form of the scores): a learned vector for each clipped offset between query and key,
// summed over coordinate axes; shared by the heads. Optionally vectors for the values as well.
#pragma once

#include "model/pe/encoding.h"

namespace locus {

class RelativeEncoding : public Encoding {
 public:
  RelativeEncoding(const PeConfig& config, const PeContext& context);
  std::vector<PeTensor> tensors() const override;
  void initialize(Rng& rng, std::span<float* const> values) const override;
  std::unique_ptr<kernels::AttentionTerms> terms(PeParams params, PeGradients gradients) const override;
  std::string resize_obstacle() const override { return ""; }

 private:
  std::int64_t rows() const { return coordinates_.cols() * (2 * radius_ + 1); }
  PeConfig config_;
  MatrixD coordinates_;
  std::int64_t head_width_;
  std::int64_t radius_;
};

}  // namespace locus
