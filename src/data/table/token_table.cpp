#include "data/table/token_table.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "data/atlas.h"
#include "data/atlas_match.h"
#include "io/table.h"

namespace locus {
namespace {

// x, or x and y: a table of regions has three axes, one of other tokens may have fewer.
MatrixD fewer_axes(const Atlas& atlas) {
  std::vector<const AtlasColumn*> axes;
  for (const char* title : {"x", "y"}) {
    for (const AtlasColumn& c : atlas.columns) {
      if (plain_title(c.title) == title) axes.push_back(&c);
    }
  }
  if (axes.empty() || plain_title(axes.front()->title) != "x") return {};
  MatrixD out(atlas.size, static_cast<std::ptrdiff_t>(axes.size()));
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::int64_t r = 0; r < atlas.size; ++r) {
      const auto v = parse_cell(axes[a]->texts[static_cast<std::size_t>(r)]);
      if (!v || !std::isfinite(*v)) {
        throw DataError({.what = fmt::format("a coordinate in column '{}' is no number", axes[a]->title),
                         .where = fmt::format("{}, token {}", atlas.source, r + 1),
                         .got = axes[a]->texts[static_cast<std::size_t>(r)],
                         .expected = "a number"});
      }
      out(r, static_cast<std::ptrdiff_t>(a)) = *v;
    }
  }
  return out;
}

}  // namespace

void add_token_table(const std::string& file, TokenInfo& info) {
  const Atlas atlas = read_atlas(file);
  const auto tokens = static_cast<std::int64_t>(info.names.size());
  const TokenMatch match = match_to_atlas(atlas, {{file, info.names, tokens}});
  std::vector<std::int64_t> row(info.names.size(), -1);
  for (std::size_t r = 0; r < match.position[0].size(); ++r) {
    if (match.position[0][r] >= 0) row[static_cast<std::size_t>(match.position[0][r])] = static_cast<std::int64_t>(r);
  }
  for (std::size_t t = 0; t < row.size(); ++t) {
    if (row[t] >= 0) continue;
    throw DataError({.what = fmt::format("the table of tokens has no row for '{}'", info.names[t]),
                     .where = file,
                     .expected = "a row for each token"});
  }
  const MatrixD coordinates = atlas.coordinates.rows() > 0 ? atlas.coordinates : fewer_axes(atlas);
  if (coordinates.rows() > 0) info.coordinates = MatrixD(tokens, coordinates.cols());
  std::map<std::string, std::int32_t> number;
  for (std::size_t t = 0; t < row.size(); ++t) {
    for (std::ptrdiff_t x = 0; x < coordinates.cols(); ++x)
      info.coordinates(static_cast<std::ptrdiff_t>(t), x) = coordinates(row[t], x);
    const auto r = static_cast<std::size_t>(row[t]);
    if (!atlas.networks.empty()) {
      const auto [at, is_new] = number.try_emplace(atlas.networks[r], static_cast<std::int32_t>(number.size()));
      if (is_new) info.label_names.push_back(atlas.networks[r]);
      info.labels.push_back(at->second);
    }
    if (!atlas.hemispheres.empty()) info.hemispheres.push_back(hemisphere_code(atlas.hemispheres[r]));
  }
}

}  // namespace locus
