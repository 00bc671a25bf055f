// A finished run as analyses see it: its models at several times as parameter arenas of one structure, and what is known
// of its tokens. Needs no data set: shape, coordinates and graph stand in the run directory.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "data/examples.h"
#include "model/structure.h"
#include "run/run_reader.h"

namespace locus {

struct AnalysisModel {
  std::string name;         // "init", "snapshots/10", "checkpoints/0000000120", "final"
  std::int64_t epoch = -1;  // of a snapshot
  std::filesystem::path file;
  AlignedBuffer<float> params;

  bool is_initial() const { return name == "init"; }
  bool is_snapshot() const { return epoch >= 0; }
};

struct AnalysisRun {
  std::filesystem::path path;
  RunConfig config;
  std::string data_hash;
  std::shared_ptr<const ModelStructure> structure;
  TokenInfo info;
  std::vector<AnalysisModel> models;                    // init, snapshots by epoch, then the trained one
  std::vector<std::pair<std::string, double>> outcome;  // last value of every metric

  std::int64_t tokens() const { return structure->shape.tokens; }  // without a CLS token
  const AnalysisModel* initial() const;
  const AnalysisModel* trained() const;          // final, or the newest checkpoint where there is none
  const AnalysisModel& require_initial() const;  // DataError that says how to get it
  const AnalysisModel& require_trained() const;
};

// Which models of a run to load.
struct LoadChoice {
  bool snapshots = true;
};

// `dataset` (may be null) stands in for what a run directory lacks. IoError, DataError or ConfigError.
AnalysisRun load_analysis_run(const std::filesystem::path& path, const Dataset* dataset = nullptr,
                              const LoadChoice& choice = {});

// For callers that have parameters in memory: no files are read.
AnalysisRun make_analysis_run(const RunConfig& config, const Dataset& dataset);
void add_model(AnalysisRun& run, const std::string& name, std::span<const float> params);

// Matrices of tokens x tokens from files ("name=file") become truths of the run beside its own. Rows are matched to tokens
// by name where the file has names (it may have more), else by index. ConfigError, IoError or DataError.
void add_truths(AnalysisRun& run, const std::vector<std::string>& matrices);
// The file of one "name=file".
std::filesystem::path truth_file(const std::string& assignment);

// Files of the models that load_analysis_run would read, for content hashes.
std::vector<std::filesystem::path> model_files(const RunReader& run, const LoadChoice& choice = {});

// The positions a layer adds to its input: (tokens, C), without a CLS token.
struct LayerCode {
  std::int64_t layer = 0;
  MatrixD code;
};
// One for each layer that has its own; DataError when the encoding adds no table.
std::vector<LayerCode> layer_codes(const AnalysisRun& run, const AnalysisModel& model);
// What was learned: each code minus the initial one of its layer, centred (mean of the rows removed). Layers that did not
// move or have no initial code are left out.
std::vector<LayerCode> code_changes(std::span<const LayerCode> codes, std::span<const LayerCode> initial);
bool adds_codes(const AnalysisRun& run);
// The layers of layer_codes: every layer with positions, or the first one when all share a table.
std::vector<std::int64_t> code_layers(const AnalysisRun& run);

// Matrices that a code may be compared with. Where the data state symmetries, a truth that they change is followed by
// "<name>_learnable": its mean over pairs of tokens that the task cannot tell apart.
struct Truth {
  std::string name;
  MatrixD matrix;  // (T, T)
};
std::vector<Truth> truths_of(const AnalysisRun& run);
// The sinusoid of the tokens' grid at the run's width (T, C); empty when coordinates are no grid.
MatrixD true_sinusoid(const AnalysisRun& run);
MatrixD coordinate_distance(const AnalysisRun& run);  // (T, T), empty without coordinates
std::vector<int> label_list(const AnalysisRun& run);  // empty without labels

MatrixD to_double(ConstMat m);

double norm_of(const MatrixD& m);  // Frobenius'

}  // namespace locus
