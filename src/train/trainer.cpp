#include "train/trainer.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "config/identity.h"
#include "config/init_config.h"
#include "config/load.h"
#include "config/tasks.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/nan.h"
#include "core/rng.h"
#include "core/text.h"
#include "run/layout.h"
#include "train/position.h"
#include "train/tensorboard.h"

namespace locus {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDivergedTimes = 1e6;  // such a loss is far beyond what an untrained model has, and training never recovers

double value_of(const std::vector<std::pair<std::string, double>>& values, const std::string& name) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  check_failed("the task computes its first measure", __FILE__, __LINE__, name);
}

// An evaluation in words, for the log: measures over all conditions.
std::string evaluation_line(const MetricRow& row) {
  std::string text = fmt::format("epoch {}, step {}:", row.epoch, row.step);
  for (const auto& [name, value] : row.values) {
    if (parse_metric_key(name).condition.empty()) text += fmt::format(" {} {:.4g}", name, value);
  }
  return text;
}

class Trainer : private Replica {
 public:
  Trainer(const TrainSetup& setup, const TrainHooks& hooks, RankTeam& team);
  TrainOutcome run();

 private:
  void say(const std::string& text);
  std::optional<Summary> resume();
  std::optional<Summary> removed_end();
  void begin_board(std::int64_t step);
  void one_step();
  void end_epoch();
  void evaluate_now(bool final_row);
  void checkpoint();
  void save_model(const std::string& name);
  std::string stop_reason(RunStatus& status) const;
  Summary finish(RunStatus status, const std::string& reason);
  void write_predictions();
  std::vector<std::pair<std::string, double>> evaluate_splits(bool final_row);
  TrainingState state() const;
  void tell_state();
  void report(const MetricRow* row);
  double loss_scale() const;
  [[noreturn]] void diverged(double loss, double norm);
  RunIdentity identity() const;
  std::int64_t epoch_length() const {
    return config_.watch.eval_steps > 0 ? config_.watch.eval_steps : batches_.steps_per_pass();
  }
  std::int64_t planned_steps() const;
  double epoch_loss() const { return at_.epoch_loss / at_.epoch_examples; }
  double epoch_accuracy() const {
    return task_.loss == LossKind::kCrossEntropy ? at_.epoch_correct / at_.epoch_examples : kNan;
  }
  double total_seconds() const { return earlier_seconds_ + seconds_since(started_); }

  const TrainSetup& setup_;
  const TrainHooks& hooks_;
  const TaskRow& task_;
  RankTeam& team_;
  RunDirectory directory_;
  std::string config_json_;
  std::optional<TensorBoard> board_;  // where watched with it
  Position at_;
  MetricRow last_row_;
  std::map<std::string, Evaluation> final_evaluations_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_checkpoint_ = Clock::now();
  Clock::time_point last_told_ = Clock::now();
  double shown_loss_ = kNan;  // of the last whole epoch, until the next one has a step
  double shown_accuracy_ = kNan;
  double earlier_seconds_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t checkpointed_step_ = -1;
};

std::uint64_t disk_estimate(const ModelStructure& s, const RunConfig& c) {
  const auto model = static_cast<std::uint64_t>(s.layout.floats()) * sizeof(float);
  return model * (2 + 3 * 3 + c.watch.snapshots.size()) + (std::uint64_t{8} << 20);
}

Trainer::Trainer(const TrainSetup& setup, const TrainHooks& hooks, RankTeam& team)
    : Replica(setup.config, *setup.dataset, setup.threads, &team),
      setup_(setup),
      hooks_(hooks),
      task_(task_row(setup.dataset->task)),
      team_(team),
      directory_(RunDirectory::open_for_training(setup.out, identity(), {disk_estimate(structure_, config_), 2})),
      config_json_(model_config_json(structure_, dataset_)) {
  if (config_.watch.tensorboard) board_.emplace(directory_.path() / run_files::kTensorBoard, structure_, params_.data());
  for (const std::string& w : directory_.warnings()) say(w);
}

