#include "model/weights.h"

namespace locus {

PackedWeights::PackedWeights(const ModelStructure& s, const std::vector<bool>& joined)
    : structure_(s), blocks_(s.blocks.size()) {
  const auto offset = [&](std::int64_t slot) { return slot < 0 ? -1 : s.layout[slot].offset; };
  const auto linear = [&](PackedLinear& target, const Linear& l) {
    if (l.weight >= 0) add(target, offset(l.weight), offset(l.bias), l.in, l.out);
  };
  const std::int64_t c = s.width();
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    const BlockSlots& b = s.blocks[l];
    PackedBlock& p = blocks_[l];
    PackedLinear* const parts[] = {&p.q, &p.k, &p.v};
    for (std::int64_t i = 0; i < 3; ++i) {
      add(*parts[i], offset(b.in_weight) + i * c * c, b.in_bias < 0 ? -1 : offset(b.in_bias) + i * c, c, c);
    }
    linear(p.out, b.out_proj);
    linear(p.up, b.mlp_up);
    linear(p.down, b.mlp_down);
    if (joined[l]) p.joined = std::make_unique<JoinedWeights>(s, static_cast<std::int64_t>(l));
  }
  linear(head0_, s.head0);
  linear(head_, s.head);
  buffer_ = AlignedBuffer<float>(static_cast<std::size_t>(floats_));
}

void PackedWeights::add(PackedLinear& target, std::int64_t weight, std::int64_t bias, std::int64_t in, std::int64_t out) {
  jobs_.push_back({&target, weight, bias, in, out, floats_});
  floats_ += kernels::packed_size(in, out) + kernels::packed_size(out, in);
}

void PackedWeights::update(const float* params, ThreadPool* pool) {
  params_ = params;
  const int packings = static_cast<int>(jobs_.size());
  const auto work = [&](int i, int) {
    if (i >= packings) {
      const auto& joined = blocks_[static_cast<std::size_t>(i - packings)].joined;
      if (joined != nullptr) joined->update(params);
      return;
    }
    const Job& job = jobs_[static_cast<std::size_t>(i)];
    float* forward = buffer_.data() + job.place;
    float* backward = forward + kernels::packed_size(job.in, job.out);
    const ConstMat w(params + job.weight, job.out, job.in);
    kernels::pack_transposed(w, forward);
    kernels::pack(w, backward);
    job.target->forward = kernels::Packed(forward, job.in);
    job.target->backward = kernels::Packed(backward, job.out);
    job.target->bias = job.bias < 0 ? nullptr : params + job.bias;
  };
  const int n = packings + static_cast<int>(blocks_.size());
  if (pool != nullptr) {
    pool->run(n, work);
  } else {
    for (int i = 0; i < n; ++i) work(i, 0);
  }
}

}  // namespace locus
