// The configuration of one run: what to learn, from which data, with which encoder, encoding and optimiser.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/encodings.h"
#include "config/fields.h"
#include "config/lst_config.h"
#include "config/masked_config.h"
#include "config/own_settings.h"

namespace locus {

enum class NormPlacement { kPost, kPre };
inline constexpr std::array<std::string_view, 2> kNormNames = {"post", "pre"};

enum class AttentionMask { kFull, kCausal };
inline constexpr std::array<std::string_view, 2> kAttentionMaskNames = {"full", "causal"};

enum class Embed { kLinear, kNone };
inline constexpr std::array<std::string_view, 2> kEmbedNames = {"linear", "none"};

enum class Readout : int { kToken, kGiven, kMean, kCls, kFlat, kEvery, kMasked };
inline constexpr std::array<std::string_view, 7> kReadoutNames = {"token", "given", "mean",  "cls",
                                                                  "flat",  "every", "masked"};

struct ModelConfig {
  std::int64_t layers = 4;
  std::int64_t width = 160;
  std::int64_t heads = 1;
  std::int64_t mlp_width = 0;  // 0: four times the width
  NormPlacement norm = NormPlacement::kPost;
  AttentionMask attention_mask = AttentionMask::kFull;
  bool mlp_final_gelu = false;
  bool attention_bias = true;
  bool attention_output = true;
  double logit_scale = 1.0;
  double position_logit_scale = 1.0;
  Embed embed = Embed::kLinear;
  double embed_gain = 1.0;
  Readout readout = Readout::kToken;
  std::int64_t readout_token = -1;
  std::int64_t head_hidden = 0;
  double output_gain = 1.0;
  double attention_dropout = 0;
  double residual_dropout = 0;

  // Each token has an output of its own, and the values of tokens are the targets.
  bool reads_tokens() const { return readout == Readout::kEvery || readout == Readout::kMasked; }
  std::int64_t mlp() const { return mlp_width > 0 ? mlp_width : 4 * width; }
};

enum class PeInit { kNormal, kUniform, kSinusoid, kZero, kFile };
inline constexpr std::array<std::string_view, 5> kPeInitNames = {"normal", "uniform", "sinusoid", "zero", "file"};

enum class PePlacement { kInput, kEveryLayer };
inline constexpr std::array<std::string_view, 2> kPePlacementNames = {"input", "every_layer"};

enum class PePositions { kIndex, kGrid, kData };
inline constexpr std::array<std::string_view, 3> kPePositionsNames = {"index", "grid", "data"};

enum class Trainable { kAuto, kYes, kNo };
inline constexpr std::array<std::string_view, 3> kTrainableNames = {"auto", "yes", "no"};

struct PeConfig {
  PeKind kind = PeKind::kLearned;
  double sigma = 0.2;
  PeInit init = PeInit::kNormal;
  std::string file;
  Trainable trainable = Trainable::kAuto;
  PePlacement placement = PePlacement::kEveryLayer;
  bool shared = false;
  PePositions positions = PePositions::kIndex;
  double coord_scale = 1.0;
  double dropout = 0;
  bool dropout_at_eval = false;
  double base = 10000;
  double rotary_fraction = 1.0;
  std::int64_t max_distance = 0;
  bool value_term = false;
  std::int64_t buckets = 32;
  std::int64_t eigenvectors = 8;

  bool is_trained() const;  // trainable with "auto" resolved for the kind
  bool adds_table() const { return encoding_row(kind).adds_table; }
};

enum class OptimizerKind { kAdam, kAdamW, kSgd };
inline constexpr std::array<std::string_view, 3> kOptimizerNames = {"adam", "adamw", "sgd"};

enum class Schedule { kConstant, kWarmup, kCosine };
inline constexpr std::array<std::string_view, 3> kScheduleNames = {"constant", "warmup", "cosine"};

struct OptimConfig {
  OptimizerKind kind = OptimizerKind::kAdam;
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  std::vector<std::string> group_lr;                               // "pattern=factor", first match wins
  std::vector<std::string> group_decay = {"*pe.*=0", "*norm*=0"};  // "pattern=factor"
  Schedule schedule = Schedule::kConstant;
  std::int64_t warmup_steps = 0;
  std::int64_t schedule_steps = 0;
  double final_lr_fraction = 0;
  double clip_norm = 0;
};

struct TrainConfig {
  std::int64_t batch = 128;
  std::int64_t shards = 0;
  std::int64_t microbatch_tokens = 0;
  bool save_last_layer = true;
  bool save_first_layer = true;
  bool fold_single_query = true;
  bool table_first_layer = true;
  bool keep_patterns = true;
  bool join_projections = true;
  std::int64_t freeze_pe_after = -1;
  double pe_norm_clamp = 0;
};

// How a run is watched and ended; no part of its identity, so a finished run can be extended.
struct StopConfig {
  std::int64_t epochs = 200;
  std::int64_t steps = 0;
  double seconds = 0;
  double loss_below = 0;
  std::int64_t loss_epochs = 5;
  bool operator==(const StopConfig&) const = default;
};

struct WatchConfig {
  std::int64_t eval_every = 1;
  std::int64_t eval_steps = 0;
  std::int64_t eval_limit = 0;
  std::int64_t checkpoint_every = 10;
  double checkpoint_seconds = 60;
  std::vector<double> snapshots;
  bool tensorboard = false;
};

struct EvalConfig {
  double input_noise = 0;
  std::int64_t noise_repeats = 5;
};

struct RunConfig {
  std::string study = "lst";  // names the source of data: config/sources.h
  std::string task = "auto";  // config/tasks.h
  std::int64_t seed = 0;
  ModelConfig model;
  PeConfig pe;
  OptimConfig optim;
  TrainConfig train;
  StopConfig stop;
  WatchConfig watch;
  EvalConfig eval;
  LstConfig lst;
  SeriesConfig series;
  MaskConfig mask;
  NmarConfig nmar;
  OwnSettings own;  // sections of sources and tasks that have no field above

  int position_axes() const;  // coordinates a token: 1 for its index, 2 on the grid of a puzzle, 3 for a region
};

// The fields of `config`, bound to it: the one description everything else is derived from.
FieldList describe(RunConfig& config);

// Contradictions between fields; ConfigError names both keys and a way out.
void validate(const RunConfig& config);

// Throws that ConfigError; for the checks of sources and tasks too.
[[noreturn]] void contradiction(std::string what, std::string hint);

}  // namespace locus
