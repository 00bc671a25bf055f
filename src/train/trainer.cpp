#include "train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "config/identity.h"
#include "config/load.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "kernels/elementwise.h"
#include "kernels/optimizer.h"

namespace locus {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Where a run stands; all of it goes into a checkpoint.
struct Position {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int64_t epoch_steps = 0;  // steps done in the current epoch
  double epoch_loss = 0;         // sums over the current epoch
  double epoch_correct = 0;
  double epoch_examples = 0;
  std::int64_t low_epochs = 0;  // epochs in a row with a loss below stop.loss_below
  double last_norm = 0;

  std::map<std::string, std::string> to_metadata() const {
    return {{"step", std::to_string(step)},
            {"epoch", std::to_string(epoch)},
            {"epoch_steps", std::to_string(epoch_steps)},
            {"epoch_loss", shortest(epoch_loss)},
            {"epoch_correct", shortest(epoch_correct)},
            {"epoch_examples", shortest(epoch_examples)},
            {"low_epochs", std::to_string(low_epochs)},
            {"last_norm", shortest(last_norm)}};
  }
  static Position from_metadata(const std::map<std::string, std::string>& m) {
    Position p;
    p.step = std::stoll(m.at("step"));
    p.epoch = std::stoll(m.at("epoch"));
    p.epoch_steps = std::stoll(m.at("epoch_steps"));
    p.epoch_loss = std::stod(m.at("epoch_loss"));
    p.epoch_correct = std::stod(m.at("epoch_correct"));
    p.epoch_examples = std::stod(m.at("epoch_examples"));
    p.low_epochs = std::stoll(m.at("low_epochs"));
    p.last_norm = std::stod(m.at("last_norm"));
    return p;
  }
};

class Trainer {
 public:
  Trainer(const TrainSetup& setup, const TrainHooks& hooks);
  TrainOutcome run();

 private:
  void say(const std::string& text);
  void resume();
  void one_step();
  void end_epoch();
  void evaluate_now(bool final_row);
  void checkpoint();
  void save_model(const std::string& name);
  std::string stop_reason(RunStatus& status) const;
  Summary finish(RunStatus status, const std::string& reason);
  void write_predictions();
  std::vector<std::pair<std::string, double>> evaluate_splits(bool final_row);
  void report(const MetricRow* row);
  void clamp_pe();
  [[noreturn]] void diverged(double loss, double norm);
  RunIdentity identity() const;
  std::int64_t epoch_length() const {
    return config_.watch.eval_steps > 0 ? config_.watch.eval_steps : batches_.steps_per_pass();
  }
  std::int64_t planned_steps() const;
  std::uint64_t step_seed() const {
    return derive_seed(static_cast<std::uint64_t>(config_.seed), "step", static_cast<std::uint64_t>(at_.step));
  }
  double total_seconds() const { return earlier_seconds_ + seconds_since(started_); }

