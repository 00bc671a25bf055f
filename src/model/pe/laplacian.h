// Laplacian eigenvectors of a graph through a learned projection k -> C; signs are arbitrary, so training flips them.
#pragma once

#include "model/pe/encoding.h"

namespace locus {

class LaplacianEncoding : public Encoding {
 public:
  LaplacianEncoding(const PeConfig& config, const PeContext& context);
  std::vector<PeTensor> tensors() const override;
  void initialize(Rng& rng, std::span<float* const> values) const override;
  bool adds_to_input() const override { return true; }
  void table(PeParams params, const PeStep& step, Mat out) const override;
  void table_backward(PeParams params, const PeStep& step, ConstMat dtable, PeGradients gradients) const override;
  std::string resize_obstacle() const override {
    return "the eigenvectors belong to one graph; give another graph for other tokens";
  }

 private:
  std::vector<float> signs(const PeStep& step) const;
  PeConfig config_;
  MatrixD eigenvectors_;  // (T, k)
  std::int64_t width_;
};

// Eigenvectors 1..k of the symmetric normalised Laplacian of `graph` (T,T), by rising eigenvalue, the constant one left
// out; each column has norm sqrt(T) and its largest entry positive. Columns of equal eigenvalues are settled by the tokens'
// order, so that rounding decides nothing.
MatrixD laplacian_eigenvectors(const MatrixD& graph, std::int64_t k);

}  // namespace locus
