// The seam of positional encodings: an encoding acts at four points only, each with its backward, each a no-op by default:
// a table added to the input, a rotation of queries and keys, a bias on scores, a term in the output (the last two as
// AttentionTerms). It holds no parameters: those live in the model's arena and come by pointer, in the order of tensors().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "kernels/attention.h"

namespace locus {

// What an encoding is given of the world; the caller has scaled coordinates and added a CLS token's.
struct PeContext {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  std::int64_t heads = 1;
  MatrixD coordinates;       // (T, X)
  MatrixD eigenvectors;      // (T, k), for laplacian
  std::vector<float> given;  // (T, C), for init = file

  std::int64_t head_width() const { return width / heads; }
};

struct PeTensor {
  std::string name;  // "table"
  std::vector<std::int64_t> shape;
  bool trained = true;
};

// What a step decides for the encoding: random signs of eigenvectors in training.
struct PeStep {
  bool training = false;
  std::uint64_t seed = 0;
};

using PeParams = std::span<const float* const>;
using PeGradients = std::span<float* const>;

class Encoding {
 public:
  virtual ~Encoding() = default;

  virtual std::vector<PeTensor> tensors() const { return {}; }
  virtual void initialize(Rng&, std::span<float* const> /*values*/) const {}

  // 1. A table (T,C) added to a block's input. Backward adds to the gradients of the parameters.
  virtual bool adds_to_input() const { return false; }
  virtual void table(PeParams, const PeStep&, Mat /*out*/) const {}
  virtual void table_backward(PeParams, const PeStep&, ConstMat /*dtable*/, PeGradients) const {}

  // 2. A rotation of queries and keys, rows at the given positions; the inverse rotation is the backward.
  virtual bool rotates() const { return false; }
  virtual void rotate(Mat /*head*/, const std::int32_t* /*positions*/, bool /*inverse*/) const {}

  // 3. and 4. Terms inside attention, bound to parameters and, for training, to gradients; null when there are none.
  virtual std::unique_ptr<kernels::AttentionTerms> terms(PeParams, PeGradients) const { return nullptr; }

  // Folding keys into a single query is exact unless keys are changed after their projection.
  bool forbids_folding() const { return rotates(); }

  // How the encoding would extend to other positions: "" when it can, else the reason why not.
  virtual std::string resize_obstacle() const { return ""; }
};

// By the row of its kind (src/config/encodings.h).
std::unique_ptr<Encoding> make_encoding(const PeConfig& config, const PeContext& context);

// Helpers that several encodings share.
std::vector<float> sinusoid_table(const PeConfig& config, const PeContext& context);  // (T, C)
std::int64_t largest_offset(const MatrixD& coordinates);                              // rounded, over all axes and pairs

}  // namespace locus
