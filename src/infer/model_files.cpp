#include "infer/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "config/load.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/json.h"
#include "io/array.h"
#include "io/safetensors.h"

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

MatrixD matrix_of_json(const Json& rows) {
  MatrixD m(static_cast<std::int64_t>(rows.size()), rows.empty() ? 0 : static_cast<std::int64_t>(rows.front().size()));
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.cols(); ++j) m(i, j) = rows.at(i).at(j).get<double>();
  }
  return m;
}

}  // namespace

ModelShape model_shape(const Dataset& dataset) {
  ModelShape shape;
  shape.tokens = dataset.tokens;
  shape.features = dataset.features;
  shape.outputs = dataset.outputs;
  shape.ids = !dataset.splits.empty() && !dataset.splits.front().second.ids.empty();
  shape.regression = task_row(dataset.task).loss == LossKind::kSquaredError;
  shape.missing = std::any_of(dataset.splits.begin(), dataset.splits.end(),
                              [](const auto& split) { return !split.second.missing.empty(); });
  return shape;
}

PeData pe_data(const TokenInfo& info) {
  PeData data;
  data.coordinates = info.coordinates;
  data.graph = info.graph;
  return data;
}

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
  PeData data = pe_data(dataset.tokens_info);
  const ModelShape shape = model_shape(dataset);
  if (config.pe.init == PeInit::kFile) {
    const std::int64_t tokens = shape.tokens + (config.model.readout == Readout::kCls ? 1 : 0);
    data.given = read_table(config.pe.file, tokens, config.model.width, dataset.tokens_info.names);
  }
  return make_structure(config, shape, data);
}

std::string model_config_json(const ModelStructure& s, const Dataset& dataset) {
  Json json = to_json(s.config);
  json["shape"] = {{"tokens", s.shape.tokens},
                   {"features", s.shape.features},
                   {"outputs", s.shape.outputs},
                   {"ids", s.shape.ids},
                   {"task", s.shape.regression ? "regression" : "classification"}};
  if (s.shape.missing) json["shape"]["missing"] = true;
  if (s.config.pe.positions != PePositions::kIndex) {
    Json rows = Json::array();
    const MatrixD& c = dataset.tokens_info.coordinates;
    for (std::int64_t t = 0; t < c.rows(); ++t) rows.push_back(std::vector<double>(c.row(t).begin(), c.row(t).end()));
    json["coordinates"] = rows;
  }
  json.sort_keys();
  return json.dump(1);
}

StatedModel read_model_config(const std::string& config_json, const std::string& where) {
  const auto json = Json::parse(config_json);
  if (!json.is_object() || !json.contains("shape")) {
    throw DataError({.what = "the configuration beside the model does not state its shape",
                     .where = where,
                     .expected = "\"shape\": {\"tokens\", \"features\", \"outputs\", \"task\"}",
                     .hint = "analyse a folder that locus train wrote"});
  }
  try {
    const auto& shape = json.at("shape");
    StatedModel out;
    out.shape.tokens = shape.at("tokens").get<std::int64_t>();
    out.shape.features = shape.at("features").get<std::int64_t>();
    out.shape.outputs = shape.at("outputs").get<std::int64_t>();
    out.shape.regression = shape.at("task") == "regression";
    // Before the shape said so, ids were what a classifier read, values what was predicted.
    out.shape.ids = shape.value("ids", !out.shape.regression);
    out.shape.missing = shape.value("missing", false);
    if (json.contains("coordinates")) out.coordinates = matrix_of_json(json["coordinates"]);
    return out;
  } catch (const IoError& e) {
    throw DataError(
        {.what = "the shape in the configuration beside the model cannot be read", .where = where, .got = e.what()});
  }
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

}  // namespace locus
