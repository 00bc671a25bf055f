// locus demo: the paper's effect in minutes. A small and a large sigma and the true 2-D code on generated puzzles, trained
// side by side.
#include <fmt/core.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "analyze/analyze.h"
#include "cli/analysis_line.h"
#include "cli/commands.h"
#include "cli/progress_line.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"
#include "data/datasets.h"
#include "report/report.h"
#include "run/run_reader.h"
#include "train/trainer.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kConvergedAccuracy = 0.98;  // of training, as reports have it

struct DemoRun {
  std::string name;
  std::string title;
  std::vector<std::string> settings;
};

const std::vector<DemoRun>& demo_runs() {
  static const std::vector<DemoRun> runs = {
      {"learned-small", "learned, sigma 0.1", {"pe.sigma=0.1"}},
      {"learned-large", "learned, sigma 2", {"pe.sigma=2"}},
      {"sinusoidal-2d", "2-D sinusoid (the truth)", {"pe.kind=sinusoidal", "pe.positions=grid"}},
      {"none", "no encoding", {"pe.kind=none"}},
  };
  return runs;
}

// The recipe of configs/lst/best.toml, shortened: the answer is read at the marked cell, symbols are renamed each time.
RunConfig demo_config(const DemoRun& run, std::int64_t seed) {
  std::vector<std::string> settings = {"model.width=48",
                                       "model.mlp_width=192",
                                       "model.layers=4",
                                       "model.mlp_final_gelu=true",
                                       "model.readout=given",
                                       "lst.relabel=true",
                                       "optim.lr=2e-3",
                                       "optim.schedule=cosine",
                                       "optim.warmup_steps=200",
                                       "optim.schedule_steps=3175",
                                       "optim.final_lr_fraction=0.01",
                                       "train.batch=64",
                                       "stop.epochs=25",
                                       "watch.eval_every=1",
                                       fmt::format("seed={}", seed),
                                       fmt::format("lst.pool_seed={}", 1000 + seed)};
  settings.insert(settings.end(), run.settings.begin(), run.settings.end());
  return load_run_config("", settings);
}

// All runs at once, each with a thread of its own; a line a run where somebody looks on.
class SideBySide {
 public:
  SideBySide(const DemoOptions& options, const Dataset& dataset, std::string out, std::string command)
      : options_(options),
        dataset_(dataset),
        out_(std::move(out)),
        command_(std::move(command)),
        summaries_(demo_runs().size()) {
    for (const DemoRun& run : demo_runs()) {
      lines_.emplace_back(true, fmt::format("{:<24}", run.title));
      texts_.push_back(run.title);
    }
  }

  std::vector<Summary> train_all(const std::atomic<int>& stop) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < demo_runs().size(); ++i) threads.emplace_back([this, i, &stop] { guarded(i, stop); });
    for (std::thread& t : threads) t.join();
    block_.finish();
    if (failure_) std::rethrow_exception(failure_);
    return summaries_;
  }

 private:
  void guarded(std::size_t i, const std::atomic<int>& stop) {
    try {
      TrainSetup setup;
      setup.config = demo_config(demo_runs()[i], options_.seed);
      setup.dataset = &dataset_;
      setup.out = (fs::path(out_) / demo_runs()[i].name).string();
      setup.command = command_;
      setup.threads = 1;
      TrainHooks hooks;
      hooks.stop_signal = &stop;
      hooks.progress = [this, i](const Progress& p) { show(i, p); };
      summaries_[i] = train(setup, hooks).summary;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void show(std::size_t i, const Progress& p) {
    if (options_.quiet) return;
    const std::lock_guard lock(mutex_);
    texts_[i] = lines_[i].text(p, static_cast<std::size_t>(screen_size().columns - 1));
    if (stderr_is_terminal()) {
      block_.draw(texts_);
    } else if (p.metrics != nullptr && p.epoch % 5 == 0) {
      message_line(texts_[i]);
    }
  }

  const DemoOptions& options_;
  const Dataset& dataset_;
  std::string out_;
  std::string command_;
  std::vector<Summary> summaries_;
  std::vector<ProgressLine> lines_;
  std::vector<std::string> texts_;
  LiveLines block_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

void analyze_all(const DemoOptions& options, const std::string& out, const Dataset& dataset) {
  AnalysisLine line(options.quiet, demo_runs().size());
  for (const DemoRun& run : demo_runs()) {
    AnalyzeOptions analysis;
    analysis.run = fs::path(out) / run.name;
    analysis.names = {"recovery", "movement", "attention", "interventions"};
    analysis.settings.references = {(fs::path(out) / "sinusoidal-2d").string()};
    analysis.settings.threads = thread_count(options);
    analysis.dataset = [&] { return dataset; };
    analysis.progress = line.hook();
    line.begin(run.title);
    analyze_run(analysis);
  }
  line.clear();
}

void print_results(const std::vector<Summary>& summaries) {
  std::vector<std::vector<std::string>> rows;
  bool open = false;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const auto percent = [&](const char* name) { return fmt::format("{:.1f}", 100 * summaries[i].find(name).value_or(0)); };
    const bool converged = summaries[i].find("train.accuracy").value_or(0) >= kConvergedAccuracy;
    open = open || !converged;
    rows.push_back({demo_runs()[i].title + (converged ? "" : " *"), percent("train.accuracy"), percent("test.accuracy"),
                    percent("heldout.accuracy")});
  }
  print_line("\nAccuracy in percent; held-out puzzles are far from every training puzzle.\n");
  print_line(text_table({"encoding", "train", "test", "held-out"}, rows));
  if (open) print_line("* not converged: below 98 % on training puzzles, more epochs would change it\n");
}

}  // namespace

int run_demo(const DemoOptions& options, const std::string& command_line, const std::string& program) {
  const auto started = std::chrono::steady_clock::now();
  const std::string own = options.seed == 0 ? "runs/demo" : fmt::format("runs/demo-{}", options.seed);
  const std::string& out = options.out.empty() ? own : options.out;
  const std::atomic<int>& stop = install_stop_signals();
  if (!options.quiet) message_line("Generating puzzles ...");
  const Dataset dataset = make_dataset(demo_config(demo_runs()[0], options.seed), cache_folder());
  for (const auto& [key, text] : dataset.description) {
    if (!options.quiet && dataset.has_split(key)) message_line(fmt::format("  {:<11} {}", key, text));
  }
  const std::vector<Summary> summaries = SideBySide(options, dataset, out, command_line).train_all(stop);
  for (const Summary& s : summaries) {
    if (s.status != RunStatus::kInterrupted) continue;
    message_line("stopped; the same command goes on from here");
    return kExitAgain;
  }
  stop_at_once(kStoppedAnalysing);
  if (!options.quiet) message_line("Analysing what was learned ...");
  analyze_all(options, out, dataset);
  report::ReportOptions page;
  page.dirs = {out};
  page.out = (fs::path(out) / report::kReportFile).string();
  page.title = "Locus demo: Latin squares";
  const report::ReportResult written = report::write_report(page);
  const double seconds = seconds_since(started);
  print_results(summaries);
  print_wrapped(report::verdict_text(written.verdict));
  print_line(
      fmt::format("\n{}. Look at  {}\nTry  {} train configs/lst/default.toml pe.sigma=0.5 --out runs/mine\n     {} lst show "
                  "0040405210200030",
                  human_seconds(seconds), written.page, program, program));
  return kExitDone;
}

}  // namespace locus::cli
