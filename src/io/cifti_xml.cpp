// The XML header of a CIFTI file: its two axes as series, parcels, maps or brain models.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <pugixml.hpp>

#include "core/error.h"
#include "core/text.h"
#include "io/cifti.h"
#include "io/dtype.h"

namespace locus {
namespace {

using pugi::xml_node;

constexpr std::int64_t kMaxAxis = std::int64_t{1} << 40;

[[noreturn]] void throw_cifti(std::string_view name, std::string what, std::string got = {}, std::string expected = {}) {
  throw IoError({.what = "damaged CIFTI description: " + std::move(what),
                 .where = std::string(name),
                 .got = std::move(got),
                 .expected = std::move(expected)});
}

template <class T>
std::optional<T> number_of(std::string_view text) {
  text = trim(text);
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t count_attribute(const xml_node& node, const char* attribute, std::string_view file) {
  const auto value = number_of<std::int64_t>(node.attribute(attribute).value());
  if (!value || *value < 0 || *value > kMaxAxis) {
    throw_cifti(file, fmt::format("{} of {} is no count", attribute, node.name()), node.attribute(attribute).value());
  }
  return *value;
}

std::vector<std::int64_t> index_list(const xml_node& node, std::string_view file) {
  std::vector<std::int64_t> values;
  const std::string_view text = node.child_value();
  std::size_t at = 0;
  while (true) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) return values;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (code != std::errc() || value < 0) throw_cifti(file, fmt::format("an index in {} is no number", node.name()));
    values.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
  }
}

std::vector<std::array<std::int64_t, 3>> voxel_list(const xml_node& node, std::string_view file) {
  const std::vector<std::int64_t> flat = index_list(node, file);
  if (flat.size() % 3 != 0) throw_cifti(file, "voxel indices do not come in threes");
  std::vector<std::array<std::int64_t, 3>> voxels;
  for (std::size_t i = 0; i < flat.size(); i += 3) voxels.push_back({flat[i], flat[i + 1], flat[i + 2]});
  return voxels;
}

void read_series(const xml_node& map, CiftiAxis& axis, std::string_view file) {
  axis.size = count_attribute(map, "NumberOfSeriesPoints", file);
  const auto start = number_of<double>(map.attribute("SeriesStart").value());
  const auto step = number_of<double>(map.attribute("SeriesStep").value());
  const auto exponent = number_of<int>(map.attribute("SeriesExponent").as_string("0"));
  if (!start || !step || !exponent || std::abs(*exponent) > 300)
    throw_cifti(file, "series start, step or exponent is no number");
  // Dividing by an exact power of ten rounds once: 720 with exponent -3 is 0.72.
  const double scale = std::pow(10.0, std::abs(*exponent));
  axis.series.start = *exponent < 0 ? *start / scale : *start * scale;
  axis.series.step = *exponent < 0 ? *step / scale : *step * scale;
  axis.series.unit = map.attribute("SeriesUnit").as_string("SECOND");
}

void read_parcels(const xml_node& map, CiftiAxis& axis, std::string_view file) {
  for (const xml_node& node : map.children("Parcel")) {
    CiftiParcel parcel;
    parcel.name = node.attribute("Name").value();
    for (const xml_node& v : node.children("Vertices")) {
      parcel.surfaces.push_back({v.attribute("BrainStructure").value(), index_list(v, file)});
    }
    if (const xml_node voxels = node.child("VoxelIndicesIJK")) parcel.voxels = voxel_list(voxels, file);
    axis.parcels.push_back(std::move(parcel));
  }
  axis.size = static_cast<std::int64_t>(axis.parcels.size());
}

void read_maps(const xml_node& map, CiftiAxis& axis, std::string_view file) {
  for (const xml_node& node : map.children("NamedMap")) {
    CiftiMap named;
    named.name = node.child("MapName").child_value();
    for (const xml_node& entry : node.child("LabelTable").children("Label")) {
      CiftiLabel label;
      const auto key = number_of<std::int64_t>(entry.attribute("Key").value());
      if (!key) throw_cifti(file, "a label's key is no number", entry.attribute("Key").value());
      label.key = *key;
      label.name = entry.child_value();
      const char* channels[] = {"Red", "Green", "Blue", "Alpha"};
      for (std::size_t i = 0; i < 4; ++i) {
        const auto value = number_of<double>(entry.attribute(channels[i]).value());
        if (!value) throw_cifti(file, "a label's colour is no number", entry.attribute(channels[i]).value());
        label.rgba[i] = *value;
      }
      named.labels.push_back(std::move(label));
    }
    axis.maps.push_back(std::move(named));
  }
  axis.size = static_cast<std::int64_t>(axis.maps.size());
}

void read_brain_models(const xml_node& map, CiftiAxis& axis, std::string_view file) {
  for (const xml_node& node : map.children("BrainModel")) {
    CiftiBrainModel model;
    model.structure = node.attribute("BrainStructure").value();
    model.surface = std::string_view(node.attribute("ModelType").value()) == "CIFTI_MODEL_TYPE_SURFACE";
    model.offset = count_attribute(node, "IndexOffset", file);
    model.count = count_attribute(node, "IndexCount", file);
    if (model.surface) {
      model.surface_vertices = count_attribute(node, "SurfaceNumberOfVertices", file);
      model.vertices = index_list(node.child("VertexIndices"), file);
    } else {
      model.voxels = voxel_list(node.child("VoxelIndicesIJK"), file);
    }
    const std::size_t listed = model.surface ? model.vertices.size() : model.voxels.size();
    if (static_cast<std::int64_t>(listed) != model.count || model.offset != axis.size) {
      throw_cifti(file, "a brain model does not fit its index list", model.structure);
    }
    axis.size += model.count;
    axis.brain_models.push_back(std::move(model));
  }
}

CiftiAxis read_axis(const xml_node& map, std::string_view file) {
  CiftiAxis axis;
  const std::string_view type = map.attribute("IndicesMapToDataType").value();
  if (type == "CIFTI_INDEX_TYPE_SERIES") {
    axis.kind = CiftiKind::kSeries;
    read_series(map, axis, file);
  } else if (type == "CIFTI_INDEX_TYPE_PARCELS") {
    axis.kind = CiftiKind::kParcels;
    read_parcels(map, axis, file);
  } else if (type == "CIFTI_INDEX_TYPE_LABELS" || type == "CIFTI_INDEX_TYPE_SCALARS") {
    axis.kind = type == "CIFTI_INDEX_TYPE_LABELS" ? CiftiKind::kLabels : CiftiKind::kScalars;
    read_maps(map, axis, file);
  } else if (type == "CIFTI_INDEX_TYPE_BRAIN_MODELS") {
    axis.kind = CiftiKind::kBrainModels;
    read_brain_models(map, axis, file);
  } else {
    throw_cifti(file, "unknown kind of axis", std::string(type));
  }
  return axis;
}

}  // namespace