RunIdentity Trainer::identity() const {
  RunIdentity id;
  id.config = config_;
  id.hashes = config_identity(config_, dataset_.hash);
  id.data_hash = dataset_.hash;
  id.signature = pinned_signature(pe_kind_name(config_.pe.kind));
  id.command = setup_.command;
  id.threads = setup_.threads;
  id.data = dataset_.description;
  const std::vector<TensorGroup>& groups = optimizer_.groups();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const TensorSlot& s = structure_.layout.slots()[i];
    id.parameters.push_back({s.name, s.shape, s.trained, s.trained ? config_.optim.lr * groups[i].lr_factor : 0,
                             s.trained ? config_.optim.weight_decay * groups[i].decay_factor : 0});
  }
  return id;
}

void Trainer::say(const std::string& text) {
  directory_.log(text);
  if (hooks_.message) hooks_.message(text);
}

// Of a finished run whose checkpoints were removed there is nothing to go on from: either it is what was asked for, or it
// must be trained anew elsewhere. To begin again here would take its results away.
std::optional<Summary> Trainer::removed_end() {
  const std::optional<Summary>& end = directory_.earlier_end();
  if (!end || !end->is_complete()) return std::nullopt;
  RunStatus status{};
  at_.epoch = end->epochs;
  at_.step = end->steps;
  if (directory_.same_stop_rules() || (!stop_reason(status).empty() && status == RunStatus::kFinished)) return end;
  throw ConfigError({.what = "the run is finished and its checkpoints were removed: it cannot be trained on",
                     .where = setup_.out,
                     .got = fmt::format("{} after {} epochs, {} steps",
                                        kRunStatusNames[static_cast<std::size_t>(end->status)], end->epochs, end->steps),
                     .expected = fmt::format("a checkpoint in its folder {}", run_files::kCheckpoints),
                     .hint = "choose another --out: the run begins anew there"});
}

// Where the run stands; or how it ended, when nothing is left to do.
std::optional<Summary> Trainer::resume() {
  CheckpointSearch found = directory_.load_latest_checkpoint();
  for (const std::string& w : found.warnings) say(w);
  RunStatus status{};
  if (!found.checkpoint) {
    if (found.warnings.empty()) {
      if (std::optional<Summary> end = removed_end()) return end;
    }
    directory_.begin(0, true);
    directory_.truncate_metrics({});
    for (const std::string& line : transfer_.lines(config_.own.of<InitConfig>().folder)) say(line);
    save_model(run_files::kInit);
    directory_.write_dataset(dataset_.tokens_info);
    begin_board(-1);
    return std::nullopt;
  }
  const LoadedCheckpoint& c = *found.checkpoint;
  load_parameters(structure_, c.model.tensors, params_.data());
  for (std::size_t i = 0; i < optimizer_.states().size(); ++i) {
    AlignedBuffer<float>& to = optimizer_.states()[i];
    const std::span<const float> values = c.state.at(optimizer_state_name(i)).as<float>();
    LOCUS_CHECK(values.size() == to.size(), "optimiser state of another size");
    std::copy(values.begin(), values.end(), to.data());
  }
  at_ = Position::from_metadata(c.metadata);
  directory_.check_metrics(c.metrics);
  directory_.begin(at_.step, stop_reason(status).empty());
  earlier_seconds_ = directory_.truncate_metrics(c.metrics);
  if (!directory_.metrics_note().empty()) say(directory_.metrics_note());
  checkpointed_step_ = at_.step;
  begin_board(at_.step);
  say(fmt::format("resumed from step {} (epoch {})", at_.step, at_.epoch));
  return std::nullopt;
}

void Trainer::begin_board(std::int64_t step) {
  if (!board_) return;
  prepared_.update(params_.data(), {}, &pool_);
  board_->begin(step, prepared_);
}

void Trainer::save_model(const std::string& name) {
  directory_.save_model(name, {parameter_views(structure_, params_.data()), config_json_});
}

void Trainer::checkpoint() {
  if (checkpointed_step_ == at_.step) return;
  Checkpoint c;
  c.step = at_.step;
  c.model = {parameter_views(structure_, params_.data()), config_json_};
  for (std::size_t i = 0; i < optimizer_.states().size(); ++i) {
    const AlignedBuffer<float>& from = optimizer_.states()[i];
    c.state.push_back(tensor_view<float>(optimizer_state_name(i), {static_cast<std::int64_t>(from.size())}, from.span()));
  }
  c.metadata = at_.to_metadata();
  if (board_) board_->sync();
  directory_.save_checkpoint(c);
  checkpointed_step_ = at_.step;
  last_checkpoint_ = Clock::now();
}

