#include "data/atlas.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <span>

#include "core/error.h"
#include "core/text.h"
#include "io/table.h"

namespace locus {
namespace {

using Candidates = std::span<const std::string_view>;
constexpr std::array<std::string_view, 25> kNameColumns = {
    "name",   "names",      "roiname",  "regionname", "parcelname", "labelname", "channelname", "genename",  "token",
    "region", "parcel",     "label",    "roi",        "roilabel",   "node",      "channel",     "electrode", "sensor",
    "gene",   "genesymbol", "variable", "feature",    "neuron",     "item",      "id"};
constexpr std::array<std::string_view, 11> kNetworkColumns = {
    "network", "networkname", "net", "module", "community", "system", "group", "cluster", "class", "label", "networkid"};
constexpr std::array<std::string_view, 4> kHemisphereColumns = {"hemisphere", "hemi", "side", "lr"};
constexpr std::array<std::array<std::string_view, 3>, 3> kAxisColumns = {
    {{"x", "y", "z"}, {"r", "a", "s"}, {"xmni", "ymni", "zmni"}}};

// Their numbers count within a hemisphere: equal numbers on both sides are no mirror images.
const std::regex& schaefer_pattern() {
  static const std::regex pattern("^[0-9]+Networks_(LH|RH)_([A-Za-z]+)(_.*)?$");
  return pattern;
}

std::string same_case(std::string_view text) { return to_lower(trim(text)); }

std::vector<std::string> column_text(const Table& t, std::size_t column) {
  std::vector<std::string> out;
  for (const auto& row : t.rows) out.emplace_back(trim(row[column]));
  return out;
}

bool all_distinct(const std::vector<std::string>& texts) {
  std::set<std::string> seen;
  for (const std::string& s : texts) {
    if (s.empty() || !seen.insert(same_case(s)).second) return false;
  }
  return true;
}

bool all_numbers(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(), [](const std::string& s) { return parse_cell(s).has_value(); });
}

class AtlasReader {
 public:
  explicit AtlasReader(const Table& table) : table_(table) { atlas_.source = table.source; }

  Atlas read() {
    atlas_.size = static_cast<std::int64_t>(table_.rows.size());
    if (atlas_.size == 0) fail("the atlas has no rows");
    for (std::size_t c = 0; c < table_.columns(); ++c) {
      atlas_.columns.push_back(
          {table_.header.empty() ? fmt::format("column {}", c + 1) : table_.header[c], column_text(table_, c)});
    }
    if (table_.header.empty()) {
      read_without_header();
    } else {
      read_names();
      read_networks();
      if (const auto c = find(kHemisphereColumns)) atlas_.hemispheres = column_text(table_, *c);
      read_coordinates();
    }
    read_schaefer_names();
    if (atlas_.names.empty() && atlas_.networks.empty() && atlas_.coordinates.rows() == 0) fail("no column is known");
    return std::move(atlas_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError({.what = what,
                     .where = table_.source,
                     .got = join(table_.header, ", "),
                     .expected = "columns such as name, network, hemisphere, x, y, z"});
  }

  std::optional<std::size_t> find(Candidates candidates) const {
    for (const std::string_view wanted : candidates) {
      for (std::size_t c = 0; c < table_.header.size(); ++c) {
        if (plain_title(table_.header[c]) == wanted) return c;
      }
    }
    return std::nullopt;
  }

  void read_without_header() {
    const std::size_t columns = table_.columns();
    if (columns == 1) atlas_.networks = column_text(table_, 0);
    if (columns == 2) {
      atlas_.names = column_text(table_, 0);
      atlas_.networks = column_text(table_, 1);
      if (!all_distinct(atlas_.names)) fail("names in the first column stand twice");
    }
    if (columns > 2) fail("the atlas has no header");
  }

  // Words before numbers: "ROI Label" may hold an index beside "ROI Name".
  void read_names() {
    for (const bool numbers : {false, true}) {
      for (const std::string_view wanted : kNameColumns) {
        const auto c = find(std::span(&wanted, 1));
        if (!c) continue;
        const std::vector<std::string> texts = column_text(table_, *c);
        if (!all_distinct(texts) || all_numbers(texts) != numbers) continue;
        name_column_ = *c;
        atlas_.names = texts;
        return;
      }
    }
    for (const std::string_view wanted : {std::string_view("name"), std::string_view("roiname")}) {
      if (find(std::span(&wanted, 1))) fail("names of regions are empty or stand twice");
    }
  }

  void read_networks() {
    for (const std::string_view wanted : kNetworkColumns) {
      const auto c = find(std::span(&wanted, 1));
      if (!c || c == name_column_) continue;
      std::vector<std::string> texts = column_text(table_, *c);
      if (wanted == "label" && all_distinct(texts)) continue;
      atlas_.networks = std::move(texts);
      require_networks();
      return;
    }
  }

  // Regions without a network are no network of their own: all have one, or none has.
  void require_networks() {
    std::vector<std::string> without;
    for (std::size_t i = 0; i < atlas_.networks.size(); ++i) {
      if (!is_missing(atlas_.networks[i])) continue;
      without.push_back(atlas_.names.empty() ? fmt::format("row {}", i + 1) : atlas_.names[i]);
    }
    if (without.size() == atlas_.networks.size()) atlas_.networks.clear();
    if (without.empty() || atlas_.networks.empty()) return;
    throw DataError({.what = fmt::format("{} of {} regions have no network", without.size(), atlas_.networks.size()),
                     .where = table_.source,
                     .got = some_of(without),
                     .expected = "a network for every region",
                     .hint = "name one for them, such as other, or leave the column out"});
  }

  std::optional<std::size_t> axis_by_prefix(char axis) const {
    std::optional<std::size_t> found;
    for (std::size_t c = 0; c < table_.header.size(); ++c) {
      const std::string name = to_lower(table_.header[c]);
      if (name.size() < 2 || name[0] != axis || name[1] != '_') continue;
      if (found) return std::nullopt;
      found = c;
    }
    return found;
  }

  void read_coordinates() {
    std::array<std::optional<std::size_t>, 3> columns;
    for (const auto& axes : kAxisColumns) {
      for (std::size_t k = 0; k < 3; ++k) columns[k] = find(std::span(&axes[k], 1));
      if (columns[0] && columns[1] && columns[2]) return take_coordinates(columns);
      if (axes[0] == "x" && (columns[0] || columns[1] || columns[2])) fail("one of the columns x, y, z is missing");
    }
    for (std::size_t k = 0; k < 3; ++k) columns[k] = axis_by_prefix("xyz"[k]);
    if (!columns[0] || !columns[1] || !columns[2]) return;
    atlas_.notes.push_back(fmt::format("coordinates from {}, {}, {}", table_.header[*columns[0]], table_.header[*columns[1]],
                                       table_.header[*columns[2]]));
    take_coordinates(columns);
  }

  void take_coordinates(const std::array<std::optional<std::size_t>, 3>& columns) {
    atlas_.coordinates = MatrixD(atlas_.size, 3);
    for (std::int64_t r = 0; r < atlas_.size; ++r) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double v = table_.number(static_cast<std::size_t>(r), *columns[k]);
        if (!(std::abs(v) < 1e6)) {
          throw DataError({.what = "a coordinate is missing or no distance",
                           .where = fmt::format("{}:{}", table_.source, table_.lines[static_cast<std::size_t>(r)]),
                           .got = fmt::format("{}", v),
                           .expected = "a finite number in every row"});
        }
        atlas_.coordinates(r, static_cast<std::ptrdiff_t>(k)) = v;
      }
    }
  }

