// Pictures as samples: a token is a pixel or a square patch of them, and its true place on the grid is known. In an order
// drawn once (images.shuffle) the model sees tokens without being told where they are.
#pragma once

#include "data/table/raw_samples.h"
#include "data/table/tokens.h"

namespace locus {

struct RawImages {
  RawTokens tokens;  // places: rows and columns of the grid
  RawTable outside;  // what else is known of each picture: columns "file" and "folder" of a folder of PNG files
  std::int64_t height = 0, width = 0, channels = 1;  // of a picture, in pixels
};

// An array N x H x W (x C), an IDX file, or a folder of PNG files of one size (also in folders below it, one a class).
RawImages read_images(const ImagesConfig& config, DataAudit& audit);

// The order of n tokens that a seed draws: place i shows token order[i].
std::vector<std::int64_t> shuffled_order(std::int64_t n, std::int64_t seed);

}  // namespace locus
