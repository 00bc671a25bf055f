#include "analyze/analysis_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "config/load.h"
#include "core/error.h"
#include "core/text.h"
#include "io/array.h"
#include "run/checkpoint.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

DatasetInfo info_of(const Dataset& dataset) {
  const TokenInfo& t = dataset.tokens_info;
  return {.token_names = t.names,
          .labels = t.labels,
          .label_names = t.label_names,
          .hemispheres = t.hemispheres,
          .coordinates = t.coordinates,
          .graph = t.graph,
          .truths = t.truths};
}

MatrixD square_grid(std::int64_t n) {
  MatrixD out(n * n, 2);
  for (std::int64_t t = 0; t < n * n; ++t) {
    out(t, 0) = static_cast<double>(t / n);
    out(t, 1) = static_cast<double>(t % n);
  }
  return out;
}

bool whole_numbers(const MatrixD& m) {
  return std::all_of(m.values().begin(), m.values().end(), [](double v) { return v == std::round(v); });
}

// Grids have whole coordinates on at most two axes; those of a Latin square are known without a file.
void complete_coordinates(AnalysisRun& run, std::int64_t tokens) {
  MatrixD& c = run.info.coordinates;
  if (c.rows() != tokens) c = MatrixD();
  if (c.rows() == 0 && run.config.study == Study::kLst && run.config.lst.n * run.config.lst.n == tokens) {
    c = square_grid(run.config.lst.n);
  }
  run.coordinates_are_grid = c.rows() == tokens && c.cols() <= 2 && whole_numbers(c);
}

MatrixD matrix_of_json(const nlohmann::json& rows) {
  MatrixD m(static_cast<std::int64_t>(rows.size()), rows.empty() ? 0 : static_cast<std::int64_t>(rows.front().size()));
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.cols(); ++j)
      m(i, j) = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
  }
  return m;
}

// The shape a model's config.json states; coordinates in it go to the run when it has none.
ModelShape shape_of_json(const LoadedModel& model, AnalysisRun& run) {
  const auto json = nlohmann::json::parse(model.config_json, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("shape")) {
    throw DataError({.what = "the model's config.json does not state its shape",
                     .where = model.path.string(),
                     .expected = "\"shape\": {\"tokens\", \"features\", \"outputs\", \"task\"}",
                     .hint = "analyse a folder that locus train wrote"});
  }
  try {
    const auto& shape = json.at("shape");
    if (json.contains("coordinates") && run.info.coordinates.rows() == 0) {
      run.info.coordinates = matrix_of_json(json["coordinates"]);
    }
    ModelShape out;
    out.tokens = shape.at("tokens");
    out.features = shape.at("features");
    out.outputs = shape.at("outputs");
    out.regression = shape.at("task") == "regression";
    out.ids = shape.value("ids", run.config.study == Study::kLst);
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw DataError(
        {.what = "the shape in the model's config.json cannot be read", .where = model.path.string(), .got = e.what()});
  }
}

ModelShape shape_of(const Dataset& dataset) {
  ModelShape out;
  out.tokens = dataset.tokens;
  out.features = dataset.features;
  out.outputs = dataset.outputs;
  out.regression = dataset.task == Task::kRegression;
  out.ids = !dataset.splits.empty() && !dataset.splits.front().second.ids.empty();
  return out;
}

// pe.init = file asks for the table; any model's own serves, since the arena is filled from the model anyway.
std::vector<float> any_table(const TensorFile& tensors) {
  for (const Tensor& t : tensors.tensors) {
    if (t.name.ends_with("pe.table")) return {t.as<float>().begin(), t.as<float>().end()};
  }
  return {};
}

void build_structure(AnalysisRun& run, const ModelShape& shape, std::vector<float> given) {
  complete_coordinates(run, shape.tokens);
  PeData data;
  data.coordinates = run.info.coordinates;
  data.graph = run.info.graph;
  data.given = std::move(given);
  run.structure = std::make_shared<const ModelStructure>(make_structure(run.config, shape, data));
}