  void read_schaefer_names() {
    if (atlas_.names.empty() || !atlas_.networks.empty()) return;
    std::vector<std::string> networks, hemispheres;
    for (const std::string& n : atlas_.names) {
      std::smatch m;
      if (!std::regex_match(n, m, schaefer_pattern())) return;
      hemispheres.push_back(m[1].str().substr(0, 1));
      networks.push_back(m[2].str());
    }
    atlas_.networks = std::move(networks);
    if (atlas_.hemispheres.empty()) atlas_.hemispheres = std::move(hemispheres);
    atlas_.notes.emplace_back("networks and hemispheres from the names");
  }

  const Table& table_;
  Atlas atlas_;
  std::optional<std::size_t> name_column_;
};

// The name without its side, and the side.
std::pair<std::string, std::int32_t> mirror_key(const std::string& name) {
  std::string key, part;
  std::int32_t side = -1;
  const auto flush = [&] {
    const std::int32_t code = hemisphere_code(part);
    if (side < 0 && (code == 0 || code == 1)) {
      side = code;
    } else {
      key += part + "_";
    }
    part.clear();
  };
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ' || c == '.') {
      flush();
    } else {
      part += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  flush();
  return {key, side};
}

}  // namespace

Atlas read_atlas(const std::filesystem::path& path) {
  const Table table = read_table(path);
  return AtlasReader(table).read();
}

std::string plain_title(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c))) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> first(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(5, names.size())));
  return join(first, ", ") + (names.size() > 5 ? fmt::format(" and {} more", names.size() - 5) : "");
}

std::int32_t hemisphere_code(std::string_view text) {
  const std::string t = same_case(text);
  if (t.empty()) return -1;
  if (t == "l" || t == "lh" || t == "left") return 0;
  if (t == "r" || t == "rh" || t == "right") return 1;
  return 2;
}

std::vector<std::pair<std::int64_t, std::int64_t>> homotopic_pairs(const std::vector<std::string>& names,
                                                                   const std::vector<std::int32_t>& hemispheres) {
  // Schaefer's regions are numbered within a network and a hemisphere: neither their names nor their order mirror.
  if (std::any_of(names.begin(), names.end(), [](const auto& n) { return std::regex_match(n, schaefer_pattern()); }))
    return {};
  std::map<std::string, std::array<std::vector<std::int64_t>, 2>> sides;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [key, side] = mirror_key(names[i]);
    if (side >= 0) sides[key][static_cast<std::size_t>(side)].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const auto& [key, s] : sides) {
    if (s[0].size() == 1 && s[1].size() == 1) pairs.emplace_back(s[0][0], s[1][0]);
  }
  std::sort(pairs.begin(), pairs.end());
  if (!pairs.empty()) return pairs;
  const auto half = static_cast<std::int64_t>(hemispheres.size() / 2);
  if (half == 0 || hemispheres.size() % 2 != 0) return {};
  for (std::int64_t i = 0; i < half; ++i) {
    if (hemispheres[static_cast<std::size_t>(i)] != 0 || hemispheres[static_cast<std::size_t>(i + half)] != 1) return {};
    pairs.emplace_back(i, i + half);
  }
  return pairs;
}

}  // namespace locus
