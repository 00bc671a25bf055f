#include "tune/tune.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>

#include "analyze/analysis_run.h"
#include "analyze/identifiability.h"
#include "config/load.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/nan.h"
#include "core/text.h"
#include "data/datasets.h"
#include "infer/model_files.h"
#include "io/file.h"
#include "io/table.h"
#include "run/claim.h"
#include "sweep/collect.h"
#include "sweep/estimate.h"
#include "train/batches.h"
#include "tune/rivals.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr double kMeasureSeconds = 2;
constexpr std::int64_t kFewestSteps = 8;  // of the shortest run
constexpr std::int64_t kReadableSeeds = 2;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Keys that a search must not vary: they change what is asked, how long a run is, or nothing at all.
void check_keys(const std::vector<TuneKey>& keys) {
  for (const TuneKey& k : keys) {
    const std::string section = k.key.substr(0, k.key.find('.'));
    if (section == "model" || section == "pe" || section == "optim" || section == "train" || section == "mask") continue;
    throw ConfigError({.what = "this key cannot be searched",
                       .where = kTuneWhere,
                       .got = k.key + "=" + k.text(),
                       .expected = "keys of model, pe, optim, train or mask",
                       .hint = k.key == "seed"
                                   ? "seeds are chosen by the search; seed=3 sets the first"
                                   : "it changes the data, the length or what is watched: scores would not compare"});
  }
}

void check_question(const TuneQuestion& q) {
  const RunConfig& c = q.base;
  check_keys(q.keys);
  if (c.stop.seconds > 0) {
    throw ConfigError({.what = "stop.seconds ends runs by the clock, so they cannot be compared",
                       .where = kTuneWhere,
                       .got = "stop.seconds=" + shortest(c.stop.seconds),
                       .hint = "use stop.steps or stop.epochs, and --budget for the whole search"});
  }
  if (c.stop.epochs == 0 && c.stop.steps == 0) {
    throw ConfigError({.what = "the runs have no length",
                       .where = kTuneWhere,
                       .got = "stop.epochs=0 stop.steps=0",
                       .hint = "set stop.steps or stop.epochs to the length of a whole run"});
  }
  const bool sigma = std::any_of(q.keys.begin(), q.keys.end(), [](const TuneKey& k) { return k.key == "pe.sigma"; });
  if (sigma && !sigma_counts(c.pe)) {
    throw ConfigError({.what = "sigma decides nothing for this encoding",
                       .where = kTuneWhere,
                       .got = encoding_name(c),
                       .expected = "an encoding that starts from random numbers, such as pe.kind=learned",
                       .hint = "or name the keys to search: optim.lr=1e-4..1e-2:log"});
  }
  if (q.aim == TuneAim::kReadability && (!c.pe.is_trained() || !c.pe.adds_table()))
    throw ConfigError({.what = "the encoding learns no table of positions that seeds could agree on",
                       .where = "--aim readability",
                       .got = encoding_name(c),
                       .expected = "pe.kind=learned"});
}

std::int64_t whole_run(const RunConfig& c, const Dataset& dataset) {
  const ModelStructure structure = structure_for(c, dataset);
  const TrainingBatches batches(dataset, c, structure.shape);
  const std::int64_t epoch = c.watch.eval_steps > 0 ? c.watch.eval_steps : batches.steps_per_pass();
  std::int64_t steps = c.stop.epochs > 0 ? c.stop.epochs * epoch : c.stop.steps;
  if (c.stop.steps > 0) steps = std::min(steps, c.stop.steps);
  return steps;
}

// Of a budget that needs no clock.
std::int64_t budget_steps(const TuneBudget& budget, std::int64_t full) {
  return static_cast<std::int64_t>(budget.amount * (budget.unit == TuneBudget::Unit::kRuns ? static_cast<double>(full) : 1));
}