AlignedBuffer<float> fill_arena(const ModelStructure& s, const LoadedModel& model) {
  AlignedBuffer<float> arena(static_cast<std::size_t>(s.layout.floats()));
  for (const TensorSlot& slot : s.layout.slots()) {
    const Tensor& tensor = model.tensors.at(slot.name);
    tensor.require_shape(slot.shape);
    const auto values = tensor.as<float>();
    std::copy(values.begin(), values.end(), arena.data() + slot.offset);
  }
  return arena;
}

struct ChosenModel {
  const ModelEntry* entry;
  std::int64_t epoch;
};

std::vector<ChosenModel> choose_models(const RunRecord& record, const LoadChoice& choice) {
  std::vector<ChosenModel> out;
  if (const ModelEntry* init = record.find_model(run_files::kInit)) out.push_back({init, -1});
  for (const ModelEntry& m : record.models) {
    if (choice.snapshots && m.kind == ModelEntry::Kind::kSnapshot) out.push_back({&m, m.number});
  }
  const ModelEntry* best = record.best_model();
  if (best != nullptr && best->kind != ModelEntry::Kind::kInit) out.push_back({best, -1});
  return out;
}

void read_info(AnalysisRun& run, const Dataset* dataset) {
  const fs::path file = run.path / run_files::kDataset;
  std::error_code code;
  if (fs::exists(file, code)) {
    run.info = read_dataset_info(file);
  } else if (dataset != nullptr) {
    run.info = info_of(*dataset);
  }
}

std::pair<std::string, fs::path> named_file(const std::string& assignment) {
  const std::size_t sign = assignment.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == assignment.size()) {
    throw ConfigError({.what = "a matrix needs a name and a file",
                       .where = "matrices",
                       .got = assignment,
                       .expected = "name=file",
                       .hint = "for example --set matrices=published=group.pconn.nii"});
  }
  return {assignment.substr(0, sign), fs::path(assignment.substr(sign + 1))};
}

// For each token its place among the names of an axis of the file.
std::vector<std::int64_t> places_of_tokens(const AnalysisRun& run, const NamedMatrix& matrix,
                                           const std::vector<std::string>& names, const fs::path& file) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(run.tokens()));
  std::iota(rows.begin(), rows.end(), 0);
  if (names.empty() || run.info.token_names.empty()) {
    if (matrix.values.rows() == run.tokens()) return rows;
    throw DataError({.what = "the matrix and the run have different numbers of tokens",
                     .where = file.string(),
                     .got = fmt::format("{} rows without names", matrix.values.rows()),
                     .expected = fmt::format("{}", run.tokens()),
                     .hint = "a file with names of the regions may hold more"});
  }
  std::map<std::string, std::int64_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (places.emplace(to_lower(trim(names[i])), static_cast<std::int64_t>(i)).second) continue;
    throw DataError({.what = "a name stands twice in the matrix", .where = file.string(), .got = names[i]});
  }
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const auto found = places.find(to_lower(trim(run.info.token_names[t])));
    if (found == places.end()) {
      throw DataError({.what = "a token of the run is not in the matrix",
                       .where = file.string(),
                       .got = run.info.token_names[t],
                       .expected = fmt::format("names such as {}", names.front())});
    }
    rows[t] = found->second;
  }
  return rows;
}

}  // namespace

fs::path truth_file(const std::string& assignment) { return named_file(assignment).second; }

