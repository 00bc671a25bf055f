#include "config/run_config.h"

#include <fmt/core.h>

#include "config/init_config.h"
#include "config/sources.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr Bounds kCount{0, 9e15};
constexpr Bounds kProbability{0, 0.999};

void describe(ModelConfig& c, FieldList& list) {
  list.section("model", "the transformer encoder");
  list.integer("layers", c.layers, {0, 1000}, "number of blocks (0: the read-out alone)");
  list.integer("width", c.width, {1, 65536}, "channels of a token");
  list.integer("heads", c.heads, {1, 1024}, "attention heads; divides the width");
  list.integer("mlp_width", c.mlp_width, {0, 1 << 20}, "hidden channels of the MLP (0: four times the width)");
  list.choice("norm", c.norm, kNormNames, "layer norm after each sum (post) or before each sub-layer (pre)");
  list.choice("attention_mask", c.attention_mask, kAttentionMaskNames,
              "full, or causal (a token sees itself and earlier ones)");
  list.flag("mlp_final_gelu", c.mlp_final_gelu, "a second GELU after the MLP's second linear layer, as in the paper's code");
  list.flag("attention_bias", c.attention_bias, "biases of the attention projections");
  list.flag("attention_output", c.attention_output, "output projection of attention");
  list.number("logit_scale", c.logit_scale, {1e-6, 1e6}, "factor on the attention logits, beside 1/sqrt(head width)");
  list.number("position_logit_scale", c.position_logit_scale, {0, 1e6},
              "factor on the position-position part of the logits alone, where the encoding adds a table (1: off)");
  list.choice("embed", c.embed, kEmbedNames, "linear embedding of the features, or the features as they are");
  list.number("embed_gain", c.embed_gain, {0, 1e6}, "factor on the initial content embedding");
  list.choice("readout", c.readout, kReadoutNames, "which tokens the head reads");
  list.integer("readout_token", c.readout_token, {-65536, 65536}, "index for readout = token; negative from the end");
  list.integer("head_hidden", c.head_hidden, {0, 1 << 20}, "hidden channels of the head (0: a linear head)");
  list.number("output_gain", c.output_gain, {0, 1e9}, "factor on the outputs");
  list.number("attention_dropout", c.attention_dropout, kProbability, "dropout on the attention pattern");
  list.number("residual_dropout", c.residual_dropout, kProbability, "dropout on each sub-layer's output");
}

std::string names_of_trained() {
  std::vector<std::string> names;
  for (const EncodingRow& row : encoding_rows()) {
    if (row.trained) names.emplace_back(row.name());
  }
  return join(names, ", ");
}

void describe(PeConfig& c, FieldList& list) {
  list.section("pe", "the positional encoding");
  list.choice("kind", c.kind, kPeKindNames, "which encoding");
  list.number("sigma", c.sigma, {0, 1e6}, "standard deviation of the initial learned values");
  list.choice("init", c.init, kPeInitNames, "how a learned table starts");
  list.text("file", c.file, "npy or safetensors file for init = file");
  list.choice("trainable", c.trainable, kTrainableNames, "auto: " + names_of_trained() + " train; others do not");
  list.choice("placement", c.placement, kPePlacementNames, "at the first block's input or at every block's");
  list.flag("shared", c.shared, "one set of parameters for all blocks");
  list.choice("positions", c.positions, kPePositionsNames,
              "0..T-1, the rows and columns of the grid, or coordinates from the data");
  list.number("coord_scale", c.coord_scale, {1e-9, 1e9}, "factor on the coordinates");
  list.number("dropout", c.dropout, kProbability, "dropout on input + encoding");
  list.flag("dropout_at_eval", c.dropout_at_eval, "keep that dropout on in evaluation, as the paper's code does");
  list.number("base", c.base, {1.0001, 1e12}, "base of the sinusoid and rotary frequencies");
  list.number("rotary_fraction", c.rotary_fraction, {0, 1}, "part of each head's channels that rotates");
  list.integer("max_distance", c.max_distance, {0, 1 << 20},
               "clip of relative offsets, range of T5 buckets (0: largest offset; T5: 128)");
  list.flag("value_term", c.value_term, "relative: also add position vectors to the values");
  list.integer("buckets", c.buckets, {4, 4096}, "T5 buckets");
  list.integer("eigenvectors", c.eigenvectors, {1, 65536}, "Laplacian eigenvectors used");
}

