// Between a model's arena and its files: the structure of a run's model, its tensors by name, the config.json beside them.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/matrix.h"
#include "data/examples.h"
#include "io/safetensors.h"
#include "model/structure.h"

namespace locus {

ModelShape model_shape(const Dataset& dataset);
PeData pe_data(const TokenInfo& info);

// The structure of a run's model for a data set; reads pe.file where pe.init = file.
ModelStructure structure_for(const RunConfig& config, const Dataset& dataset);

// pe.init = file with a stored model: each block's table from the tensor of its name, where there is one.
void load_given_tables(const ModelStructure& structure, float* params);

// config.json beside a model: nested configuration, "shape", "coordinates".
std::string model_config_json(const ModelStructure& structure, const Dataset& dataset);
// What it states. DataError, with `where`, when it does not.
struct StatedModel {
  ModelShape shape;
  MatrixD coordinates;  // may be empty
};
StatedModel read_model_config(const std::string& config_json, const std::string& where);

// Copies a stored model's tensors into an arena; IoError names what is missing, extra or of another shape.
void load_parameters(const ModelStructure& structure, const TensorFile& file, float* params);
std::vector<TensorView> parameter_views(const ModelStructure& structure, const float* params);

}  // namespace locus