// What a loss that is no use any more is measured by: the mean square of the targets; for classes, where the loss of a
// guess is the logarithm of their number, 1.
double Trainer::loss_scale() const {
  if (task_.loss == LossKind::kCrossEntropy || batch_.values.empty()) return 1;
  double sum = 0;
  for (const float x : batch_.values) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum > 0 ? sum / static_cast<double>(batch_.values.size()) : 1;
}

void Trainer::diverged(double loss, double norm) {
  const std::string last = checkpointed_step_ >= 0 ? fmt::format("checkpoint of step {}", checkpointed_step_) : "none yet";
  const bool finite = std::isfinite(loss) && std::isfinite(norm);
  const DivergenceError error({.what = finite ? fmt::format("training diverged: the loss is {:.0e} times what any guess "
                                                            "without a model has",
                                                            loss / loss_scale())
                                              : "training diverged: NaN or Inf in loss or gradients",
                               .where = fmt::format("step {}, epoch {}", at_.step, at_.epoch),
                               .got = fmt::format("loss {}, gradient norm {}, learning rate {}", shortest(loss),
                                                  shortest(norm), shortest(scheduled_lr(config_.optim, at_.step))),
                               .expected = "last good: " + last,
                               .hint = "lower optim.lr, set optim.clip_norm=1, or lengthen the warm-up"});
  finish(RunStatus::kDiverged, error.what());
  throw error;
}

void Trainer::one_step() {
  const bool frozen = config_.train.freeze_pe_after >= 0 && at_.epoch >= config_.train.freeze_pe_after;
  const StepResult result = compute(at_.step, frozen);
  const double norm = optimizer_.gradient_norm(runner_.gradients(), &pool_);
  const bool finite = std::isfinite(result.loss) && std::isfinite(norm);
  if (!finite || result.loss > kDivergedTimes * loss_scale()) diverged(result.loss, norm);
  update(at_.step, frozen);
  at_.last_norm = norm;
  at_.epoch_loss += result.loss * static_cast<double>(batch_.count);
  at_.epoch_correct += static_cast<double>(result.correct);
  at_.epoch_examples += static_cast<double>(batch_.count);
  ++at_.step;
  ++at_.epoch_steps;
}

std::vector<std::pair<std::string, double>> Trainer::evaluate_splits(bool final_row) {
  prepared_.update(params_.data(), {}, &pool_);
  std::vector<std::pair<std::string, double>> values;
  EvalOptions options;
  options.limit = final_row ? 0 : config_.watch.eval_limit;
  options.seed = derive_seed(static_cast<std::uint64_t>(config_.seed), "eval", static_cast<std::uint64_t>(at_.step));
  for (const auto& [name, examples] : dataset_.splits) {
    if (name == "train" && !final_row) continue;
    EvalOptions here = options;
    if (name == "train" && task_.hides_tokens) here.limit = std::max<std::int64_t>(config_.watch.eval_limit, 1024);
    const Evaluation evaluation = evaluate(structure_, prepared_, dataset_, name, here, pool_);
    const auto metrics = evaluation_metrics(dataset_, name, evaluation);
    if (final_row && name != "train") final_evaluations_[name] = evaluation;
    values.insert(values.end(), metrics.begin(), metrics.end());
    if (config_.eval.input_noise <= 0 || !final_row || name == "train") continue;
    const std::string measure = task_.measures[0].name;
    double noisy = 0;
    here.noise_sd = config_.eval.input_noise;
    for (std::int64_t r = 0; r < config_.eval.noise_repeats; ++r) {
      here.noise_seed = derive_seed(static_cast<std::uint64_t>(config_.seed), "eval/noise", static_cast<std::uint64_t>(r));
      const Evaluation e = evaluate(structure_, prepared_, dataset_, name, here, pool_);
      noisy += value_of(evaluation_metrics(dataset_, name, e), name + "." + measure) /
               static_cast<double>(config_.eval.noise_repeats);
    }
    values.emplace_back(name + ".noisy_" + measure, noisy);
  }
  return values;
}