std::array<CiftiAxis, 2> parse_cifti_xml(std::string_view xml, std::string_view name, std::array<std::int64_t, 2> shape) {
  pugi::xml_document document;
  const auto result = document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) throw_cifti(name, fmt::format("the XML is broken at byte {}: {}", result.offset, result.description()));
  const xml_node root = document.child("CIFTI");
  const std::string_view version = root.attribute("Version").value();
  if (!version.starts_with("2")) {
    throw IoError({.what = "not a CIFTI-2 file",
                   .where = std::string(name),
                   .got = "version '" + std::string(version) + "'",
                   .hint = "convert it with wb_command -file-convert -cifti-version-convert"});
  }
  std::array<std::optional<CiftiAxis>, 2> axes;
  for (const xml_node& map : root.child("Matrix").children("MatrixIndicesMap")) {
    const std::optional<CiftiAxis> axis = read_axis(map, name);
    for (const std::string& part : split(map.attribute("AppliesToMatrixDimension").value(), ',')) {
      const auto dimension = number_of<int>(part);
      if (!dimension || *dimension < 0 || *dimension > 1)
        throw_cifti(name, "an axis of an unknown dimension", part, "0 or 1");
      if (axes[static_cast<std::size_t>(*dimension)]) throw_cifti(name, "two axes for one dimension", part);
      axes[static_cast<std::size_t>(*dimension)] = axis;
    }
  }
  if (!axes[0] || !axes[1]) throw_cifti(name, "an axis is missing");
  for (std::size_t i = 0; i < 2; ++i) {
    if (axes[i]->size != shape[i]) {
      throw_cifti(name, fmt::format("the axis of {} does not fit the matrix", cifti_kind_name(axes[i]->kind)),
                  std::to_string(axes[i]->size), std::to_string(shape[i]));
    }
  }
  return {std::move(*axes[0]), std::move(*axes[1])};
}

}  // namespace locus
