// CIFTI-2: matrices over brain parcels, grayordinates, time and maps, with the meaning of both axes from the XML.
// Orientation is the format's own: rows are matrix dimension 1, columns dimension 0 (a ptseries is parcels x time).
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "io/bytes.h"
#include "io/limits.h"

namespace locus {

enum class CiftiKind { kSeries, kParcels, kLabels, kScalars, kBrainModels };

struct CiftiLabel {
  std::int64_t key = 0;
  std::string name;
  std::array<double, 4> rgba{};  // 0..1
};

// One map of a scalar or label axis.
struct CiftiMap {
  std::string name;
  std::vector<CiftiLabel> labels;  // empty for scalars

  const CiftiLabel* find(std::int64_t key) const;
};

struct CiftiVertices {
  std::string structure;  // "CIFTI_STRUCTURE_CORTEX_LEFT"
  std::vector<std::int64_t> vertices;
};

struct CiftiParcel {
  std::string name;
  std::vector<CiftiVertices> surfaces;
  std::vector<std::array<std::int64_t, 3>> voxels;
};

// A run of brain-ordinates: `count` of them from `offset`, vertices of a surface or voxels.
struct CiftiBrainModel {
  std::string structure;
  bool surface = false;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t surface_vertices = 0;  // of the whole surface
  std::vector<std::int64_t> vertices;
  std::vector<std::array<std::int64_t, 3>> voxels;
};

struct CiftiSeries {
  double start = 0;
  double step = 0;  // with the exponent applied, in `unit`
  std::string unit;
};

struct CiftiAxis {
  CiftiKind kind = CiftiKind::kSeries;
  std::int64_t size = 0;
  CiftiSeries series;
  std::vector<CiftiParcel> parcels;
  std::vector<CiftiMap> maps;
  std::vector<CiftiBrainModel> brain_models;

  // Parcel or map names in file order; empty for series and brain-ordinates.
  std::vector<std::string> names() const;
};

std::string_view cifti_kind_name(CiftiKind kind);

struct CiftiFile {
  CiftiAxis rows;     // matrix dimension 1
  CiftiAxis columns;  // matrix dimension 0
  MatrixD values;
};

CiftiFile parse_cifti(ByteSpan bytes, std::string_view name, const ReadLimits& limits = {});
CiftiFile read_cifti(const std::filesystem::path& path, const ReadLimits& limits = {});

// Both axes from the XML alone: index 0 is the columns, 1 the rows. `shape` is checked against them.
std::array<CiftiAxis, 2> parse_cifti_xml(std::string_view xml, std::string_view name, std::array<std::int64_t, 2> shape);

}  // namespace locus
