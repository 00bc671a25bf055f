#include "model/structure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "model/pe/laplacian.h"

namespace locus {
namespace {

Linear add_linear(ParamLayout& layout, const std::string& name, std::int64_t in, std::int64_t out) {
  Linear l;
  l.in = in;
  l.out = out;
  l.weight = layout.add(name + ".weight", {out, in});
  l.bias = layout.add(name + ".bias", {out});
  return l;
}

std::vector<std::int64_t> add_pe(ParamLayout& layout, const std::string& prefix, const Encoding& encoding) {
  std::vector<std::int64_t> indices;
  for (const PeTensor& t : encoding.tensors()) indices.push_back(layout.add(prefix + t.name, t.shape, t.trained));
  return indices;
}

BlockSlots add_block(ModelStructure& s, const std::string& prefix) {
  const ModelConfig& m = s.config.model;
  const std::int64_t c = m.width;
  BlockSlots b;
  b.in_weight = s.layout.add(prefix + "attn.in_proj_weight", {3 * c, c});
  if (m.attention_bias) b.in_bias = s.layout.add(prefix + "attn.in_proj_bias", {3 * c});
  if (m.attention_output) {
    b.out_proj.in = b.out_proj.out = c;
    b.out_proj.weight = s.layout.add(prefix + "attn.out_proj.weight", {c, c});
    if (m.attention_bias) b.out_proj.bias = s.layout.add(prefix + "attn.out_proj.bias", {c});
  }
  b.norm1_weight = s.layout.add(prefix + "norm1.weight", {c});
  b.norm1_bias = s.layout.add(prefix + "norm1.bias", {c});
  b.mlp_up = add_linear(s.layout, prefix + "mlp.0", c, m.mlp());
  b.mlp_down = add_linear(s.layout, prefix + "mlp.2", m.mlp(), c);
  b.norm2_weight = s.layout.add(prefix + "norm2.weight", {c});
  b.norm2_bias = s.layout.add(prefix + "norm2.bias", {c});
  return b;
}

void add_blocks(ModelStructure& s) {
  const PeConfig& pe = s.config.pe;
  const bool once = pe.shared || pe.placement == PePlacement::kInput;
  std::vector<std::int64_t> shared;
  if (once && s.config.model.layers > 0) shared = add_pe(s.layout, "pe.", *s.encoding);
  for (std::int64_t l = 0; l < s.config.model.layers; ++l) {
    const std::string prefix = fmt::format("blocks.{}.", l);
    const bool has_pe = pe.kind != PeKind::kNone && (l == 0 || pe.placement == PePlacement::kEveryLayer);
    std::vector<std::int64_t> own;
    if (has_pe) own = once ? shared : add_pe(s.layout, prefix + "pe.", *s.encoding);
    BlockSlots b = add_block(s, prefix);
    b.pe = std::move(own);
    b.has_pe = has_pe;
    s.blocks.push_back(std::move(b));
  }
}

void check_shape(const RunConfig& config, const ModelShape& shape, std::int64_t tokens) {
  const ModelConfig& m = config.model;
  if (m.embed == Embed::kNone && m.width != shape.features) {
    throw ConfigError({.what = "model.embed = none needs model.width equal to the features of a token",
                       .where = "",
                       .got = fmt::format("width {}, features {}", m.width, shape.features),
                       .expected = "",
                       .hint = fmt::format("set model.width={}", shape.features)});
  }
  if (m.readout == Readout::kToken && (m.readout_token >= tokens || m.readout_token < -tokens)) {
    throw ConfigError({.what = "model.readout_token is no token",
                       .where = "",
                       .got = std::to_string(m.readout_token),
                       .expected = fmt::format("{} .. {}", -tokens, tokens - 1)});
  }
}

double uniform_in(Rng& rng, double bound) { return bound * (2 * rng.uniform() - 1); }

void fill_uniform(Rng& rng, float* p, std::int64_t n, double bound) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = static_cast<float>(uniform_in(rng, bound));
}

class Initializer {
 public:
  Initializer(const ModelStructure& s, std::int64_t seed, float* params)
      : s_(s), seed_(static_cast<std::uint64_t>(seed)), params_(params) {}

  float* at(std::int64_t slot) const { return params_ + s_.layout[slot].offset; }
  // Every tensor draws from a stream of its own name, so that options do not shift each other's numbers.
  Rng stream(std::int64_t slot) const { return {seed_, "init/" + s_.layout[slot].name}; }

  void linear(const Linear& l, double gain = 1.0) const {
    if (l.weight < 0) return;
    const double bound = gain / std::sqrt(static_cast<double>(l.in));
    Rng w = stream(l.weight);
    fill_uniform(w, at(l.weight), l.in * l.out, bound);
    if (l.bias < 0) return;
    Rng b = stream(l.bias);
    fill_uniform(b, at(l.bias), l.out, bound);
  }

  void token(std::int64_t slot, double gain) const {
    if (slot < 0) return;
    Rng rng = stream(slot);
    for (std::int64_t i = 0; i < s_.layout[slot].size; ++i) at(slot)[i] = static_cast<float>(gain * 0.02 * rng.normal());
  }

  void ones(std::int64_t slot) const {
    if (slot >= 0) std::fill_n(at(slot), s_.layout[slot].size, 1.0f);
  }

