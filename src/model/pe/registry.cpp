// The one switch over encodings.
#include "core/error.h"
#include "model/pe/alibi.h"
#include "model/pe/encoding.h"
#include "model/pe/laplacian.h"
#include "model/pe/relative.h"
#include "model/pe/rotary.h"
#include "model/pe/t5.h"
#include "model/pe/table.h"

namespace locus {

std::unique_ptr<Encoding> make_encoding(const PeConfig& config, const PeContext& context) {
  switch (config.kind) {
    case PeKind::kNone:
      return std::make_unique<Encoding>();
    case PeKind::kLearned:
      return std::make_unique<TableEncoding>(config, context);
    case PeKind::kSinusoidal:
      return std::make_unique<TableEncoding>(config, context);
    case PeKind::kLaplacian:
      return std::make_unique<LaplacianEncoding>(config, context);
    case PeKind::kRotary:
      return std::make_unique<RotaryEncoding>(config, context);
    case PeKind::kRelative:
      return std::make_unique<RelativeEncoding>(config, context);
    case PeKind::kT5:
      return std::make_unique<T5Encoding>(config, context);
    case PeKind::kAlibi:
      return std::make_unique<AlibiEncoding>(config, context);
  }
  check_failed("known kind", __FILE__, __LINE__, "pe.kind");
}

const std::vector<EncodingInfo>& encoding_infos() {
  static const std::vector<EncodingInfo> infos = {
      {PeKind::kNone, "no encoding; with model.attention_mask = causal the order still shows", ""},
      {PeKind::kLearned,
       "a learned table, drawn from a normal of standard deviation sigma; trainable = no gives a random fixed one",
       "sigma, init, file, trainable, placement, shared, dropout"},
      {PeKind::kSinusoidal, "sines and cosines of the coordinates, 1-D, 2-D or N-D; trainable = yes learns from there",
       "positions, coord_scale, base, trainable, placement, shared, dropout"},
      {PeKind::kLaplacian, "a learned projection of the eigenvectors of a graph's Laplacian, random signs in training",
       "eigenvectors, sigma, placement, shared, dropout"},
      {PeKind::kRotary, "rotates queries and keys by their coordinates, 1-D or axial N-D",
       "positions, coord_scale, base, rotary_fraction"},
      {PeKind::kRelative, "learned vectors of the offset between query and key (Shaw), optionally also for values",
       "positions, max_distance, value_term, sigma, shared"},
      {PeKind::kT5, "a learned bias for each bucket of offsets and each head",
       "positions, buckets, max_distance, sigma, shared"},
      {PeKind::kAlibi, "a bias that falls with distance, one slope a head; N-D from Euclidean distances",
       "positions, coord_scale, trainable"},
  };
  return infos;
}

}  // namespace locus