Json question_json(const TuneQuestion& q, const std::string& metric, const Dataset& dataset) {
  RunConfig copy = q.base;
  Json config = Json::object(), keys = Json::object();
  const FieldList list = describe(copy);
  for (const Field& f : list.fields()) config[f.path] = f.text();
  for (const TuneKey& k : q.keys) keys[k.key] = k.text();
  return {{"metric", metric},           {"aim", q.aim == TuneAim::kScore ? "score" : "readability"},
          {"keys", std::move(keys)},    {"budget", q.budget},
          {"rivals", q.rivals},         {"data", dataset.hash},
          {"config", std::move(config)}};
}

std::string first_difference(const Json& asked, const Json& stored) {
  for (const auto& [key, value] : asked.items()) {
    if (!stored.contains(key)) return key;
    if (stored.at(key) == value) continue;
    if (value.is_object()) return first_difference(value, stored.at(key));
    return fmt::format("{}: {} there, {} asked", key, stored.at(key).dump(), value.dump());
  }
  return "the searched keys";
}

// Everything of one search while it runs.
class Tuner {
 public:
  Tuner(const TuneQuestion& question, const TuneWork& work, const TuneHooks& hooks)
      : question_(question), work_(work), hooks_(hooks), folder_(work.out) {}

  TuneOutcome run() {
    prepare();
    replay();
    while (const std::optional<TuneStage> stage = search_->next()) {
      if (!run_stage(*stage)) return outcome();
    }
    const TuneAnswer answer = answer_of(*search_, outcome_.words);
    finish(answer);
    outcome_.answer = answer;
    return outcome();
  }

 private:
  void prepare();
  SearchPlan plan_for(const std::string& metric, const Dataset& dataset);
  void open_folder(const Json& asked, const TuneBudget& budget, std::int64_t full);
  void replay();
  bool run_stage(const TuneStage& stage);
  SweepPlan plan_of(const TuneStage& stage);
  StoredStage scored(const TuneStage& stage) const;
  std::vector<double> agreements(const TuneStage& stage, const std::vector<std::string>& runs) const;
  RunConfig config_of(const TuneTask& task) const;
  void finish(const TuneAnswer& answer);
  void write_table() const;
  TuneOutcome outcome() {
    outcome_.seconds = since(started_);
    outcome_.spent = search_->spent();
    outcome_.budget = search_->plan().budget;
    std::map<std::string, double> seconds;
    for (const StoredStage& s : stored_.stages) {
      for (const std::string& run : s.runs) seconds[run] = 0;
    }
    for (auto& [run, time] : seconds) {
      if (const CellOutcome there = folder_.outcome(run); there.summary) time = there.summary->seconds;
      outcome_.trained_seconds += time;
    }
    outcome_.runs = static_cast<std::int64_t>(seconds.size());
    return outcome_;
  }
  void say(const std::string& text) const {
    if (hooks_.message) hooks_.message(text);
  }

  TuneQuestion question_;
  const TuneWork& work_;
  const TuneHooks& hooks_;
  SweepFolder folder_;
  Clock::time_point started_ = Clock::now();
  Claim claim_;
  StoredSearch stored_;
  std::optional<Search> search_;
  TuneOutcome outcome_;
  std::map<std::pair<std::size_t, std::int64_t>, std::string> names_;  // of the runs of tasks
};

void Tuner::prepare() {
  if (question_.keys.empty()) question_.keys = {parse_tune_key("pe.sigma=0.01..3:log")};
  check_question(question_);
  const TuneBudget budget = parse_budget(question_.budget);
  const std::string metric = tune_metric(question_.base, question_.metric);
  const Dataset dataset = make_dataset(question_.base, work_.cache);
  if (!dataset.has_split("validation")) {
    throw ConfigError({.what = "the data have no validation split, and no other may decide",
                       .where = kTuneWhere,
                       .hint = "leave a part for validation, of few recordings with series.validation_fraction=0.4"});
  }
  SearchPlan plan = plan_for(metric, dataset);
  if (budget.unit != TuneBudget::Unit::kSeconds) {  // one that is too small is refused before anything is written
    SearchPlan trial = plan;
    trial.budget = budget_steps(budget, plan.levels.back());
    cut_budget(trial);
  }
  open_folder(question_json(question_, metric, dataset), budget, plan.levels.back());
  plan.budget = stored_.budget_steps;
  cut_budget(plan);
  search_.emplace(std::move(plan));
  const SearchPlan& p = search_->plan();
  say(fmt::format("budget {} steps: {:.3g} whole runs of {} steps; {} stages, the first with runs of {} steps", p.budget,
                  static_cast<double>(p.budget) / static_cast<double>(p.levels.back()), p.levels.back(), p.stages,
                  p.levels[p.first_level]));
}

