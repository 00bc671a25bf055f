// Between a model's arena and its files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "config/load.h"
#include "core/error.h"
#include "io/array.h"
#include "io/safetensors.h"
#include "train/trainer.h"

namespace locus {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

// Rows that a file names as the tokens are called, in the tokens' order; other files go by row.
void order_rows(NamedMatrix& m, const std::vector<std::string>& names, const std::string& path) {
  if (m.row_names.size() != names.size() || m.row_names == names) return;
  std::map<std::string, std::ptrdiff_t> rows;
  for (std::size_t i = 0; i < m.row_names.size(); ++i) rows[m.row_names[i]] = static_cast<std::ptrdiff_t>(i);
  std::vector<std::string> unknown;
  for (const std::string& n : names) {
    if (!rows.contains(n)) unknown.push_back(n);
  }
  if (unknown.size() == names.size()) return;
  if (!unknown.empty() || rows.size() != names.size()) {
    throw DataError({.what = "the table for pe.init = file names other tokens, or one of them twice",
                     .where = path,
                     .got = fmt::format("no row for {}", unknown.empty() ? "every token" : unknown.front()),
                     .expected = fmt::format("a row for each of {} tokens", names.size())});
  }
  MatrixD ordered(m.values.rows(), m.values.cols());
  for (std::size_t t = 0; t < names.size(); ++t)
    std::copy_n(m.values.row(rows.at(names[t])).begin(), m.values.cols(),
                ordered.row(static_cast<std::ptrdiff_t>(t)).begin());
  m.values = std::move(ordered);
}

// A table for pe.init = file: the only matrix of an npy file, or a safetensors tensor (T, C).
std::vector<float> read_table(const std::string& path, std::int64_t tokens, std::int64_t width,
                              const std::vector<std::string>& names) {
  std::vector<double> values;
  if (path.ends_with(".safetensors")) {
    const TensorFile file = read_safetensors(path);
    const std::vector<std::int64_t> wanted = {tokens, width};
    for (const Tensor& t : file.tensors) {
      if (t.shape == wanted && t.name.ends_with("table")) {
        values = t.to_doubles();
        break;
      }
    }
    if (values.empty()) {
      throw DataError({.what = "no position table of the right shape in the file",
                       .where = path,
                       .got = fmt::format("{} tensors", file.tensors.size()),
                       .expected = fmt::format("a tensor *table of shape ({}, {})", tokens, width)});
    }
  } else {
    NamedMatrix m = read_matrix(path, {});
    if (m.values.rows() != tokens || m.values.cols() != width) {
      throw DataError({.what = "the table for pe.init = file has the wrong shape",
                       .where = path,
                       .got = fmt::format("({}, {})", m.values.rows(), m.values.cols()),
                       .expected = fmt::format("({}, {})", tokens, width)});
    }
    order_rows(m, names, path);
    values = m.values.values();
  }
  for (const double v : values) {
    if (!std::isfinite(v)) throw DataError({.what = "the table for pe.init = file holds NaN or Inf", .where = path});
  }
  return {values.begin(), values.end()};
}

}  // namespace

void load_given_tables(const ModelStructure& s, float* params) {
  const PeConfig& pe = s.config.pe;
  if (pe.init != PeInit::kFile || !pe.file.ends_with(".safetensors")) return;
  const TensorFile file = read_safetensors(pe.file);
  for (const TensorSlot& slot : s.layout.slots()) {
    const Tensor* t = slot.name.ends_with("pe.table") ? file.find(slot.name) : nullptr;
    if (t == nullptr || t->shape != slot.shape) continue;
    const std::span<const float> values = t->as<float>();
    std::copy(values.begin(), values.end(), params + slot.offset);
  }
}

ModelStructure structure_for(const RunConfig& config, const Dataset& dataset) {
  PeData data = pe_data(dataset);
  const ModelShape shape = model_shape(dataset);
  if (config.pe.init == PeInit::kFile) {
    const std::int64_t tokens = shape.tokens + (config.model.readout == Readout::kCls ? 1 : 0);
    data.given = read_table(config.pe.file, tokens, config.model.width, dataset.tokens_info.names);
  }
  return make_structure(config, shape, data);
}

std::string model_config_json(const ModelStructure& s, const Dataset& dataset) {
  nlohmann::json json = to_json(s.config);
  json["shape"] = {{"tokens", s.shape.tokens},
                   {"features", s.shape.features},
                   {"outputs", s.shape.outputs},
                   {"task", s.shape.regression ? "regression" : "classification"}};
  if (s.config.pe.positions != PePositions::kIndex) {
    nlohmann::json rows = nlohmann::json::array();
    const MatrixD& c = dataset.tokens_info.coordinates;
    for (std::int64_t t = 0; t < c.rows(); ++t) rows.push_back(std::vector<double>(c.row(t).begin(), c.row(t).end()));
    json["coordinates"] = rows;
  }
  return json.dump(1);
}

std::vector<TensorView> parameter_views(const ModelStructure& s, const float* params) {
  std::vector<TensorView> views;
  for (const TensorSlot& slot : s.layout.slots()) {
    views.push_back(
        tensor_view<float>(slot.name, slot.shape, std::span(params + slot.offset, static_cast<std::size_t>(slot.size))));
  }
  return views;
}

void load_parameters(const ModelStructure& s, const TensorFile& file, float* params) {
  std::set<std::string> known;
  for (const TensorSlot& slot : s.layout.slots()) {
    const Tensor& t = file.at(slot.name);
    if (t.shape != slot.shape) {
      throw IoError({.what = "tensor " + slot.name + " has another shape than the configuration gives it",
                     .where = file.source,
                     .got = shape_text(t.shape),
                     .expected = shape_text(slot.shape)});
    }
    const std::span<const float> values = t.as<float>();
    std::copy(values.begin(), values.end(), params + slot.offset);
    known.insert(slot.name);
  }
  for (const Tensor& t : file.tensors) {
    if (!known.contains(t.name)) throw IoError({.what = "unexpected tensor " + t.name, .where = file.source});
  }
}

DatasetInfo dataset_info(const Dataset& dataset) {
  const TokenInfo& t = dataset.tokens_info;
  DatasetInfo info;
  info.token_names = t.names;
  info.labels = t.labels;
  info.label_names = t.label_names;
  info.hemispheres = t.hemispheres;
  info.coordinates = t.coordinates;
  info.graph = t.graph;
  info.truths = t.truths;
  return info;
}

}  // namespace locus
