// A data set of masked prediction on disk, for other programs and for later: samples, masks, truths, tokens.
#pragma once

#include <filesystem>

#include "data/examples.h"

namespace locus {

// Writes into `folder` (made if needed):
//   samples.npz  <split> (count, T) or (count, T, F) float32, mask.<split> (count, T) uint8, labels (T),
//                coordinates (T, X), truth.<name> (T, T)
//   tokens.csv   index, name, network, hemisphere, x, y, z as far as known; reads back as series.atlas
void write_masked_dataset(const Dataset& dataset, const std::filesystem::path& folder);

}  // namespace locus