  const TrainSetup& setup_;
  const TrainHooks& hooks_;
  RunConfig config_;
  const Dataset& dataset_;
  ModelStructure structure_;
  ThreadPool pool_;
  AlignedBuffer<float> params_;
  Optimizer optimizer_;
  Prepared prepared_;
  StepRunner runner_;
  TrainingBatches batches_;
  RunDirectory directory_;
  std::string config_json_;
  BatchData batch_;
  Position at_;
  std::vector<bool> pe_slots_;
  std::vector<double> pe_norms_;
  MetricRow last_row_;
  std::map<std::string, Evaluation> final_evaluations_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_checkpoint_ = Clock::now();
  double earlier_seconds_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t checkpointed_step_ = -1;
};

std::uint64_t disk_estimate(const ModelStructure& s, const RunConfig& c) {
  const auto model = static_cast<std::uint64_t>(s.layout.floats()) * sizeof(float);
  return model * (2 + 3 * 3 + c.watch.snapshots.size()) + (std::uint64_t{8} << 20);
}

Trainer::Trainer(const TrainSetup& setup, const TrainHooks& hooks)
    : setup_(setup),
      hooks_(hooks),
      config_(setup.config),
      dataset_(*setup.dataset),
      structure_(structure_for(setup.config, *setup.dataset)),
      pool_(setup.threads),
      params_(static_cast<std::size_t>(structure_.layout.floats())),
      optimizer_(config_.optim, structure_.layout),
      prepared_(structure_),
      runner_(structure_, pool_),
      batches_(dataset_, config_, structure_.shape),
      directory_(RunDirectory::open_for_training(setup.out, identity(), {disk_estimate(structure_, config_), 2})),
      config_json_(model_config_json(structure_, dataset_)) {
  initialize_parameters(structure_, config_.seed, params_.data());
  load_given_tables(structure_, params_.data());
  for (const TensorSlot& slot : structure_.layout.slots()) {
    const bool pe = matches_pattern("*pe.*", slot.name);
    pe_slots_.push_back(pe);
    pe_norms_.push_back(pe ? std::sqrt(kernels::sum_of_squares(params_.data() + slot.offset, slot.size)) : 0.0);
  }
  for (const std::string& w : directory_.warnings()) say(w);
}

RunIdentity Trainer::identity() const {
  RunIdentity id;
  id.config = config_;
  id.hashes = config_identity(config_, dataset_.hash);
  id.data_hash = dataset_.hash;
  id.signature = pinned_signature(kPeKindNames[static_cast<std::size_t>(config_.pe.kind)]);
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

void Trainer::resume() {
  CheckpointSearch found = directory_.load_latest_checkpoint();
  for (const std::string& w : found.warnings) say(w);
  if (!found.checkpoint) {
    directory_.truncate_metrics({});
    save_model("init");
    directory_.write_dataset(dataset_info(dataset_));
    return;
  }
  const LoadedCheckpoint& c = *found.checkpoint;
  load_parameters(structure_, c.model.tensors, params_.data());
  const auto restore = [&](AlignedBuffer<float>& to, const char* name) {
    if (to.size() == 0) return;
    const std::span<const float> values = c.state.at(name).as<float>();
    LOCUS_CHECK(values.size() == to.size(), "optimiser state of another size");
    std::copy(values.begin(), values.end(), to.data());
  };
  restore(optimizer_.moment1(), "moment1");
  restore(optimizer_.moment2(), "moment2");
  at_ = Position::from_metadata(c.metadata);
  earlier_seconds_ = directory_.truncate_metrics(c.metrics);
  if (!directory_.metrics_note().empty()) say(directory_.metrics_note());
  checkpointed_step_ = at_.step;
  say(fmt::format("resumed from step {} (epoch {})", at_.step, at_.epoch));
}

void Trainer::save_model(const std::string& name) {
  directory_.save_model(name, {parameter_views(structure_, params_.data()), config_json_});
}

void Trainer::checkpoint() {
  if (checkpointed_step_ == at_.step) return;
  Checkpoint c;
  c.step = at_.step;
  c.model = {parameter_views(structure_, params_.data()), config_json_};
  const auto add = [&](const AlignedBuffer<float>& from, const char* name) {
    if (from.size() != 0) c.state.push_back(tensor_view<float>(name, {static_cast<std::int64_t>(from.size())}, from.span()));
  };
  add(optimizer_.moment1(), "moment1");
  add(optimizer_.moment2(), "moment2");
  c.metadata = at_.to_metadata();
  directory_.save_checkpoint(c);
  checkpointed_step_ = at_.step;
  last_checkpoint_ = Clock::now();
}

void Trainer::diverged(double loss, double norm) {
  const std::string last = checkpointed_step_ >= 0 ? fmt::format("checkpoint of step {}", checkpointed_step_) : "none yet";
  const DivergenceError error({.what = "training diverged: NaN or Inf in loss or gradients",
                               .where = fmt::format("step {}, epoch {}", at_.step, at_.epoch),
                               .got = fmt::format("loss {}, gradient norm {}, learning rate {}", shortest(loss),
                                                  shortest(norm), shortest(scheduled_lr(config_.optim, at_.step))),
                               .expected = "last good: " + last,
                               .hint = "lower optim.lr, set optim.clip_norm=1, or lengthen the warm-up"});
  finish(RunStatus::kDiverged, error.what());
  throw error;
}

void Trainer::clamp_pe() {
  for (std::size_t i = 0; i < pe_slots_.size(); ++i) {
    const TensorSlot& slot = structure_.layout.slots()[i];
    if (!pe_slots_[i] || !slot.trained) continue;
    float* p = params_.data() + slot.offset;
    const double norm = std::sqrt(kernels::sum_of_squares(p, slot.size));
    if (norm > 0)
      kernels::scale_rows({p, 1, slot.size}, static_cast<float>(config_.train.pe_norm_clamp * pe_norms_[i] / norm));
  }
}

void Trainer::one_step() {
  batches_.fill(at_.step, batch_);
  StepContext step;
  step.training = true;
  step.seed = step_seed();
  prepared_.update(params_.data(), {true, step.seed}, &pool_);
  const StepResult result = runner_.run(prepared_, batch_, step);
  const double norm = optimizer_.gradient_norm(runner_.gradients(), &pool_);
  if (!std::isfinite(result.loss) || !std::isfinite(norm)) diverged(result.loss, norm);
  const bool frozen = config_.train.freeze_pe_after >= 0 && at_.epoch >= config_.train.freeze_pe_after;
  optimizer_.update(at_.step, runner_.gradients(), params_.data(), frozen ? pe_slots_ : std::vector<bool>{}, &pool_);
  if (config_.train.pe_norm_clamp > 0) clamp_pe();
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
    if (name == "train" && dataset_.task == Task::kRegression)
      here.limit = std::max<std::int64_t>(config_.watch.eval_limit, 1024);
    const Evaluation evaluation = evaluate(structure_, prepared_, dataset_, name, here, pool_);
    const auto metrics = evaluation_metrics(dataset_, name, evaluation);
    if (final_row && name != "train") final_evaluations_[name] = evaluation;
    values.insert(values.end(), metrics.begin(), metrics.end());
    if (config_.eval.input_noise <= 0 || !final_row || name == "train") continue;
    std::map<std::string, double> noisy;
    here.noise_sd = config_.eval.input_noise;
    for (std::int64_t r = 0; r < config_.eval.noise_repeats; ++r) {
      here.noise_seed = derive_seed(static_cast<std::uint64_t>(config_.seed), "eval/noise", static_cast<std::uint64_t>(r));
      const Evaluation e = evaluate(structure_, prepared_, dataset_, name, here, pool_);
      noisy[dataset_.task == Task::kRegression ? "noisy_mse" : "noisy_accuracy"] +=
          (dataset_.task == Task::kRegression ? e.loss : e.accuracy) / static_cast<double>(config_.eval.noise_repeats);
    }
    for (const auto& [measure, value] : noisy) values.emplace_back(name + "." + measure, value);
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
    if (dataset_.task == Task::kClassification)
      row.values.emplace_back("train.accuracy", at_.epoch_correct / at_.epoch_examples);
  }
  const auto values = evaluate_splits(final_row);
  row.values.insert(row.values.end(), values.begin(), values.end());
  last_row_ = row;
  if (final_row) return;  // the last epoch's line has been shown; this goes into the summary
  directory_.append_metrics(row);
  report(&row);
}

void Trainer::end_epoch() {
  ++at_.epoch;
  const double loss = at_.epoch_loss / at_.epoch_examples;
  at_.low_epochs = config_.stop.loss_below > 0 && loss < config_.stop.loss_below ? at_.low_epochs + 1 : 0;
  if (at_.epoch % config_.watch.eval_every == 0) evaluate_now(false);
  for (const double e : config_.watch.snapshots) {
    if (static_cast<std::int64_t>(e) == at_.epoch) save_model(fmt::format("snapshots/{}", at_.epoch));
  }
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

void Trainer::report(const MetricRow* row) {
  if (!hooks_.progress) return;
  Progress p;
  p.epoch = at_.epoch;
  p.step = at_.step;
  p.total_steps = planned_steps();
  p.epoch_fraction = static_cast<double>(at_.epoch_steps) / static_cast<double>(epoch_length());
  if (at_.epoch_examples > 0) {
    p.loss = at_.epoch_loss / at_.epoch_examples;
    p.accuracy = at_.epoch_correct / at_.epoch_examples;
  }
  const double elapsed = seconds_since(started_);
  if (at_.step > first_step_ && elapsed > 0) {
    p.steps_per_second = static_cast<double>(at_.step - first_step_) / elapsed;
    if (p.total_steps > 0) p.seconds_left = static_cast<double>(p.total_steps - at_.step) / p.steps_per_second;
  }
  p.metrics = row;
  hooks_.progress(p);
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
    return fmt::format("signal {}", hooks_.stop_signal->load());
  }
  return "";
}

void Trainer::write_predictions() {
  const bool regression = dataset_.task == Task::kRegression;
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
    save_model("final");
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
  say(fmt::format("{}: {}", kRunStatusNames[static_cast<std::size_t>(status)], reason));
  return summary;
}

TrainOutcome Trainer::run() {
  TrainOutcome outcome;
  outcome.resumed = directory_.resumed();
  resume();
  first_step_ = at_.step;
  started_ = Clock::now();
  RunStatus status{};
  std::string reason;
  Clock::time_point last_report = Clock::now();
  while ((reason = stop_reason(status)).empty()) {
    one_step();
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

TrainOutcome train(const TrainSetup& setup, const TrainHooks& hooks) { return Trainer(setup, hooks).run(); }

}  // namespace locus