void Trainer::evaluate_now(bool final_row) {
  MetricRow row;
  row.epoch = at_.epoch;
  row.step = at_.step;
  row.seconds = total_seconds();
  row.lr = scheduled_lr(config_.optim, std::max<std::int64_t>(0, at_.step - 1));
  row.grad_norm = at_.last_norm;
  if (!final_row) {
    row.values.emplace_back("train.loss", at_.epoch_loss / at_.epoch_examples);
    if (task_.loss == LossKind::kCrossEntropy)
      row.values.emplace_back("train.accuracy", at_.epoch_correct / at_.epoch_examples);
  }
  const auto values = evaluate_splits(final_row);
  row.values.insert(row.values.end(), values.begin(), values.end());
  last_row_ = row;
  directory_.log(evaluation_line(row));
  if (final_row) return;  // the last epoch's line has been shown; this goes into the summary
  directory_.append_metrics(row);
  if (board_) board_->write(row, prepared_);
  report(&row);
}

void Trainer::end_epoch() {
  ++at_.epoch;
  const double loss = at_.epoch_loss / at_.epoch_examples;
  at_.low_epochs = config_.stop.loss_below > 0 && loss < config_.stop.loss_below ? at_.low_epochs + 1 : 0;
  if (at_.epoch % config_.watch.eval_every == 0) evaluate_now(false);
  for (const double e : config_.watch.snapshots) {
    if (static_cast<std::int64_t>(e) == at_.epoch) save_model(snapshot_model(at_.epoch));
  }
  shown_loss_ = epoch_loss();
  shown_accuracy_ = epoch_accuracy();
  at_.epoch_steps = 0;
  at_.epoch_loss = at_.epoch_correct = at_.epoch_examples = 0;
  if (at_.epoch % config_.watch.checkpoint_every == 0) checkpoint();
}

std::int64_t Trainer::planned_steps() const {
  std::int64_t steps = 0;
  if (config_.stop.epochs > 0) steps = config_.stop.epochs * epoch_length();
  if (config_.stop.steps > 0) steps = steps > 0 ? std::min(steps, config_.stop.steps) : config_.stop.steps;
  return steps;
}

TrainingState Trainer::state() const {
  TrainingState p;
  p.epoch = at_.epoch;
  p.step = at_.step;
  p.total_steps = planned_steps();
  p.epoch_fraction = static_cast<double>(at_.epoch_steps) / static_cast<double>(epoch_length());
  if (at_.epoch_examples > 0) {
    p.loss = epoch_loss();
    p.accuracy = epoch_accuracy();
  } else {
    p.loss = shown_loss_;
    p.accuracy = shown_accuracy_;
  }
  p.seconds = total_seconds();
  const double elapsed = seconds_since(started_);
  if (at_.step > first_step_ && elapsed > 0) {
    p.steps_per_second = static_cast<double>(at_.step - first_step_) / elapsed;
    if (p.total_steps > 0) p.seconds_left = static_cast<double>(p.total_steps - at_.step) / p.steps_per_second;
  }
  return p;
}

void Trainer::tell_state() {
  directory_.tell_state(state());
  last_told_ = Clock::now();
}

void Trainer::report(const MetricRow* row) {
  if (row != nullptr || seconds_since(last_told_) >= 1) tell_state();
  if (hooks_.progress) hooks_.progress({state(), row});
}

std::string Trainer::stop_reason(RunStatus& status) const {
  const StopConfig& s = config_.stop;
  status = RunStatus::kFinished;
  if (s.loss_below > 0 && at_.low_epochs >= s.loss_epochs) {
    status = RunStatus::kConverged;
    return fmt::format("training loss below {} for {} epochs", shortest(s.loss_below), at_.low_epochs);
  }
  if (s.epochs > 0 && at_.epoch >= s.epochs) return fmt::format("{} epochs", at_.epoch);
  if (s.steps > 0 && at_.step >= s.steps) return fmt::format("{} steps", at_.step);
  if (s.seconds > 0 && seconds_since(started_) >= s.seconds) {
    status = RunStatus::kInterrupted;
    return fmt::format("{} of time", human_seconds(s.seconds));
  }
  if (hooks_.stop_signal != nullptr && hooks_.stop_signal->load() != 0) {
    status = RunStatus::kInterrupted;
    const int signal = hooks_.stop_signal->load();
    return signal > 0 ? fmt::format("signal {}", signal) : "stopped by the caller";
  }
  return "";
}