// All but the budget.
SearchPlan Tuner::plan_for(const std::string& metric, const Dataset& dataset) {
  SearchPlan plan;
  plan.space = TuneSpace(question_.keys);
  const MeasureRow* const measure = measure_of(metric);
  const bool readable = question_.aim == TuneAim::kReadability;
  plan.higher_is_better = readable || (measure != nullptr && measure->higher_is_better);
  plan.seeds_each = readable ? kReadableSeeds : 1;
  plan.seed = static_cast<std::uint64_t>(question_.base.seed);
  if (question_.rivals && !readable) plan.rivals = tune_rivals(question_.base, dataset);
  const std::int64_t full = whole_run(question_.base, dataset);
  plan.levels = tune_levels(full, std::min(full, kFewestSteps));
  AnswerWords& words = outcome_.words;
  words.metric = readable ? "readability" : metric;
  words.words = readable ? "agreement of P - P0 between seeds"
                         : "validation " + (measure != nullptr ? measure->words : metric.substr(metric.find('.') + 1));
  words.is_fraction = !readable && measure != nullptr && measure->is_fraction;
  if (plan.rivals.empty()) words.not_tried.emplace_back("frozen and fixed encodings");
  return plan;
}

// Takes the folder for this process, and what an earlier call recorded in it.
void Tuner::open_folder(const Json& asked, const TuneBudget& budget, std::int64_t full) {
  folder_.prepare();
  std::string owner;
  std::optional<Claim> claim = Claim::take(fs::path(work_.out) / tune_files::kLock, nullptr, &owner);
  if (!claim) throw IoError({.what = "another search works in this folder", .where = work_.out, .got = owner});
  claim_ = std::move(*claim);
  if (std::optional<StoredSearch> there = read_search(work_.out)) {
    if (!(there->question == asked)) {
      throw ConfigError({.what = "this folder has another search",
                         .where = work_.out,
                         .got = first_difference(asked, there->question),
                         .hint = "choose another --out, or ask the same question to go on with it"});
    }
    stored_ = std::move(*there);
    return;
  }
  stored_.question = asked;
  if (budget.unit == TuneBudget::Unit::kSeconds) {
    say("measuring the speed of a run ...");
    stored_.steps_per_second = measure_cell(question_.base, kMeasureSeconds, work_.threads).steps_per_second;
    stored_.budget_steps = static_cast<std::int64_t>(budget.amount * stored_.steps_per_second);
  } else {
    stored_.budget_steps = budget_steps(budget, full);
  }
}

// The stages that are recorded follow from the plan and their scores; the files must agree.
void Tuner::replay() {
  std::vector<StoredStage> stages = std::move(stored_.stages);
  stored_.stages.clear();
  for (StoredStage& s : stages) {
    const std::optional<TuneStage> next = search_->next();
    if (!next || next->level != s.stage.level || next->tasks != s.stage.tasks) {
      throw IoError({.what = "the recorded search is not the one that its question leads to",
                     .where = (fs::path(work_.out) / tune_files::kSearch).string(),
                     .hint = "it was changed, or made by another version; search again in another folder"});
    }
    search_->record(*next, s.scores);
    for (std::size_t i = 0; i < s.runs.size(); ++i) names_[{s.stage.tasks[i].candidate, s.stage.tasks[i].seed}] = s.runs[i];
    stored_.stages.push_back(std::move(s));
  }
}

RunConfig Tuner::config_of(const TuneTask& task) const {
  RunConfig config = question_.base;
  const FieldList list = describe(config);
  for (const auto& [key, value] : search_->candidates()[task.candidate].settings)
    list.find(key, kTuneWhere).set(value, kTuneWhere);
  config.seed = task.seed;
  return config;
}

