// Packing of the left matrix of a transposed product. For the files that are compiled once per instruction set, alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/matrix.h"
#include "kernels/simd.h"
#include "kernels/tile.h"

namespace locus::kernels {

// What one load takes of a row of A when it is packed: at least a whole row of a block.
inline constexpr std::int64_t kCopied = std::max<std::int64_t>(simd::kLanes, 8);
using Copied = simd::VectorOf<kCopied>::Floats;
static_assert(kCopied >= kRowBlock);

// Copies a (K,R) to blocks of kRowBlock columns, each K rows of kRowBlock floats. `readable` floats stand in a row of a from
// its first column on. Reads run along the rows, several blocks at a time: one block alone would fetch every cache line of a
// nearly three times. Where kCopied floats can be read, one load and one store copy a row of a block: the next row
// overwrites what is too much, and the last row is copied exactly.
void pack_rows(ConstMat a, std::int64_t readable, float* out);

}  // namespace locus::kernels
