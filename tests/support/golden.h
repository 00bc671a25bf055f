// Golden files of tests/golden for tests: tensors, the batch and the configuration, ready for the oracle and the engine.
// Written by python/locus/make_golden.py; the tiny reader here trusts its own files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/json.h"
#include "kernels/reference/spec.h"
#include "tests/support/paths.h"

namespace locus::golden {

struct Tensor {
  std::string dtype;  // F32, F64, I64, U8
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  template <class To>
  std::vector<To> as() const {
    if (dtype == "F32") return convert<float, To>();
    if (dtype == "F64") return convert<double, To>();
    if (dtype == "I64") return convert<std::int64_t, To>();
    if (dtype == "U8") return convert<std::uint8_t, To>();
    throw std::runtime_error("golden file with dtype " + dtype);
  }

 private:
  template <class From, class To>
  std::vector<To> convert() const {
    std::vector<From> values(bytes.size() / sizeof(From));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(From));
    std::vector<To> converted;
    for (const From& v : values) converted.push_back(static_cast<To>(v));
    return converted;
  }
};

struct File {
  std::string name;  // "rotary_h1_full"
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  bool has(const std::string& tensor) const { return tensors.count(tensor) > 0; }
  const Tensor& at(const std::string& tensor) const {
    if (!has(tensor)) throw std::runtime_error(name + ": no tensor " + tensor);
    return tensors.at(tensor);
  }
  template <class T>
  std::vector<T> values(const std::string& tensor) const {
    return at(tensor).as<T>();
  }
  Json config() const { return Json::parse(metadata.at("config")); }
  // Tensors whose name starts with "param.", "grad." or "final.", by the rest of the name.
  template <class T>
  std::map<std::string, std::vector<T>> group(const std::string& prefix) const {
    std::map<std::string, std::vector<T>> found;
    for (const auto& [key, tensor] : tensors) {
      if (key.starts_with(prefix)) found[key.substr(prefix.size())] = tensor.template as<T>();
    }
    return found;
  }
};

inline File read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> blob((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (blob.size() < 8) throw std::runtime_error("cannot read " + path);
  std::uint64_t size = 0;
  std::memcpy(&size, blob.data(), 8);
  const Json header = Json::parse({blob.data() + 8, size});
  File file;
  file.name = std::filesystem::path(path).stem().string();
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") {
      file.metadata = entry.get<std::map<std::string, std::string>>();
      continue;
    }
    const auto begin = entry["data_offsets"][0].get<std::ptrdiff_t>(), end = entry["data_offsets"][1].get<std::ptrdiff_t>();
    const auto data = blob.begin() + 8 + static_cast<std::ptrdiff_t>(size);
    file.tensors[key] = {entry["dtype"].get<std::string>(), entry["shape"].get<std::vector<std::int64_t>>(),
                         std::vector<std::uint8_t>(data + begin, data + end)};
  }
  return file;
}

// Paths in tests/golden, sorted; `optimizers` picks the optim_* files, otherwise all the others.
inline std::vector<std::string> files(bool optimizers = false) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(locus::test::source_dir() + "/tests/golden")) {
    const bool optimizer = entry.path().stem().string().starts_with("optim_");
    if (entry.path().extension() == ".safetensors" && optimizer == optimizers) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline int index_of(const Json& value, const std::vector<std::string>& names) {
  const std::string& name = value.text();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::runtime_error("golden file with unknown value " + name);
  return static_cast<int>(found - names.begin());
}

// value = json[key], whatever the value's type.
template <class T>
void read(const Json& json, const char* key, T& value) {
  value = json[key].get<T>();
}

inline void fill_encoding(const Json& config, reference::Spec& spec) {
  const auto& pe = config["pe"];
  spec.pe = static_cast<reference::PeKind>(
      index_of(pe["kind"], {"none", "learned", "sinusoidal", "laplacian", "rotary", "relative", "t5", "alibi"}));
  spec.pe_input_only = pe["placement"] == "input";
  read(pe, "shared", spec.pe_shared);
  if (pe["positions"] != "index") spec.coordinates = config["coordinates"].get<std::vector<std::vector<double>>>();
  read(pe, "coord_scale", spec.coord_scale);
  read(pe, "base", spec.base);
  read(pe, "rotary_fraction", spec.rotary_fraction);
  read(pe, "max_distance", spec.max_distance);
  read(pe, "buckets", spec.buckets);
  read(pe, "value_term", spec.value_term);
}

// The oracle's description of a config.json with sections shape, model and pe.
inline reference::Spec spec_of(const Json& config) {
  const auto &shape = config["shape"], &model = config["model"];
  reference::Spec spec;
  read(shape, "tokens", spec.tokens);
  read(shape, "features", spec.features);
  read(shape, "outputs", spec.outputs);
  spec.task = static_cast<reference::Task>(index_of(shape["task"], {"classification", "regression"}));
  spec.embed_linear = model["embed"] == "linear";
  read(model, "width", spec.width);
  read(model, "layers", spec.layers);
  read(model, "heads", spec.heads);
  spec.mlp_width = model["mlp_width"].get<int>() > 0 ? model["mlp_width"].get<int>() : 4 * spec.width;
  spec.pre_norm = model["norm"] == "pre";
  read(model, "mlp_final_gelu", spec.mlp_final_gelu);
  spec.causal = model["attention_mask"] == "causal";
  read(model, "attention_bias", spec.attention_bias);
  read(model, "attention_output", spec.attention_output);
  read(model, "logit_scale", spec.logit_scale);
  spec.position_logit_scale = model.value("position_logit_scale", 1.0);
  spec.readout = static_cast<reference::Readout>(
      index_of(model["readout"], {"token", "given", "mean", "cls", "flat", "every", "masked"}));
  read(model, "readout_token", spec.readout_token);
  read(model, "head_hidden", spec.head_hidden);
  read(model, "output_gain", spec.output_gain);
  fill_encoding(config, spec);
  return spec;
}

// The batch of a case. For an optimiser file, batch number `which` along the first axis.
inline reference::Batch batch_of(const File& file, int which = -1) {
  reference::Batch batch;
  const auto take = [&](const std::string& name, auto& values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    if (!file.has("input." + name)) return;
    values = file.values<Value>("input." + name);
    const auto& shape = file.at("input." + name).shape;
    batch.examples = static_cast<int>(which < 0 ? shape[0] : shape[1]);
    if (which < 0) return;
    const auto size = static_cast<std::ptrdiff_t>(values.size()) / shape[0];
    values = std::decay_t<decltype(values)>(values.begin() + which * size, values.begin() + (which + 1) * size);
  };
  take("features", batch.features);
  take("ids", batch.ids);
  take("masked", batch.masked);
  take("read_token", batch.read_token);
  take("labels", batch.labels);
  take("targets", batch.targets);
  return batch;
}

}  // namespace locus::golden
