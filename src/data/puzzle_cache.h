// Generated puzzles kept on disk: making them takes seconds, reading them milliseconds. A cache file is named after all that
// decides its content and is checked when read; a missing, foreign or damaged one is made again.
#pragma once

#include <optional>
#include <string>

#include "data/latin/dataset.h"

namespace locus {

// `folder` empty: no cache. Never fails because of the cache: what cannot be written is simply not kept.
LatinData cached_latin_data(const LatinOptions& options, const std::string& folder);

}  // namespace locus
