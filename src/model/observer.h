// Named activations: who listens gets every value of a forward pass by name and may change it.
// It needs a pass made with no_savings(), which computes every token plainly; without one nothing is spent.
#pragma once

#include <cstdint>
#include <string>

#include "core/matrix.h"

namespace locus {

// Names: "embed", "blocks.{l}.input" (PE added), "blocks.{l}.attn.q|k|v|out", "blocks.{l}.attn.pattern",
// "blocks.{l}.mid" (after attention), "blocks.{l}.output", "head". Rows are tokens, sequence after sequence; a pattern
// comes head by head and sequence by sequence, rows queries and columns keys (with a causal mask only as many keys as the
// last query of the block sees).
struct Activation {
  std::string name;
  Mat values;
  std::int64_t first_sequence = 0;
  std::int64_t sequences = 0;
  std::int64_t head = -1;        // patterns only
  std::int64_t first_query = 0;  // patterns only: a long sequence's pattern comes in blocks of rows
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_activation(const Activation& activation) = 0;
};

}  // namespace locus