void describe(OptimConfig& c, FieldList& list) {
  list.section("optim", "the optimiser");
  list.choice("kind", c.kind, kOptimizerNames, "adam, adamw or sgd");
  list.number("lr", c.lr, {0, 1e6}, "learning rate");
  list.number("beta1", c.beta1, {0, 0.999999}, "Adam's decay of the first moment");
  list.number("beta2", c.beta2, {0, 0.99999999}, "Adam's decay of the second moment");
  list.number("eps", c.eps, {0, 1}, "Adam's epsilon");
  list.number("momentum", c.momentum, {0, 0.999999}, "SGD's momentum");
  list.number("weight_decay", c.weight_decay, {0, 1e6}, "weight decay");
  list.texts("group_lr", c.group_lr,
             "\"pattern=factor\" on the learning rate of tensors whose name matches; the first match wins");
  list.texts("group_decay", c.group_decay, "\"pattern=factor\" on the weight decay");
  list.choice("schedule", c.schedule, kScheduleNames, "constant, linear warm-up then constant, or warm-up then cosine");
  list.integer("warmup_steps", c.warmup_steps, kCount, "steps of linear warm-up");
  list.integer("schedule_steps", c.schedule_steps, kCount, "length of the cosine in steps");
  list.number("final_lr_fraction", c.final_lr_fraction, {0, 1}, "where the cosine ends, as a part of lr");
  list.number("clip_norm", c.clip_norm, {0, 1e9}, "largest global norm of the gradient (0: no clipping)");
}

void describe(TrainConfig& c, FieldList& list) {
  list.section("train", "the loop");
  list.integer("batch", c.batch, {1, 1 << 24}, "examples a step");
  list.integer("shards", c.shards, {0, 1024}, "parts of a batch reduced in order, the most threads that help (0: by size)");
  list.integer("microbatch_tokens", c.microbatch_tokens, {0, 1 << 24},
               "tokens processed at once within a shard (0: by size)");
  list.flag("save_last_layer", c.save_last_layer, "compute the last block only for the tokens read");
  list.flag("save_first_layer", c.save_first_layer, "project features and positions of the first block apart");
  list.flag("table_first_layer", c.table_first_layer, "look the first block's scores up by (token, position) pair");
  list.flag("fold_single_query", c.fold_single_query, "with one token read, fold keys and values into the query");
  list.flag("keep_patterns", c.keep_patterns, "keep short sequences' attention patterns for the backward pass");
  list.flag("join_projections", c.join_projections, "with one head, multiply W_k into W_q and W_out into W_v");
  list.integer("freeze_pe_after", c.freeze_pe_after, {-1, 9e15},
               "stop training the encoding after so many epochs (-1: never)");
  list.number("pe_norm_clamp", c.pe_norm_clamp, {0, 1e9},
              "keep each encoding tensor's norm at this multiple of its initial one (0: free)");
}

// In section train.
void describe(InitConfig& c, FieldList& list) {
  list.text("init", c.folder, "folder of another run to begin from; empty: from random numbers");
  list.choice("init_take", c.take, kInitTakeNames, "what is taken from there: the encoding alone, or all that fits");
}

