// The one list of encodings.
#include <fmt/core.h>

#include "config/encodings.h"
#include "core/text.h"
#include "model/pe/alibi.h"
#include "model/pe/encoding.h"
#include "model/pe/laplacian.h"
#include "model/pe/relative.h"
#include "model/pe/rotary.h"
#include "model/pe/t5.h"
#include "model/pe/table.h"

namespace locus {
namespace {

template <class E>
std::unique_ptr<Encoding> make(const PeConfig& config, const PeContext& context) {
  return std::make_unique<E>(config, context);
}

std::unique_ptr<Encoding> make_none(const PeConfig&, const PeContext&) { return std::make_unique<Encoding>(); }

std::string kind_label(const PeConfig& c) { return std::string(pe_kind_name(c.kind)); }

std::string learned_label(const PeConfig& c) {
  if (c.init == PeInit::kFile) return c.is_trained() ? "transplanted, trained" : "transplanted, frozen";
  if (sigma_counts(c)) return fmt::format("{} sigma {}", c.is_trained() ? "learned" : "random", shortest(c.sigma));
  return fmt::format("{} from {}", c.is_trained() ? "learned" : "frozen", kPeInitNames[static_cast<std::size_t>(c.init)]);
}

std::string sinusoidal_label(const PeConfig& c) { return c.is_trained() ? "sinusoidal learnable" : "sinusoidal"; }

std::vector<EncodingRow> make_rows() {
  return {
      {.kind = PeKind::kNone,
       .summary = "no encoding; with model.attention_mask = causal the order still shows",
       .fields = {},
       .label = kind_label,
       .make = make_none},
      {.kind = PeKind::kLearned,
       .summary =
           "a learned table, drawn from a normal of standard deviation sigma; trainable = no gives a random fixed one",
       .fields = {"sigma", "init", "file", "trainable", "placement", "shared", "dropout"},
       .trained = true,
       .adds_table = true,
       .label = learned_label,
       .make = make<TableEncoding>},
      {.kind = PeKind::kSinusoidal,
       .summary = "sines and cosines of the coordinates, 1-D, 2-D or N-D; trainable = yes learns from there",
       .fields = {"positions", "coord_scale", "base", "trainable", "placement", "shared", "dropout"},
       .adds_table = true,
       .label = sinusoidal_label,
       .make = make<TableEncoding>},
      {.kind = PeKind::kLaplacian,
       .summary = "a learned projection of the eigenvectors of a graph's Laplacian, random signs in training",
       .fields = {"eigenvectors", "sigma", "placement", "shared", "dropout"},
       .trained = true,
       .adds_table = true,
       .label = kind_label,
       .make = make<LaplacianEncoding>},
      {.kind = PeKind::kRotary,
       .summary = "rotates queries and keys by their coordinates, 1-D or axial N-D",
       .fields = {"positions", "coord_scale", "base", "rotary_fraction"},
       .label = kind_label,
       .make = make<RotaryEncoding>},
      {.kind = PeKind::kRelative,
       .summary = "learned vectors of the offset between query and key (Shaw), optionally also for values",
       .fields = {"positions", "max_distance", "value_term", "sigma", "shared"},
       .trained = true,
       .label = kind_label,
       .make = make<RelativeEncoding>},
      {.kind = PeKind::kT5,
       .summary = "a learned bias for each bucket of offsets and each head",
       .fields = {"positions", "buckets", "max_distance", "sigma", "shared"},
       .trained = true,
       .label = kind_label,
       .make = make<T5Encoding>},
      {.kind = PeKind::kAlibi,
       .summary = "a bias that falls with distance, one slope a head; N-D from Euclidean distances",
       .fields = {"positions", "coord_scale", "trainable"},
       .label = kind_label,
       .make = make<AlibiEncoding>},
  };
}

}  // namespace

const std::vector<EncodingRow>& encoding_rows() {
  static const std::vector<EncodingRow> rows = make_rows();
  return rows;
}

std::unique_ptr<Encoding> make_encoding(const PeConfig& config, const PeContext& context) {
  return encoding_row(config.kind).make(config, context);
}

}  // namespace locus