// One case a run. A run's name is not that of the sweep's cell with its configuration: it may have ended earlier.
SweepPlan Tuner::plan_of(const TuneStage& stage) {
  SweepSpec spec;
  spec.metric = outcome_.words.metric;
  for (const TuneTask& task : stage.tasks)
    spec.cases.push_back({candidate_name(search_->candidates()[task.candidate]), config_of(task), {}});
  SweepPlan plan = make_plan(spec);
  LOCUS_CHECK(plan.cells.size() == stage.tasks.size(), "every run of a stage is another");
  for (SweepCell& cell : plan.cells) {
    cell.hash = "t-" + cell.hash;
    cell.version1.clear();
    cell.steps = search_->plan().levels[stage.level];
    const TuneTask& task = stage.tasks[cell.base];
    names_[{task.candidate, task.seed}] = cell.hash;
  }
  return plan;
}

bool Tuner::run_stage(const TuneStage& stage) {
  const SweepPlan plan = plan_of(stage);
  SweepRun run;
  run.plan = &plan;
  run.out = work_.out;
  for (const SweepCell& cell : plan.cells) run.cells.push_back(cell.index);
  run.program = work_.program;
  run.jobs = work_.jobs;
  run.threads = work_.threads;
  run.isa = work_.isa;
  run.stop_signal = work_.stop_signal;
  run.collect = false;
  run.baselines = false;
  if (hooks_.stage) hooks_.stage(plan);
  say(fmt::format("stage {} of {}: {} runs to {} steps", search_->stages_done() + 1, search_->plan().stages,
                  stage.tasks.size(), search_->plan().levels[stage.level]));
  const SweepOutcome done = run_cells(run, hooks_.sweep ? hooks_.sweep(plan) : SweepHooks{});
  for (const SweepFailure& f : done.failures) {
    if (f.outcome.status == CellStatus::kDiverged) continue;
    outcome_.failures.push_back(fmt::format("{}: {}: {} (log: {})", plan.name(*f.cell), cell_status_name(f.outcome.status),
                                            f.outcome.reason, folder_.log(f.cell->hash).string()));
  }
  if (done.left > 0 || !outcome_.failures.empty()) return false;
  StoredStage stored = scored(stage);
  search_->record(stage, stored.scores);
  stored_.stages.push_back(std::move(stored));
  write_search(work_.out, stored_, *search_, nullptr);
  return true;
}

StoredStage Tuner::scored(const TuneStage& stage) const {
  StoredStage out;
  out.stage = stage;
  for (const TuneTask& task : stage.tasks) out.runs.push_back(names_.at({task.candidate, task.seed}));
  out.agreement = agreements(stage, out.runs);
  for (std::size_t i = 0; i < stage.tasks.size(); ++i) {
    const CellOutcome end = folder_.outcome(out.runs[i], search_->plan().levels[stage.level]);
    LOCUS_CHECK(end.summary.has_value(), "a run of a finished stage has an end");
    TuneScore s;
    s.task = stage.tasks[i];
    s.level = stage.level;
    s.steps = end.summary->steps;
    const bool readable = question_.aim == TuneAim::kReadability;
    const double score = readable ? out.agreement[i] : end.summary->find(outcome_.words.metric).value_or(kNan);
    s.diverged = end.status == CellStatus::kDiverged || !std::isfinite(score);
    s.score = s.diverged ? 0 : score;
    out.scores.push_back(s);
  }
  return out;
}

