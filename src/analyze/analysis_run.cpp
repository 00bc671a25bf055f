#include "analyze/analysis_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "config/load.h"
#include "config/sources.h"
#include "core/error.h"
#include "core/text.h"
#include "infer/model_files.h"
#include "io/array.h"
#include "run/checkpoint.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// The cells of a Latin square, for one, are known without a file.
void complete_coordinates(AnalysisRun& run, std::int64_t tokens) {
  TokenInfo& info = run.info;
  if (info.coordinates.rows() != tokens) {
    info.coordinates = MatrixD();
    info.coordinates_are_grid = false;
  }
  const SourceRow& source = source_of(run.config);
  if (info.coordinates.rows() != 0 || source.coordinates == nullptr) return;
  MatrixD known = source.coordinates(run.config);
  if (known.rows() != tokens) return;
  info.coordinates = std::move(known);
  info.coordinates_are_grid = source.grid;
}

// The shape a model's config.json states; coordinates in it go to the run when it has none.
ModelShape stated_shape(const LoadedModel& model, AnalysisRun& run) {
  StatedModel stated = read_model_config(model.config_json, model.path.string());
  if (run.info.coordinates.rows() == 0) {
    run.info.coordinates_are_grid = fills_grid(stated.coordinates);
    run.info.coordinates = std::move(stated.coordinates);
  }
  return stated.shape;
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
  PeData data = pe_data(run.info);
  data.given = std::move(given);
  run.structure = std::make_shared<const ModelStructure>(make_structure(run.config, shape, data));
}

AlignedBuffer<float> fill_arena(const ModelStructure& s, const LoadedModel& model) {
  AlignedBuffer<float> arena(static_cast<std::size_t>(s.layout.floats()));
  load_parameters(s, model.tensors, arena.data());
  return arena;
}

struct ChosenModel {
  const ModelEntry* entry;
  std::int64_t epoch;
};

std::vector<ChosenModel> choose_models(const RunReader& run, const LoadChoice& choice) {
  std::vector<ChosenModel> out;
  if (const ModelEntry* init = run.find_model(run_files::kInit)) out.push_back({init, -1});
  for (const ModelEntry& m : run.models()) {
    if (choice.snapshots && m.kind == ModelEntry::Kind::kSnapshot) out.push_back({&m, m.number});
  }
  const ModelEntry* best = run.best_model();
  if (best != nullptr && best->kind != ModelEntry::Kind::kInit) out.push_back({best, -1});
  return out;
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
  if (names.empty() || run.info.names.empty()) {
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
    const auto found = places.find(to_lower(trim(run.info.names[t])));
    if (found == places.end()) {
      throw DataError({.what = "a token of the run is not in the matrix",
                       .where = file.string(),
                       .got = run.info.names[t],
                       .expected = fmt::format("names such as {}", names.front())});
    }
    rows[t] = found->second;
  }
  return rows;
}

// What stands for a token with itself is never asked for.
void require_finite_pairs(const MatrixD& truth, const fs::path& file) {
  for (std::ptrdiff_t i = 0; i < truth.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < truth.cols(); ++j) {
      if (i == j || std::isfinite(truth(i, j))) continue;
      throw DataError({.what = "a pair of tokens has no value in the matrix",
                       .where = file.string(),
                       .got = fmt::format("{} for tokens {} and {}", truth(i, j), i + 1, j + 1),
                       .expected = "a number for every pair"});
    }
  }
}

}  // namespace

fs::path truth_file(const std::string& assignment) { return named_file(assignment).second; }

void add_truths(AnalysisRun& run, const std::vector<std::string>& matrices) {
  for (const std::string& assignment : matrices) {
    const auto [name, file] = named_file(assignment);
    if (run.info.truths.contains(name)) {
      throw ConfigError({.what = "the run knows a matrix of this name already",
                         .where = "matrices",
                         .got = assignment,
                         .expected = "another name",
                         .hint = fmt::format("for example --set matrices=my_{}", assignment)});
    }
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
    require_finite_pairs(truth, file);
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
                   .expected = fmt::format("{}/{}", run_files::kInit, run_files::kModel),
                   .hint = "locus train writes it at the start; train again into a new folder"});
}

const AnalysisModel& AnalysisRun::require_trained() const {
  if (const AnalysisModel* m = trained()) return *m;
  throw DataError({.what = "the run has no trained model",
                   .where = path.string(),
                   .expected = fmt::format("{}/{} or a checkpoint", run_files::kFinal, run_files::kModel),
                   .hint = "let the run finish: give locus train the same folder again to go on"});
}

std::vector<fs::path> model_files(const RunReader& run, const LoadChoice& choice) {
  std::vector<fs::path> out;
  for (const ChosenModel& m : choose_models(run, choice)) out.push_back(m.entry->path / run_files::kModel);
  return out;
}

AnalysisRun load_analysis_run(const fs::path& path, const Dataset* dataset, const LoadChoice& choice) {
  const RunReader reader(path);
  if (!reader.config()) {
    throw DataError({.what = "not a run directory that can be analysed",
                     .where = path.string(),
                     .got = join(reader.problems(), "; "),
                     .expected = "a configuration, and models from the start and the end",
                     .hint = "give the folder named after --out in training"});
  }
  AnalysisRun run;
  run.path = path;
  run.config = *reader.config();
  run.data_hash = reader.data_hash();
  if (reader.summary()) run.outcome = reader.summary()->values;
  if (run.outcome.empty()) run.outcome = reader.last_evaluation().value_or(MetricRow()).values;
  run.info = reader.tokens().value_or(dataset != nullptr ? dataset->tokens_info : TokenInfo());
  for (const ChosenModel& chosen : choose_models(reader, choice)) {
    const LoadedModel loaded = load_model_file(chosen.entry->path);
    if (!run.structure) {
      const ModelShape shape = dataset != nullptr ? model_shape(*dataset) : stated_shape(loaded, run);
      build_structure(run, shape, any_table(loaded.tensors));
    }
    run.models.push_back({chosen.entry->name, chosen.epoch, loaded.path, fill_arena(*run.structure, loaded)});
  }
  if (!run.structure) {
    throw DataError({.what = "the run has no models yet",
                     .where = path.string(),
                     .expected = "models from the start and the end",
                     .hint = "let locus train finish in this folder first"});
  }
  return run;
}

AnalysisRun make_analysis_run(const RunConfig& config, const Dataset& dataset) {
  AnalysisRun run;
  run.config = config;
  run.info = dataset.tokens_info;
  run.data_hash = dataset.hash;
  build_structure(run, model_shape(dataset), {});
  return run;
}

void add_model(AnalysisRun& run, const std::string& name, std::span<const float> params) {
  LOCUS_CHECK(static_cast<std::int64_t>(params.size()) == run.structure->layout.floats(), "arena of another layout");
  AnalysisModel m;
  m.name = name;
  if (is_snapshot(name)) m.epoch = number_of_name(name.substr(name.find('/') + 1)).value_or(0);
  m.params = AlignedBuffer<float>(params.size());
  std::copy(params.begin(), params.end(), m.params.data());
  run.models.push_back(std::move(m));
}

}  // namespace locus