void describe(StopConfig& c, FieldList& list) {
  list.section("stop", "when a run ends; no part of its identity");
  list.integer("epochs", c.epochs, kCount, "epochs (0: no limit)").identity = false;
  list.integer("steps", c.steps, kCount, "steps (0: no limit)").identity = false;
  list.number("seconds", c.seconds, {0, 1e12}, "time in this process (0: no limit)").identity = false;
  list.number("loss_below", c.loss_below, {0, 1e9}, "converged: training loss below this ... (0: off)").identity = false;
  list.integer("loss_epochs", c.loss_epochs, {1, 1e9}, "... for so many epochs").identity = false;
}

void describe(WatchConfig& c, FieldList& list) {
  list.section("watch", "evaluation and checkpoints; no part of the identity");
  list.integer("eval_every", c.eval_every, {1, 1e9}, "epochs between evaluations").identity = false;
  list.integer("eval_steps", c.eval_steps, kCount,
               "steps that count as one epoch for data without an end (0: one pass over the data)");
  list.integer("eval_limit", c.eval_limit, kCount,
               "most examples of a split evaluated on the way; the end takes all (0: all)")
      .identity = false;
  list.integer("checkpoint_every", c.checkpoint_every, {1, 1e9}, "epochs between checkpoints").identity = false;
  list.number("checkpoint_seconds", c.checkpoint_seconds, {0, 1e9}, "or so much time, whichever comes first").identity =
      false;
  list.whole_numbers("snapshots", c.snapshots, {0, 9e15}, "epochs whose weights are kept for analyses over time").identity =
      false;
  list.flag("tensorboard", c.tensorboard, "write event files for TensorBoard into the run's folder").identity = false;
}

void describe(EvalConfig& c, FieldList& list) {
  list.section("eval", "evaluation");
  list.number("input_noise", c.input_noise, {0, 1e6},
              "Gaussian noise on each block's input at evaluation, reported as <split>.noisy")
      .identity = false;
  list.integer("noise_repeats", c.noise_repeats, {1, 1000}, "draws of that noise").identity = false;
}

void validate_model(const RunConfig& c) {
  const ModelConfig& m = c.model;
  if (m.width % m.heads != 0) {
    contradiction(fmt::format("model.heads = {} does not divide model.width = {}", m.heads, m.width),
                  "choose a width that is a multiple of the heads");
  }
  if (c.pe.kind == PeKind::kRotary && (m.width / m.heads) % 2 != 0) {
    contradiction(fmt::format("pe.kind = rotary needs an even head width, not {}", m.width / m.heads),
                  "change model.width or model.heads");
  }
  require_task_fits(c);
}

// With x = h + P the logits have a part that is due to P alone; without such a sum there is nothing to scale.
void validate_position_logits(const RunConfig& c) {
  if (c.model.position_logit_scale == 1) return;
  const std::string option = fmt::format("model.position_logit_scale = {}", c.model.position_logit_scale);
  if (!c.pe.adds_table()) {
    contradiction(fmt::format("{} needs an encoding that adds a table to the input, which pe.kind = {} does not", option,
                              pe_kind_name(c.pe.kind)),
                  "use pe.kind = learned, sinusoidal or laplacian, or leave the factor at 1");
  }
  if (c.model.norm == NormPlacement::kPre) {
    contradiction(option + " cannot be had with model.norm = pre: the norm mixes content and positions before the logits",
                  "use model.norm = post");
  }
  if (c.pe.dropout > 0) {
    contradiction(option + " cannot be had with pe.dropout, which changes the positions of every example",
                  "set pe.dropout = 0");
  }
}

std::string task_help() {
  std::vector<std::string> parts;
  for (const TaskRow& row : task_rows()) parts.push_back(fmt::format("{} ({})", row.name, row.summary));
  return join(parts, ", ");
}

std::vector<std::string> studies_with_grid() {
  std::vector<std::string> names;
  for (const SourceRow& row : source_rows()) {
    if (row.grid) names.push_back(row.study);
  }
  return names;
}

