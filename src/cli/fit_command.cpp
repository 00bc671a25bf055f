// locus fit: training, analyses and a report of any samples x tokens matrix, without a configuration.
#include <fmt/format.h>

#include <filesystem>

#include "analyze/analysis_run.h"
#include "analyze/analyze.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "data/samples.h"
#include "io/table.h"
#include "report/report.h"
#include "run/run_directory.h"
#include "stats/matrix_correlation.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

std::string token_name(const AnalysisRun& run, std::int64_t token) {
  const auto& names = run.info.token_names;
  return names.empty() ? std::to_string(token) : names[static_cast<std::size_t>(token)];
}

// The learned positions, one row a layer and token; of the first layer, the cosines of all pairs after centring.
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

}  // namespace

int run_fit(const FitOptions& options, const std::string& command_line) {
  RunConfig config = samples_config({options.samples, options.labels, options.dataset, options.random_split});
  for (const std::string& o : options.overrides) apply_override(config, o);
  validate(config);
  RunDirectory::probe(options.out, config);
  Dataset dataset = make_samples_dataset(config);
  TrainOptions train_options;
  static_cast<CommonOptions&>(train_options) = options;
  train_options.out = options.out;
  if (const int code = train_in(config, dataset, train_options, command_line); code != kExitDone) return code;

  if (!options.quiet) message_line("Analysing what was learned ...");
  AnalyzeOptions analysis;
  analysis.run = options.out;
  analysis.dataset = [&] { return dataset; };
  analyze_run(analysis);
  write_positions(options.out);
  report::ReportOptions page;
  page.dirs = {options.out};
  page.out = (fs::path(options.out) / "report.html").string();
  const report::ReportResult written = report::write_report(page);
  if (!options.json) {
    print_line(
        fmt::format("Positions and their similarity: {0}/positions.csv, {0}/similarity.csv; figures in {1}\nLook at  {2}",
                    options.out, written.folder, written.page));
  }
  return kExitDone;
}

}  // namespace locus::cli
