// locus tune.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/queue.h"
#include "cli/sweep_view.h"
#include "cli/terminal.h"
#include "cli/tune_question.h"
#include "core/error.h"
#include "core/json.h"
#include "core/parallel.h"
#include "core/text.h"
#include "report/report.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

void print_outcome(const TuneCommandOptions& options, const TuneOutcome& outcome, int code) {
  const fs::path out = options.out;
  if (options.json) {
    Json json;
    json["exit_code"] = code;
    json["runs"] = outcome.runs;
    json["spent_steps"] = outcome.spent;
    json["budget_steps"] = outcome.budget;
    json["seconds"] = outcome.seconds;
    json["trained_seconds"] = outcome.trained_seconds;
    json["failures"] = outcome.failures;
    if (outcome.answer) {
      const TuneAnswer& a = *outcome.answer;
      json["key"] = a.key;
      json["value"] = a.value;
      json["interval"] = Json::array({a.lo, a.hi});
      json["alike"] = Json::array({a.alike_lo, a.alike_hi});
      json["effect"] = a.effect;
      json["score"] = a.score;
      json["noise"] = a.noise;
      json["sentences"] = a.sentences;
      json["best"] = (out / tune_files::kBest).string();
    }
    return print_line(json.dump(1));
  }
  for (const std::string& f : outcome.failures) print_line("failed: " + f);
  if (outcome.answer) {
    for (const std::string& s : outcome.answer->sentences) print_wrapped(s);
    print_line(fmt::format("{} runs, {} of {} steps; {} of training in {}", outcome.runs, outcome.spent, outcome.budget,
                           human_seconds(outcome.trained_seconds), human_seconds(outcome.seconds)));
    print_line(fmt::format("train it: locus train {} --out runs/best; all runs: {}", (out / tune_files::kBest).string(),
                           (out / tune_files::kTable).string()));
  } else if (code == kExitAgain) {
    print_line("stopped; the same command goes on from here");
  }
}

// A line for each candidate at the longest training it had.
void print_candidates(const std::string& folder, const AnswerWords& words) {
  const std::optional<SearchPicture> picture = read_search_picture(folder);
  if (!picture) return;
  std::vector<SearchPicture::Run> runs = picture->runs;
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return std::tuple(!a.rival.empty(), a.value, a.seed) < std::tuple(!b.rival.empty(), b.value, b.seed);
  });
  std::vector<std::vector<std::string>> rows;
  for (const auto& r : runs)
    rows.push_back({r.candidate, std::to_string(r.seed), std::to_string(r.steps),
                    r.diverged ? "diverged" : show_score(words, r.score)});
  print_line(text_table({"candidate", "seed", "steps", words.metric}, rows));
}

}  // namespace

int run_tune(const TuneCommandOptions& options, const std::string& program) {
  const TuneQuestion question = tune_question(options, "locus tune");
  SweepOptions folder;
  folder.out = options.out;
  folder.isa = options.isa;
  TuneWork work;
  work.out = options.out;
  work.program = program;
  work.cache = cache_folder();
  work.isa = sweep_isa(folder);
  work.threads = std::max(1, options.threads);
  work.jobs = options.jobs > 0 ? options.jobs : std::max(1, usable_cores() / work.threads);
  work.stop_signal = &install_stop_signals();
  std::optional<SweepView> view;
  TuneHooks hooks;
  hooks.message = [&](const std::string& text) {
    if (view) view->finish();
    if (!options.quiet) message_line(text);
  };
  hooks.sweep = [&](const SweepPlan& plan) {
    view.emplace(plan, plan.watched(), options.quiet);
    return view->hooks();
  };
  const TuneOutcome outcome = tune(question, work, hooks);
  if (view) view->finish();
  const int code = outcome.answer ? kExitDone : outcome.failures.empty() ? kExitAgain : kExitSomeFailed;
  if (outcome.answer && !options.json && !options.quiet) print_candidates(options.out, outcome.words);
  print_outcome(options, outcome, code);
  if (outcome.answer && !options.no_report) {
    report::ReportOptions page;
    page.dirs = {options.out};
    page.out = (fs::path(options.out) / report::kReportFile).string();
    const report::ReportResult written = report::write_report(page);
    if (!options.json) print_line("look at  " + written.page);
  }
  return code;
}

}  // namespace locus::cli
