// Weights packed for the matrix products, renewed whenever parameters change. Forward multiplies by W^T, backward by W.
#pragma once

#include <memory>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "model/joined.h"
#include "model/structure.h"

namespace locus {

struct PackedBlock {
  PackedLinear q, k, v, out, up, down;
  std::unique_ptr<JoinedWeights> joined;  // where asked for
};

class PackedWeights {
 public:
  // joined: for each block, whether its projections are wanted joined as well.
  PackedWeights(const ModelStructure& structure, const std::vector<bool>& joined);
  // Packs anew from an arena, which must stay alive and unchanged while these weights are used.
  void update(const float* params, ThreadPool* pool = nullptr);

  const PackedBlock& block(std::int64_t l) const { return blocks_[static_cast<std::size_t>(l)]; }
  const PackedLinear& head0() const { return head0_; }
  const PackedLinear& head() const { return head_; }
  const float* params() const { return params_; }

 private:
  struct Job {
    PackedLinear* target;
    std::int64_t weight;  // offset of W (out, in) in the arena
    std::int64_t bias;    // offset or -1
    std::int64_t in, out;
    std::int64_t place;  // of the two packed forms in the buffer
  };
  void add(PackedLinear& target, std::int64_t weight, std::int64_t bias, std::int64_t in, std::int64_t out);
  const ModelStructure& structure_;
  std::vector<PackedBlock> blocks_;
  PackedLinear head0_, head_;
  std::vector<Job> jobs_;
  std::int64_t floats_ = 0;
  AlignedBuffer<float> buffer_;
  const float* params_ = nullptr;
};

}  // namespace locus
