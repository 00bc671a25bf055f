#include "io/axis_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "io/file.h"
#include "io/hdf5.h"
#include "io/mat.h"

namespace locus {
namespace {

// What an array of names is called, ids before, in any case and with any punctuation, alone or before "names" and "ids".
constexpr std::array<std::string_view, 18> kThings = {"",          "region", "roi",     "parcel", "channel", "ch",
                                                      "electrode", "sensor", "gene",    "token",  "column",  "col",
                                                      "variable",  "var",    "feature", "node",   "neuron",  "label"};

bool is_title(std::string_view name) {
  std::string title;
  for (const char c : name.substr(name.rfind('/') + 1)) {
    if (std::isalnum(static_cast<unsigned char>(c))) title += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view thing : kThings) {
    const std::string t(thing);
    if (title == t + "name" || title == t + "names") return true;
    // Bare ids are as often those of the samples.
    if (!t.empty() && (title == t + "id" || title == t + "ids" || title == t + "s")) return true;
  }
  return title == "block0items";  // pandas
}

bool is_text_type(const std::string& type) {
  return type == "text" || type == "cell" || type.find('U') != std::string::npos || type.find('S') != std::string::npos;
}

std::vector<std::string> numbers_of(const ArrayEntry& e, const std::filesystem::path& path, const ReadLimits& limits) {
  std::vector<std::string> out;
  for (const double v : read_array(path, {.dataset = e.name, .limits = limits}).values) {
    if (v != std::floor(v) || std::abs(v) > 9e15) return {};
    out.push_back(fmt::format("{:.0f}", v));
  }
  return out;
}

}  // namespace

std::vector<std::string> read_texts(const std::filesystem::path& path, const std::string& array, const ReadLimits& limits) {
  switch (detect_format(path)) {
    case FileFormat::kNpz:
      return parse_npz_texts(read_file(path, limits.file_bytes), path.string(), array, limits);
    case FileFormat::kHdf5:
      return read_hdf5_texts(path, array, limits);
    case FileFormat::kMat:
      return read_mat_texts(path, array, limits);
    default:
      return {};
  }
}

void name_axes(NamedMatrix& matrix, const std::filesystem::path& path, const ReadLimits& limits) {
  const std::int64_t rows = matrix.values.rows(), columns = matrix.values.cols();
  for (const bool text : {true, false}) {
    for (const ArrayEntry& e : list_arrays(path, limits)) {
      const auto count = checked_product(e.shape);
      const auto longer = std::count_if(e.shape.begin(), e.shape.end(), [](std::int64_t n) { return n > 1; });
      if (e.name == matrix.dataset || !is_title(e.name) || is_text_type(e.type) != text || !count || longer != 1) continue;
      const auto size = static_cast<std::int64_t>(*count);
      if ((size != rows || !matrix.row_names.empty()) && (size != columns || !matrix.column_names.empty())) continue;
      const std::vector<std::string> names = text ? read_texts(path, e.name, limits) : numbers_of(e, path, limits);
      if (static_cast<std::int64_t>(names.size()) != size) continue;
      if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) continue;
      if (size == rows && matrix.row_names.empty()) matrix.row_names = names;
      if (size == columns && matrix.column_names.empty()) matrix.column_names = names;
    }
  }
}

}  // namespace locus
