#include "run/dataset_info.h"

#include <nlohmann/json.hpp>
#include <span>

#include "core/error.h"
#include "io/safetensors.h"

namespace locus {
namespace {

constexpr std::string_view kTruthPrefix = "truth.";

TensorView matrix_view(std::string name, const MatrixD& matrix) {
  return tensor_view<double>(std::move(name), {matrix.rows(), matrix.cols()}, matrix.values());
}

TensorView vector_view(std::string name, const std::vector<std::int32_t>& values) {
  return tensor_view<std::int32_t>(std::move(name), {static_cast<std::int64_t>(values.size())}, values);
}

std::string names_json(const std::vector<std::string>& names) {
  return nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> names_of(const TensorFile& file, const char* key) {
  const auto it = file.metadata.find(key);
  if (it == file.metadata.end()) return {};
  const auto json = nlohmann::json::parse(it->second, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> names;
  for (const auto& name : json.is_array() ? json : nlohmann::json::array({json})) {
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

}  // namespace

void write_dataset_info(const std::filesystem::path& file, const DatasetInfo& info) {
  std::vector<TensorView> tensors;
  if (info.coordinates.rows() > 0) tensors.push_back(matrix_view("coordinates", info.coordinates));
  if (!info.labels.empty()) tensors.push_back(vector_view("labels", info.labels));
  if (!info.hemispheres.empty()) tensors.push_back(vector_view("hemispheres", info.hemispheres));
  if (info.graph.rows() > 0) tensors.push_back(matrix_view("graph", info.graph));
  for (const auto& [name, matrix] : info.truths) tensors.push_back(matrix_view(std::string(kTruthPrefix) + name, matrix));
  TensorMetadata metadata;
  if (!info.token_names.empty()) metadata["token_names"] = names_json(info.token_names);
  if (!info.label_names.empty()) metadata["label_names"] = names_json(info.label_names);
  write_safetensors(file, tensors, metadata);
}

DatasetInfo read_dataset_info(const std::filesystem::path& path) {
  const TensorFile file = read_safetensors(path);
  DatasetInfo info;
  info.token_names = names_of(file, "token_names");
  info.label_names = names_of(file, "label_names");
  if (const Tensor* t = file.find("coordinates")) info.coordinates = matrix_of(*t, file);
  if (const Tensor* t = file.find("labels")) info.labels = integers_of(*t);
  if (const Tensor* t = file.find("hemispheres")) info.hemispheres = integers_of(*t);
  if (const Tensor* t = file.find("graph")) info.graph = matrix_of(*t, file);
  for (const Tensor& t : file.tensors) {
    if (t.name.starts_with(kTruthPrefix)) info.truths[t.name.substr(kTruthPrefix.size())] = matrix_of(t, file);
  }
  return info;
}

}  // namespace locus