void Trainer::write_predictions() {
  const bool regression = task_.loss == LossKind::kSquaredError;
  PredictionsWriter out(directory_.predictions_path(),
                        regression ? PredictionKind::kRegression : PredictionKind::kClassification);
  for (const auto& [name, examples] : dataset_.splits) {
    if (name == "train") continue;
    const Evaluation& e = final_evaluations_.at(name);
    for (std::size_t t = 0; t < e.token_error.size(); ++t) {
      const auto& names = dataset_.tokens_info.names;
      out.add(name, t < names.size() ? names[t] : std::to_string(t), e.token_error[t]);
    }
    for (std::size_t i = 0; i < e.predicted.size(); ++i) {
      const auto example = static_cast<std::size_t>(e.indices[i]);
      ClassPrediction row;
      row.split = name;
      row.index = e.indices[i];
      if (!examples.condition.empty())
        row.condition = dataset_.conditions[static_cast<std::size_t>(examples.condition[example])];
      if (!examples.cluster.empty()) row.cluster = examples.cluster[example];
      row.label = examples.labels[example];
      row.predicted = e.predicted[i];
      out.add(row);
    }
  }
  out.finish();
}

Summary Trainer::finish(RunStatus status, const std::string& reason) {
  Summary summary;
  summary.status = status;
  summary.reason = reason;
  summary.epochs = at_.epoch;
  summary.steps = at_.step;
  const bool complete = status == RunStatus::kFinished || status == RunStatus::kConverged;
  if (complete) {
    checkpoint();
    evaluate_now(true);
    save_model(run_files::kFinal);
    write_predictions();
  } else if (status == RunStatus::kInterrupted) {
    checkpoint();
  }
  summary.seconds = total_seconds();
  summary.values = last_row_.values;
  for (const auto& [split, baselines] : dataset_.baselines) {
    for (const auto& measure : dataset_.baseline_measures(split)) summary.values.push_back(measure);
  }
  directory_.write_summary(summary);
  directory_.log(fmt::format("this process computed steps {} to {}", first_step_, at_.step));
  directory_.log(fmt::format("{}: {}", kRunStatusNames[static_cast<std::size_t>(status)], reason));
  return summary;
}

TrainOutcome Trainer::run() {
  TrainOutcome outcome;
  outcome.resumed = directory_.resumed();
  if (const std::optional<Summary> end = resume()) {
    say("already at its end; its checkpoints were removed, nothing was changed");
    outcome.summary = *end;
    return outcome;
  }
  first_step_ = at_.step;
  started_ = Clock::now();
  RunStatus status{};
  std::string reason;
  Clock::time_point last_report = Clock::now();
  tell_state();
  team_.start(identity_text(), at_.step, arrays());
  while ((reason = stop_reason(status)).empty()) {
    try {
      one_step();
    } catch (const RankError& e) {
      say(one_line(e));
      checkpoint();  // of the last whole step: nothing of this one has been changed
      throw;
    }
    if (at_.epoch_steps == epoch_length()) end_epoch();
    if (seconds_since(last_report) > 0.2) {
      report(nullptr);
      last_report = Clock::now();
    }
    if (config_.watch.checkpoint_seconds > 0 && seconds_since(last_checkpoint_) > config_.watch.checkpoint_seconds)
      checkpoint();
  }
  outcome.summary = finish(status, reason);
  return outcome;
}

}  // namespace

TrainOutcome train(const TrainSetup& setup, const TrainHooks& hooks) {
  RankTeam team(setup.ranks);
  if (!team.leads()) {
    Replica(setup.config, *setup.dataset, setup.threads, &team).follow(team);
    return {};
  }
  TrainOutcome outcome;
  try {
    outcome = Trainer(setup, hooks, team).run();
  } catch (const RankError&) {
    throw;  // nobody can be told
  } catch (...) {
    team.end();
    throw;
  }
  team.end();
  return outcome;
}

}  // namespace locus
