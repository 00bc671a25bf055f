// What is known of the regions (or any tokens) beside their series: names, networks, hemispheres, coordinates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/matrix.h"

namespace locus {

// One column of the table as it stands there.
struct AtlasColumn {
  std::string title;  // "column 2" without a header
  std::vector<std::string> texts;
};

// One row a region; every part but the size may be empty.
struct Atlas {
  std::string source;
  std::int64_t size = 0;
  std::vector<std::string> names;
  std::vector<std::string> networks;
  std::vector<std::string> hemispheres;  // as the file writes them
  MatrixD coordinates;                   // (size, 3) or empty
  std::vector<AtlasColumn> columns;      // all of the table, for atlas_match.h
  std::vector<std::string> notes;        // which columns were taken when that was not plain
};

// CSV/TSV with a header. Columns are found whatever their case and punctuation: name, label, roi, region, parcel, channel,
// gene and the like (atlas_match.h takes any column that holds the tokens' names); network, module, community, system,
// group, class; hemisphere, hemi, side; x y z or R A S (else one column each that begins with x_, y_, z_). Names such as
// 7Networks_LH_Vis_1 also give network and hemisphere. Without a header one column is networks, two are name and network.
// DataError when nothing of use is there.
Atlas read_atlas(const std::filesystem::path& path);

// "ROI Label" and "roi_label" are "roilabel".
std::string plain_title(std::string_view title);

// The first names and how many more there are.
std::string some_of(const std::vector<std::string>& names);

// 0 left, 1 right, 2 anything else that is written, -1 nothing written.
std::int32_t hemisphere_code(std::string_view text);

// Pairs (left, right) of regions that mirror each other: names that differ in the side alone ("Precentral_L",
// "L_V1_ROI", "lh-...") or, without such names, i and i + T/2 when the first half is left and the second right.
// None for Schaefer's names, whose numbers and order do not mirror.
std::vector<std::pair<std::int64_t, std::int64_t>> homotopic_pairs(const std::vector<std::string>& names,
                                                                   const std::vector<std::int32_t>& hemispheres);

}  // namespace locus
