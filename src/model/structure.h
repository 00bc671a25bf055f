// The model as indices into its layout: which tensor is the second block's out-projection, and so on. Built once.
#pragma once

#include <memory>
#include <vector>

#include "config/run_config.h"
#include "core/matrix.h"
#include "model/layout.h"
#include "model/pe/encoding.h"

namespace locus {

// What the data decides about a model.
struct ModelShape {
  std::int64_t tokens = 0;  // without a CLS token
  std::int64_t features = 0;
  std::int64_t outputs = 0;
  bool ids = false;  // tokens are ids, else values
  bool regression = false;
  bool missing = false;  // some tokens of some examples have no value
};

struct Linear {
  std::int64_t weight = -1;  // (out, in)
  std::int64_t bias = -1;    // -1: none
  std::int64_t in = 0;
  std::int64_t out = 0;
};

struct BlockSlots {
  std::int64_t in_weight = -1;  // (3C, C): queries, keys, values
  std::int64_t in_bias = -1;
  Linear out_proj;  // weight -1: none
  Linear mlp_up, mlp_down;
  std::int64_t norm1_weight = -1, norm1_bias = -1, norm2_weight = -1, norm2_bias = -1;
  std::vector<std::int64_t> pe;  // tensors of the encoding acting here, in its order
  bool has_pe = false;
};

struct ModelStructure {
  RunConfig config;
  ModelShape shape;
  std::int64_t tokens = 0;  // T, a CLS token included
  ParamLayout layout;
  std::shared_ptr<const Encoding> encoding;

  Linear embed;  // weight -1 when embed = none
  std::int64_t mask_token = -1;
  std::int64_t cls_token = -1;
  std::vector<BlockSlots> blocks;
  std::int64_t norm_weight = -1, norm_bias = -1;
  Linear head0, head;  // head0.weight -1 for a linear head

  std::int64_t width() const { return config.model.width; }
  std::int64_t heads() const { return config.model.heads; }
  std::int64_t head_width() const { return width() / heads(); }
  bool post_norm() const { return config.model.norm == NormPlacement::kPost; }
  bool has_cls() const { return config.model.readout == Readout::kCls; }
  std::int64_t layers() const { return static_cast<std::int64_t>(blocks.size()); }
};

// What an encoding needs from the data; parts that the encoding does not use may be empty.
struct PeData {
  MatrixD coordinates;       // (tokens, X) for positions = grid or data
  MatrixD graph;             // (tokens, tokens) for laplacian
  std::vector<float> given;  // (T, C) for init = file
};

ModelStructure make_structure(const RunConfig& config, const ModelShape& shape, const PeData& data);

// Coordinates (T, X) after pe.positions, pe.coord_scale and a CLS token.
MatrixD model_coordinates(const RunConfig& config, const ModelShape& shape, const PeData& data);

// Fills an arena with initial values: docs/model.md, from named streams of the run's seed.
void initialize_parameters(const ModelStructure& structure, std::int64_t seed, float* params);

}  // namespace locus