// How alike what was learned is between the seeds of a candidate: the correlation of the cosines of P - P0, centred, mean
// over layers and other seeds of the same length.
std::vector<double> Tuner::agreements(const TuneStage& stage, const std::vector<std::string>& runs) const {
  std::vector<double> out(runs.size(), kNan);
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) groups[stage.tasks[i].candidate].push_back(i);
  for (const auto& [candidate, members] : groups) {
    if (members.size() < 2 || !config_of(stage.tasks[members[0]]).pe.is_trained()) continue;
    std::vector<std::vector<ComparableCode>> codes;
    try {
      for (const std::size_t i : members) {
        const AnalysisRun run = load_analysis_run(folder_.run(runs[i]), nullptr, {.snapshots = false});
        codes.emplace_back();
        if (!adds_codes(run)) continue;
        for (const LayerCode& c :
             code_changes(layer_codes(run, run.require_trained()), layer_codes(run, run.require_initial())))
          codes.back().emplace_back(c.code);
      }
    } catch (const Error&) {
      continue;  // a diverged run has no trained model
    }
    for (std::size_t a = 0; a < members.size(); ++a) {
      double sum = 0, count = 0;
      for (std::size_t b = 0; b < members.size(); ++b) {
        if (a == b) continue;
        for (std::size_t layer = 0; layer < std::min(codes[a].size(), codes[b].size()); ++layer) {
          CodePairRow row;
          codes[a][layer].compare(codes[b][layer], row);
          if (std::isfinite(row.centred_pearson)) sum += row.centred_pearson, count += 1;
        }
      }
      if (count > 0) out[members[a]] = sum / count;
    }
  }
  return out;
}

void Tuner::write_table() const {
  std::vector<std::vector<std::string>> rows;
  for (const StoredStage& stage : stored_.stages) {
    for (std::size_t i = 0; i < stage.scores.size(); ++i) {
      const TuneScore& s = stage.scores[i];
      const TuneCandidate& c = search_->candidates()[s.task.candidate];
      rows.push_back({candidate_name(c), c.rival.empty() ? "no" : "yes", std::to_string(s.task.seed),
                      std::to_string(s.steps), s.diverged ? "" : shortest(s.score),
                      std::isfinite(stage.agreement[i]) ? shortest(stage.agreement[i]) : "", s.diverged ? "yes" : "no",
                      stage.runs[i]});
    }
  }
  const std::vector<std::string> header = {"candidate", "rival", "seed", "steps", "score", "readability", "diverged", "run"};
  write_csv(fs::path(work_.out) / tune_files::kTable, header, rows);
}

void Tuner::finish(const TuneAnswer& answer) {
  RunConfig best = config_of({answer.best, question_.base.seed});
  write_file_atomic(fs::path(work_.out) / tune_files::kBest, to_toml(best));
  write_table();
  collect_results(folder_, true);
  write_search(work_.out, stored_, *search_, &answer);
}

}  // namespace

TuneBudget parse_budget(const std::string& text) {
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const std::string unit(end, text.data() + text.size());
  TuneBudget out{amount, TuneBudget::Unit::kSteps};
  bool good = error == std::errc{} && std::isfinite(amount) && amount > 0 && amount < 1e15;
  if (unit == "runs" || unit == "run") {
    out.unit = TuneBudget::Unit::kRuns;
  } else if (unit == "s" || unit == "m" || unit == "min" || unit == "h") {
    out.unit = TuneBudget::Unit::kSeconds;
    out.amount *= unit == "s" ? 1 : unit == "h" ? 3600 : 60;
  } else {
    good = good && (unit == "steps" || unit == "step");
  }
  if (good) return out;
  throw ConfigError({.what = "not a budget",
                     .where = "--budget",
                     .got = text,
                     .expected = "20m, 90s, 2h (of training), 4runs (whole runs) or 5000steps"});
}

std::string tune_metric(const RunConfig& config, const std::string& asked) {
  const std::string judged = default_metric(config);
  if (asked.empty()) return "validation" + judged.substr(std::min(judged.find('.'), judged.size()));
  const std::string split = asked.substr(0, asked.find('.'));
  if (split == "validation" && asked.find('.') != std::string::npos) return asked;
  throw ConfigError({.what = "only the validation split may decide",
                     .where = "--metric",
                     .got = asked,
                     .expected = "validation" + judged.substr(std::min(judged.find('.'), judged.size())) +
                                 " or another measure of validation",
                     .hint = split == "train" ? "a score on training data rewards learning by heart"
                                              : "a choice made by the test or held-out split makes its score too good: "
                                                "it would no longer tell how the model does on new data"});
}

TuneOutcome tune(const TuneQuestion& question, const TuneWork& work, const TuneHooks& hooks) {
  return Tuner(question, work, hooks).run();
}

}  // namespace locus
