#include "run/dataset_info.h"

#include <span>

#include "core/error.h"
#include "core/json.h"
#include "io/safetensors.h"

namespace locus {
namespace {

constexpr std::string_view kTruthPrefix = "truth.";
constexpr const char* kGridKey = "coordinates_are_grid";

TensorView matrix_view(std::string name, const MatrixD& matrix) {
  return tensor_view<double>(std::move(name), {matrix.rows(), matrix.cols()}, matrix.values());
}

TensorView vector_view(std::string name, const std::vector<std::int32_t>& values) {
  return tensor_view<std::int32_t>(std::move(name), {static_cast<std::int64_t>(values.size())}, values);
}

std::string names_json(const std::vector<std::string>& names) { return Json(names).dump(); }

std::vector<std::string> names_of(const TensorFile& file, const char* key) {
  const auto it = file.metadata.find(key);
  if (it == file.metadata.end()) return {};
  const auto json = Json::parse(it->second);
  std::vector<std::string> names;
  for (const auto& name : json.is_array() ? json : Json::array({json})) {
    if (!name.is_string()) throw IoError({.what = std::string(key) + " is no list of texts", .where = file.source});
    names.push_back(name.get<std::string>());
  }
  return names;
}

MatrixD matrix_of(const Tensor& tensor, const TensorFile& file) {
  if (tensor.shape.size() != 2) {
    throw IoError(
        {.what = "tensor '" + tensor.name + "' is no matrix", .where = file.source, .got = shape_text(tensor.shape)});
  }
  MatrixD matrix(tensor.shape[0], tensor.shape[1]);
  matrix.values() = tensor.to_doubles();
  return matrix;
}

std::vector<std::int32_t> integers_of(const Tensor& tensor) {
  const auto values = tensor.as<std::int32_t>();
  return {values.begin(), values.end()};
}

std::vector<std::vector<std::int32_t>> permutations_of(const Tensor& tensor, const TensorFile& file) {
  const std::vector<std::int32_t> values = integers_of(tensor);
  std::vector<std::vector<std::int32_t>> out;
  if (tensor.shape.size() != 2) {
    throw IoError({.what = "symmetries are no matrix", .where = file.source, .got = shape_text(tensor.shape)});
  }
  const std::int64_t tokens = tensor.shape[1];
  for (std::int64_t g = 0; g < tensor.shape[0]; ++g)
    out.emplace_back(values.begin() + g * tokens, values.begin() + (g + 1) * tokens);
  return out;
}

}  // namespace

void write_dataset_info(const std::filesystem::path& file, const TokenInfo& info) {
  std::vector<TensorView> tensors;
  if (info.coordinates.rows() > 0) tensors.push_back(matrix_view("coordinates", info.coordinates));
  if (!info.labels.empty()) tensors.push_back(vector_view("labels", info.labels));
  if (!info.hemispheres.empty()) tensors.push_back(vector_view("hemispheres", info.hemispheres));
  if (info.graph.rows() > 0) tensors.push_back(matrix_view("graph", info.graph));
  for (const auto& [name, matrix] : info.truths) tensors.push_back(matrix_view(std::string(kTruthPrefix) + name, matrix));
  std::vector<std::int32_t> symmetries;
  for (const auto& permutation : info.symmetries)
    symmetries.insert(symmetries.end(), permutation.begin(), permutation.end());
  if (!symmetries.empty()) {
    const auto rows = static_cast<std::int64_t>(info.symmetries.size());
    tensors.push_back(tensor_view<std::int32_t>(
        "symmetries", {rows, static_cast<std::int64_t>(info.symmetries.front().size())}, symmetries));
  }
  TensorMetadata metadata;
  if (info.coordinates.rows() > 0) metadata[kGridKey] = info.coordinates_are_grid ? "true" : "false";
  if (!info.names.empty()) metadata["token_names"] = names_json(info.names);
  if (!info.label_names.empty()) metadata["label_names"] = names_json(info.label_names);
  write_safetensors(file, tensors, metadata);
}

TokenInfo read_dataset_info(const std::filesystem::path& path) {
  const TensorFile file = read_safetensors(path);
  TokenInfo info;
  info.names = names_of(file, "token_names");
  info.label_names = names_of(file, "label_names");
  if (const Tensor* t = file.find("coordinates")) info.coordinates = matrix_of(*t, file);
  const auto grid = file.metadata.find(kGridKey);
  info.coordinates_are_grid = grid == file.metadata.end() ? fills_grid(info.coordinates) : grid->second == "true";
  if (const Tensor* t = file.find("labels")) info.labels = integers_of(*t);
  if (const Tensor* t = file.find("hemispheres")) info.hemispheres = integers_of(*t);
  if (const Tensor* t = file.find("graph")) info.graph = matrix_of(*t, file);
  if (const Tensor* t = file.find("symmetries")) info.symmetries = permutations_of(*t, file);
  for (const Tensor& t : file.tensors) {
    if (t.name.starts_with(kTruthPrefix)) info.truths[t.name.substr(kTruthPrefix.size())] = matrix_of(t, file);
  }
  return info;
}

}  // namespace locus