void validate_pe(const RunConfig& c) {
  const PeConfig& p = c.pe;
  if (p.init == PeInit::kFile && p.file.empty())
    contradiction("pe.init = file without pe.file", "name the file with pe.file=...");
  if (!p.file.empty() && p.init != PeInit::kFile)
    contradiction("pe.file is given but pe.init is not file", "add pe.init=file");
  if (p.dropout_at_eval && p.dropout == 0) contradiction("pe.dropout_at_eval without pe.dropout", "set pe.dropout above 0");
  if (p.value_term && !encoding_row(p.kind).uses("value_term"))
    contradiction("pe.value_term needs pe.kind = relative", "drop one of the two");
  const bool grid = source_of(c).grid;
  if (p.positions == PePositions::kGrid && !grid) {
    contradiction(fmt::format("pe.positions = grid needs a grid (study = {})", join(studies_with_grid(), ", ")),
                  "use index or data");
  }
  if (p.kind == PeKind::kLaplacian && grid && p.positions == PePositions::kData) {
    contradiction(fmt::format("study = {} has no data coordinates", c.study), "use pe.positions = grid");
  }
  if (p.buckets % 4 != 0) contradiction(fmt::format("pe.buckets = {} is not a multiple of 4", p.buckets), "use 32");
}

void validate_optim(const RunConfig& c) {
  const OptimConfig& o = c.optim;
  if (o.kind != OptimizerKind::kSgd && o.momentum != 0)
    contradiction("optim.momentum needs optim.kind = sgd", "use beta1 for Adam");
  if (o.schedule == Schedule::kCosine && o.schedule_steps == 0) {
    contradiction("optim.schedule = cosine needs optim.schedule_steps", "give the length of the cosine in steps");
  }
  if (o.schedule == Schedule::kCosine && o.schedule_steps <= o.warmup_steps) {
    contradiction("optim.schedule_steps must be larger than optim.warmup_steps",
                  "lengthen the cosine or shorten the warm-up");
  }
  if (o.schedule == Schedule::kConstant && o.warmup_steps != 0) {
    contradiction("optim.warmup_steps without a schedule", "set optim.schedule=warmup");
  }
  const StopConfig& s = c.stop;
  if (s.epochs == 0 && s.steps == 0 && s.seconds == 0 && s.loss_below == 0) {
    contradiction("no stop rule is set", "set one of stop.epochs, stop.steps, stop.seconds, stop.loss_below");
  }
}

void validate_data(const RunConfig& c) {
  if (const auto check = source_of(c).check) check(c);
  if (const auto check = task_of(c).check) check(c);
}

}  // namespace

void contradiction(std::string what, std::string hint) {
  throw ConfigError({.what = std::move(what), .where = "", .got = "", .expected = "", .hint = std::move(hint)});
}

int RunConfig::position_axes() const {
  if (pe.positions == PePositions::kIndex) return 1;
  return source_of(*this).axes;
}

bool PeConfig::is_trained() const {
  if (trainable != Trainable::kAuto) return trainable == Trainable::kYes;
  return encoding_row(kind).trained;
}

FieldList describe(RunConfig& c) {
  FieldList list;
  list.section("", "the run");
  list.one_of("study", c.study, study_names(), "where examples come from: " + study_help());
  list.one_of("task", c.task, task_names(), "what is predicted: " + task_help() + "; auto: what suits the study");
  list.integer("seed", c.seed, {0, 9e15}, "seed of initialisation, data order, masks and dropout");
  describe(c.model, list);
  describe(c.pe, list);
  describe(c.optim, list);
  describe(c.train, list);
  describe(c.own.of<InitConfig>(), list);
  describe(c.stop, list);
  describe(c.watch, list);
  describe(c.eval, list);
  for (const ConfigSection* section : data_sections()) section->describe(c, list);
  return list;
}

void validate(const RunConfig& c) {
  validate_model(c);
  validate_pe(c);
  validate_position_logits(c);
  validate_optim(c);
  validate_data(c);
}

}  // namespace locus
