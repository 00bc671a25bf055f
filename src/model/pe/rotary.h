// Rotary encoding, 1-D and axial N-D: pairs of channels of queries and keys turn by angles of the token's coordinates,
// so that scores depend on offsets only.
#pragma once

#include "model/pe/encoding.h"

namespace locus {

class RotaryEncoding : public Encoding {
 public:
  RotaryEncoding(const PeConfig& config, const PeContext& context);
  bool rotates() const override { return true; }
  void rotate(Mat head, const std::int32_t* positions, bool inverse) const override;

 private:
  std::int64_t pairs_;          // rotating pairs a head
  std::vector<float> cosines_;  // (T, pairs)
  std::vector<float> sines_;    // (T, pairs)
};

}  // namespace locus
