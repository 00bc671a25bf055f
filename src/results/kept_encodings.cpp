#include "results/kept_encodings.h"

#include <vector>

#include "io/safetensors.h"
#include "io/system.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

bool is_of_encoding(const std::string& tensor) {
  return tensor.starts_with("pe.") || tensor.find(".pe.") != std::string::npos;
}

void add_encoding(const ModelEntry& model, const char* when, std::vector<Tensor>& out) {
  for (Tensor& tensor : read_safetensors(model.path / run_files::kModel).tensors) {
    if (!is_of_encoding(tensor.name)) continue;
    tensor.name = std::string(when) + "." + tensor.name;
    out.push_back(std::move(tensor));
  }
}

}  // namespace

fs::path kept_encoding_file(const fs::path& kept_result) { return fs::path(kept_result).replace_extension(".safetensors"); }

void remove_kept_encoding(const fs::path& kept_result) {
  std::error_code code;
  fs::remove(kept_encoding_file(kept_result), code);
  if (code)
    throw_system_error("cannot remove an encoding that is none of this result", kept_encoding_file(kept_result),
                       code.value());
}

std::string keep_encoding(const RunReader& run, const fs::path& kept_result) {
  if (!run.config() || !run.config()->pe.is_trained()) return "";
  const ModelEntry *initial = run.find_model(run_files::kInit), *final = run.find_model(run_files::kFinal);
  if (initial == nullptr || final == nullptr) {
    return "its encoding is not kept: the models before and after training are not both there";
  }
  std::vector<Tensor> tensors;
  add_encoding(*initial, run_files::kInit, tensors);
  add_encoding(*final, run_files::kFinal, tensors);
  if (tensors.empty()) return "";
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  write_safetensors(kept_encoding_file(kept_result), views, {{"run", run.config_hash()}, {"data", run.data_hash()}});
  return "";
}

}  // namespace locus
