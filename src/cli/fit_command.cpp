// locus fit: training, analyses and a report of a user's own table, pictures or recordings, without a configuration.
#include <fmt/core.h>

#include <filesystem>

#include "analyze/analysis_run.h"
#include "analyze/analyze.h"
#include "cli/analysis_line.h"
#include "cli/commands.h"
#include "cli/own_data.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "data/datasets.h"
#include "io/table.h"
#include "report/report.h"
#include "run/run_directory.h"
#include "stats/matrix_correlation.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

std::string token_name(const AnalysisRun& run, std::int64_t token) {
  const auto& names = run.info.names;
  return names.empty() ? std::to_string(token) : names[static_cast<std::size_t>(token)];
}

// The learned positions, one row per layer and token; of the first layer, the cosines of all pairs after centring.
void write_positions(const fs::path& out) {
  const AnalysisRun run = load_analysis_run(out, nullptr, {.snapshots = false});
  if (!adds_codes(run)) return;
  const std::vector<LayerCode> codes = layer_codes(run, run.require_trained());
  std::vector<std::string> header = {"layer", "token"};
  for (std::int64_t k = 0; k < codes.front().code.cols(); ++k) header.push_back(fmt::format("c{}", k));
  std::vector<std::vector<std::string>> rows;
  for (const LayerCode& layer : codes) {
    for (std::int64_t t = 0; t < layer.code.rows(); ++t) {
      std::vector<std::string> row = {std::to_string(layer.layer + 1), token_name(run, t)};
      for (const double x : layer.code.row(t)) row.push_back(fmt::format("{}", x));
      rows.push_back(std::move(row));
    }
  }
  write_csv(out / "positions.csv", header, rows);

  const MatrixD cosine = stats::cosine_similarity(stats::centre_rows(codes.front().code.view()).view());
  std::vector<std::string> names;
  for (std::int64_t t = 0; t < cosine.rows(); ++t) names.push_back(token_name(run, t));
  write_csv(out / "similarity.csv", names, cosine.view(), names);
}

struct Prepared {
  RunConfig config;
  Dataset dataset;
};

// A mistake in a user's own table or pictures is one of usage (exit code 2); nothing is written before all is read.
Prepared prepare(const FitOptions& options) {
  const OwnData data = own_data(options, "fit");
  const auto read = [&] {
    Prepared out;
    out.config = own_config(data, options);
    RunDirectory::probe(options.out, out.config);
    out.dataset = make_dataset(out.config, cache_folder());
    return out;
  };
  if (!data.is_table) return read();
  try {
    return read();
  } catch (const DataError& e) {
    throw ConfigError(e.parts());
  } catch (const IoError& e) {
    throw ConfigError(e.parts());
  }
}

}  // namespace

int run_fit(const FitOptions& options, const std::string& command_line) {
  auto [config, dataset] = prepare(options);
  TrainOptions train_options;
  static_cast<CommonOptions&>(train_options) = options;
  train_options.out = options.out;
  train_options.no_baselines = options.no_baselines;
  if (const int code = train_in(config, dataset, train_options, command_line); code != kExitDone) return code;

  stop_at_once(kStoppedAnalysing);
  if (!options.quiet) message_line("Analysing what was learned ...");
  AnalysisLine line(options.quiet, 1);
  AnalyzeOptions analysis;
  analysis.run = options.out;
  analysis.settings.threads = thread_count(options);
  analysis.dataset = [&d = dataset] { return std::move(d); };  // asked for once: with many tokens a copy is large
  analysis.progress = line.hook();
  line.begin("");
  analyze_run(analysis);
  line.clear();
  write_positions(options.out);
  report::ReportOptions page;
  page.dirs = {options.out};
  page.out = (fs::path(options.out) / report::kReportFile).string();
  const report::ReportResult written = report::write_report(page);
  if (!options.json) {
    print_wrapped("\n" + report::verdict_text(written.verdict) + "\n");
    print_line(
        fmt::format("Positions and their similarity: {0}/positions.csv, {0}/similarity.csv; figures in {1}\nLook at  {2}",
                    options.out, written.folder, written.page));
  }
  return kExitDone;
}

}  // namespace locus::cli