  void block(const BlockSlots& b) const {
    const auto c = static_cast<double>(s_.width());
    Rng rng = stream(b.in_weight);
    fill_uniform(rng, at(b.in_weight), s_.layout[b.in_weight].size, std::sqrt(6.0 / (c + 3 * c)));
    if (b.out_proj.weight >= 0) {
      linear(b.out_proj);
      if (b.out_proj.bias >= 0) std::fill_n(at(b.out_proj.bias), b.out_proj.out, 0.0f);
    }
    linear(b.mlp_up);
    linear(b.mlp_down);
    ones(b.norm1_weight);
    ones(b.norm2_weight);
  }

  void encoding(const std::vector<std::int64_t>& slots) const {
    if (slots.empty()) return;
    std::vector<float*> values;
    for (const std::int64_t slot : slots) values.push_back(at(slot));
    Rng rng = stream(slots.front());
    s_.encoding->initialize(rng, values);
  }

 private:
  const ModelStructure& s_;
  std::uint64_t seed_;
  float* params_;
};

}  // namespace

MatrixD model_coordinates(const RunConfig& config, const ModelShape& shape, const PeData& data) {
  const bool cls = config.model.readout == Readout::kCls;
  const std::int64_t tokens = shape.tokens + (cls ? 1 : 0);
  if (config.pe.positions == PePositions::kIndex) {
    MatrixD out(tokens, 1);
    for (std::int64_t t = 0; t < tokens; ++t) out(t, 0) = config.pe.coord_scale * static_cast<double>(t);
    return out;
  }
  if (data.coordinates.rows() != shape.tokens || data.coordinates.cols() == 0) {
    throw ConfigError({.what = "pe.positions needs coordinates that the data does not have",
                       .where = "",
                       .got = std::string(kPePositionsNames[static_cast<std::size_t>(config.pe.positions)]),
                       .expected = fmt::format("coordinates of {} tokens", shape.tokens),
                       .hint = "give an atlas with x, y, z columns, or use pe.positions=index"});
  }
  const std::int64_t axes = data.coordinates.cols();
  MatrixD out(tokens, axes);
  for (std::int64_t x = 0; x < axes; ++x) {
    double total = 0;
    for (std::int64_t t = 0; t < shape.tokens; ++t) {
      out(t, x) = config.pe.coord_scale * data.coordinates(t, x);
      total += out(t, x);
    }
    if (cls) out(shape.tokens, x) = total / static_cast<double>(shape.tokens);
  }
  return out;
}

ModelStructure make_structure(const RunConfig& config, const ModelShape& shape, const PeData& data) {
  ModelStructure s;
  s.config = config;
  s.shape = shape;
  s.tokens = shape.tokens + (config.model.readout == Readout::kCls ? 1 : 0);
  check_shape(config, shape, s.tokens);

  PeContext context;
  context.tokens = s.tokens;
  context.width = config.model.width;
  context.heads = config.model.heads;
  context.coordinates = model_coordinates(config, shape, data);
  context.given = data.given;
  if (config.pe.kind == PeKind::kLaplacian) {
    if (data.graph.rows() != s.tokens) {
      throw ConfigError({.what = "pe.kind = laplacian needs a graph of the tokens, which this data does not have",
                         .where = "",
                         .got = "",
                         .expected = "",
                         .hint = "use the masked study, and no CLS token"});
    }
    context.eigenvectors = laplacian_eigenvectors(data.graph, config.pe.eigenvectors);
  }
  s.encoding = make_encoding(config.pe, context);

  const std::int64_t c = config.model.width;
  if (config.model.embed == Embed::kLinear) s.embed = add_linear(s.layout, "embed", shape.features, c);
  const bool hides = (shape.regression && config.model.reads_tokens()) || shape.missing;
  if (hides && config.mask.vector == MaskVector::kLearned && config.model.embed == Embed::kLinear) {
    s.mask_token = s.layout.add("mask_token", {c});
  }
  if (s.has_cls()) s.cls_token = s.layout.add("cls_token", {c});
  add_blocks(s);
  if (!s.post_norm()) {
    s.norm_weight = s.layout.add("norm.weight", {c});
    s.norm_bias = s.layout.add("norm.bias", {c});
  }
  const std::int64_t head_in = config.model.readout == Readout::kFlat ? s.tokens * c : c;
  if (config.model.head_hidden > 0) {
    s.head0 = add_linear(s.layout, "head.0", head_in, config.model.head_hidden);
    s.head = add_linear(s.layout, "head.2", config.model.head_hidden, shape.outputs);
  } else {
    s.head = add_linear(s.layout, "head", head_in, shape.outputs);
  }
  return s;
}

void initialize_parameters(const ModelStructure& s, std::int64_t seed, float* params) {
  std::fill_n(params, s.layout.floats(), 0.0f);
  const Initializer init(s, seed, params);
  const double gain = s.config.model.embed_gain;
  init.linear(s.embed, gain);
  init.token(s.mask_token, gain);
  init.token(s.cls_token, gain);
  const bool once = s.config.pe.shared || s.config.pe.placement == PePlacement::kInput;
  for (std::size_t l = 0; l < s.blocks.size(); ++l) {
    init.block(s.blocks[l]);
    if (l == 0 || !once) init.encoding(s.blocks[l].pe);
  }
  init.ones(s.norm_weight);
  init.linear(s.head0);
  init.linear(s.head);
}

}  // namespace locus