void add_truths(AnalysisRun& run, const std::vector<std::string>& matrices) {
  for (const std::string& assignment : matrices) {
    const auto [name, file] = named_file(assignment);
    const NamedMatrix matrix = read_matrix(file);
    if (matrix.values.rows() != matrix.values.cols()) {
      throw DataError({.what = "a matrix of tokens x tokens is square",
                       .where = file.string(),
                       .got = fmt::format("{} x {}", matrix.values.rows(), matrix.values.cols())});
    }
    // Rows and columns may stand in different orders.
    const auto& row_names = matrix.row_names.empty() ? matrix.column_names : matrix.row_names;
    const auto& column_names = matrix.column_names.empty() ? matrix.row_names : matrix.column_names;
    const std::vector<std::int64_t> rows = places_of_tokens(run, matrix, row_names, file);
    const std::vector<std::int64_t> columns = places_of_tokens(run, matrix, column_names, file);
    MatrixD truth(run.tokens(), run.tokens());
    for (std::int64_t i = 0; i < run.tokens(); ++i) {
      for (std::int64_t j = 0; j < run.tokens(); ++j)
        truth(i, j) = matrix.values(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    }
    run.info.truths[name] = std::move(truth);
  }
}

const AnalysisModel* AnalysisRun::initial() const {
  const auto it = std::find_if(models.begin(), models.end(), [](const AnalysisModel& m) { return m.is_initial(); });
  return it == models.end() ? nullptr : &*it;
}

const AnalysisModel* AnalysisRun::trained() const {
  if (models.empty() || models.back().is_initial() || models.back().is_snapshot()) return nullptr;
  return &models.back();
}

const AnalysisModel& AnalysisRun::require_initial() const {
  if (const AnalysisModel* m = initial()) return *m;
  throw DataError({.what = "the run has no model at initialisation",
                   .where = path.string(),
                   .expected = "init/model.safetensors",
                   .hint = "locus train writes it at the start; train again into a new folder"});
}

const AnalysisModel& AnalysisRun::require_trained() const {
  if (const AnalysisModel* m = trained()) return *m;
  throw DataError({.what = "the run has no trained model",
                   .where = path.string(),
                   .expected = "final/model.safetensors or a checkpoint",
                   .hint = "let the run finish: give locus train the same folder again to go on"});
}

std::vector<fs::path> model_files(const RunRecord& record, const LoadChoice& choice) {
  std::vector<fs::path> out;
  for (const ChosenModel& m : choose_models(record, choice)) out.push_back(m.entry->path / run_files::kModel);
  return out;
}

AnalysisRun load_analysis_run(const fs::path& path, const Dataset* dataset, const LoadChoice& choice) {
  const RunRecord record = read_run(path);
  if (!record.config) {
    throw DataError({.what = "not a run directory that can be analysed",
                     .where = path.string(),
                     .got = record.problems.empty() ? "no config.toml" : record.problems.front(),
                     .expected = "config.toml, init/ and final/",
                     .hint = "give the folder named after --out in training"});
  }
  AnalysisRun run;
  run.path = path;
  run.config = *record.config;
  run.data_hash = record.data_hash;
  if (record.summary) run.outcome = record.summary->values;
  if (run.outcome.empty() && !record.metrics.rows.empty()) run.outcome = record.metrics.rows.back().values;
  read_info(run, dataset);
  for (const ChosenModel& chosen : choose_models(record, choice)) {
    const LoadedModel loaded = load_model_file(chosen.entry->path);
    if (!run.structure) {
      const ModelShape shape = dataset != nullptr ? shape_of(*dataset) : shape_of_json(loaded, run);
      build_structure(run, shape, any_table(loaded.tensors));
    }
    run.models.push_back({chosen.entry->name, chosen.epoch, loaded.path, fill_arena(*run.structure, loaded)});
  }
  if (!run.structure) {
    throw DataError({.what = "the run has no models yet",
                     .where = path.string(),
                     .expected = "init/ and final/",
                     .hint = "let locus train finish in this folder first"});
  }
  return run;
}

AnalysisRun make_analysis_run(const RunConfig& config, const Dataset& dataset) {
  AnalysisRun run;
  run.config = config;
  run.info = info_of(dataset);
  run.data_hash = dataset.hash;
  build_structure(run, shape_of(dataset), {});
  return run;
}

void add_model(AnalysisRun& run, const std::string& name, std::span<const float> params) {
  LOCUS_CHECK(static_cast<std::int64_t>(params.size()) == run.structure->layout.floats(), "arena of another layout");
  AnalysisModel m;
  m.name = name;
  constexpr std::string_view kPrefix = "snapshots/";
  if (name.starts_with(kPrefix)) m.epoch = number_of_name(name.substr(kPrefix.size())).value_or(0);
  m.params = AlignedBuffer<float>(params.size());
  std::copy(params.begin(), params.end(), m.params.data());
  run.models.push_back(std::move(m));
}

}  // namespace locus
