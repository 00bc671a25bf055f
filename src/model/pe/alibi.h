// ALiBi: scores fall linearly with the distance of query and key, one slope a head; distances are Euclidean in the
// tokens' coordinates, so it works in one or more dimensions.
#pragma once

#include "model/pe/encoding.h"
#include "model/pe/offsets.h"

namespace locus {

class AlibiEncoding : public Encoding {
 public:
  AlibiEncoding(const PeConfig& config, const PeContext& context);
  std::vector<PeTensor> tensors() const override;
  void initialize(Rng& rng, std::span<float* const> values) const override;
  std::unique_ptr<kernels::AttentionTerms> terms(PeParams params, PeGradients gradients) const override;

 private:
  PeConfig config_;
  MatrixD coordinates_;
  bool on_line() const { return coordinates_.cols() == 1 && line_.whole(); }
  std::int64_t heads_;
  std::int64_t reach_;
  AxisOffsets line_;              // the first axis
  std::vector<float> distances_;  // (T, T), of few tokens in space
};

}  // namespace locus
