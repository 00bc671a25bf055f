#include "io/cifti.h"

#include <fmt/core.h>

#include "core/error.h"
#include "io/file.h"
#include "io/nifti.h"

namespace locus {
namespace {

constexpr int kCiftiCode = 32;

}  // namespace

std::string_view cifti_kind_name(CiftiKind kind) {
  switch (kind) {
    case CiftiKind::kSeries:
      return "series";
    case CiftiKind::kParcels:
      return "parcels";
    case CiftiKind::kLabels:
      return "labels";
    case CiftiKind::kScalars:
      return "scalars";
    case CiftiKind::kBrainModels:
      return "brain models";
  }
  return "?";
}

const CiftiLabel* CiftiMap::find(std::int64_t key) const {
  for (const CiftiLabel& label : labels) {
    if (label.key == key) return &label;
  }
  return nullptr;
}

std::vector<std::string> CiftiAxis::names() const {
  std::vector<std::string> result;
  for (const CiftiParcel& p : parcels) result.push_back(p.name);
  for (const CiftiMap& m : maps) result.push_back(m.name);
  return result;
}

CiftiFile parse_cifti(ByteSpan bytes, std::string_view name, const ReadLimits& limits) {
  NiftiImage image = parse_nifti(bytes, name, limits);
  const NiftiExtension* extension = nullptr;
  for (const NiftiExtension& e : image.extensions) {
    if (e.code == kCiftiCode) extension = &e;
  }
  if (extension == nullptr) {
    throw IoError({.what = "a NIfTI image without CIFTI description",
                   .where = std::string(name),
                   .got = "shape " + shape_text(image.header.shape),
                   .expected = "a CIFTI-2 file (ptseries, pconn, dlabel, ...)",
                   .hint = "average the volume over the regions of an atlas first"});
  }
  std::vector<std::int64_t>& shape = image.header.shape;
  if (shape.size() < 5) shape.resize(5, 1);
  if (shape.size() == 5) shape.push_back(1);
  const bool plain = shape[0] == 1 && shape[1] == 1 && shape[2] == 1 && shape[3] == 1;
  if (!plain || shape.size() > 6) {
    throw IoError({.what = "only CIFTI matrices of two axes are supported",
                   .where = std::string(name),
                   .got = "dimensions " + shape_text(shape)});
  }
  if (extension->content.size() > limits.for_file(bytes.size()).header_bytes) {
    throw IoError({.what = "the CIFTI description is too large", .where = std::string(name)});
  }
  std::string_view xml = as_text(extension->content);
  while (!xml.empty() && xml.back() == '\0') xml.remove_suffix(1);
  auto axes = parse_cifti_xml(xml, name, {shape[4], shape[5]});
  CiftiFile file;
  file.columns = std::move(axes[0]);
  file.rows = std::move(axes[1]);
  // Dimension 0 runs fastest, so the file's order is row-major already.
  MatrixD matrix(shape[5], shape[4]);
  matrix.values() = std::move(image.values);
  file.values = std::move(matrix);
  return file;
}

CiftiFile read_cifti(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_cifti(read_file(path, limits.file_bytes), path.string(), limits);
}

}  // namespace locus
