// locus demo: the paper's effect in minutes. A small and a large sigma, the true 2-D code and no encoding, on generated
// puzzles.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "analyze/analyze.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "core/error.h"
#include "core/text.h"
#include "report/report.h"
#include "run/run_record.h"
#include "study/datasets.h"
#include "train/trainer.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

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

RunConfig demo_config(const DemoRun& run, std::int64_t seed) {
  std::vector<std::string> settings = {"model.width=64",
                                       "model.layers=4",
                                       "model.mlp_final_gelu=true",
                                       "optim.lr=1e-3",
                                       "train.batch=128",
                                       "stop.epochs=25",
                                       "watch.eval_every=1",
                                       fmt::format("seed={}", seed),
                                       fmt::format("lst.pool_seed={}", 1000 + seed)};
  settings.insert(settings.end(), run.settings.begin(), run.settings.end());
  return load_run_config("", settings);
}

}  // namespace

int run_demo(const DemoOptions& options, const std::string& command_line) {
  const auto started = std::chrono::steady_clock::now();
  const std::string own = options.seed == 0 ? "runs/demo" : fmt::format("runs/demo-{}", options.seed);
  const std::string& out = options.out.empty() ? own : options.out;
  const std::atomic<int>& stop = install_stop_signals();
  message_line("Generating puzzles ...");
  Dataset dataset = make_dataset(demo_config(demo_runs()[0], options.seed), cache_folder());
  for (const auto& [key, text] : dataset.description) {
    if (!options.quiet && dataset.has_split(key)) message_line(fmt::format("  {:<11} {}", key, text));
  }
  std::vector<std::vector<std::string>> rows;
  double small = 0;
  double large = 0;
  for (const DemoRun& run : demo_runs()) {
    TrainSetup setup;
    setup.config = demo_config(run, options.seed);
    setup.dataset = &dataset;
    setup.out = (fs::path(out) / run.name).string();
    setup.command = command_line;
    setup.threads = thread_count(options);
    ProgressLine line(options.quiet, fmt::format("{:<24}", run.title));
    TrainHooks hooks;
    hooks.stop_signal = &stop;
    hooks.progress = [&](const Progress& p) { line.update(p); };
    const TrainOutcome outcome = train(setup, hooks);
    line.finish();
    if (outcome.summary.status == RunStatus::kInterrupted) {
      message_line("interrupted; run the same command again to go on");
      return kExitAgain;
    }
    const auto percent = [&](const char* name) { return 100 * outcome.summary.find(name).value_or(0); };
    rows.push_back({run.title, fmt::format("{:.1f}", percent("train.accuracy")),
                    fmt::format("{:.1f}", percent("test.accuracy")), fmt::format("{:.1f}", percent("heldout.accuracy"))});
    if (run.name == "learned-small") small = percent("heldout.accuracy");
    if (run.name == "learned-large") large = percent("heldout.accuracy");
  }
  message_line("Analysing what was learned ...");
  for (const DemoRun& run : demo_runs()) {
    AnalyzeOptions analysis;
    analysis.run = fs::path(out) / run.name;
    analysis.names = {"recovery", "movement", "attention", "interventions"};
    analysis.settings.references = {(fs::path(out) / "sinusoidal-2d").string()};
    analysis.dataset = [&] { return dataset; };
    analyze_run(analysis);
  }
  report::ReportOptions page;
  page.dirs = {out};
  page.out = (fs::path(out) / "report.html").string();
  page.title = "Locus demo: Latin squares";
  const report::ReportResult written = report::write_report(page);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  print_line("\nAccuracy in percent; held-out puzzles are far from every training puzzle.\n");
  print_line(text_table({"encoding", "train", "test", "held-out"}, rows));
  print_line(fmt::format("Small sigma is {:+.1f} points above large sigma on held-out puzzles ({}).", small - large,
                         human_seconds(seconds)));
  print_line(
      fmt::format("Look at  {}\nTry      locus train configs/lst/default.toml pe.sigma=0.5 --out runs/mine\n         locus "
                  "lst show 0040405210200030",
                  written.page));
  return kExitDone;
}

}  // namespace locus::cli
