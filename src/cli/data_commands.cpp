// locus lst generate|solve|show, nmar simulate, fmri check.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "data/datasets.h"
#include "data/export.h"
#include "data/fmri_check.h"
#include "data/latin/csv.h"
#include "data/latin/dataset.h"
#include "data/latin/render.h"
#include "data/latin/solver.h"
#include "data/latin_examples.h"
#include "io/file.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

LatinCsv to_csv(const LatinSet& set) {
  LatinCsv csv;
  for (std::size_t i = 0; i < set.puzzles.size(); ++i) {
    csv.puzzles.push_back(set.puzzles[i]);
    csv.ids.push_back(std::to_string(i));
    csv.numbers.push_back(set.base_item.empty() ? "" : std::to_string(set.base_item[i] + 1));
  }
  return csv;
}

// A path that looks like a file but is none is not taken for a puzzle.
void require_file_if_csv(const std::string& path) {
  if (path.ends_with(".csv") && !fs::exists(path)) throw IoError({.what = "no such file", .where = path});
}

// Rows and columns count from 1, as in the solver's words.
void print_puzzle(const Puzzle& p, bool json, bool show_answer) {
  if (!json) return print_line(render_explained(p, {colour_allowed(), show_answer}));
  const Solution s = solve(p);
  Json out{{"puzzle", puzzle_text(p)},
           {"n", p.n},
           {"target", {p.target_row() + 1, p.target_column() + 1}},
           {"difficulty", to_lower(difficulty_name(s.difficulty))},
           {"answer", s.answer},
           {"possible", s.possible},
           {"cells_used", Json::array()},
           {"explanation", s.words}};
  for (const int cell : s.cells_used) out["cells_used"].push_back({cell / p.n + 1, cell % p.n + 1});
  print_line(out.dump(1));
}

Json to_json(const FmriReport& r) {
  const auto figure = [](double v) { return std::isfinite(v) ? Json(v) : Json(); };
  Json out{{"ok", r.ok()},
           {"subjects", r.subjects},
           {"regions", r.all_regions},
           {"complete_regions", r.regions},
           {"networks", r.networks},
           {"mean_connectivity", figure(r.mean_connectivity)},
           {"within_networks", figure(r.within_networks)},
           {"between_networks", figure(r.between_networks)},
           {"homotopic_pairs", r.homotopic_pairs},
           {"homotopic", figure(r.homotopic)},
           {"other_interhemispheric", figure(r.other_interhemispheric)},
           {"coverage", r.coverage},
           {"notes", r.notes},
           {"warnings", r.warnings},
           {"runs", Json::array()}};
  for (const CheckedRun& c : r.runs) {
    out["runs"].push_back({{"subject", c.subject},
                           {"run", c.run},
                           {"path", c.path},
                           {"format", c.format},
                           {"frames", c.frames},
                           {"regions", c.regions},
                           {"orientation", c.tokens_are_rows ? "tokens_by_time" : "time_by_tokens"},
                           {"defects", c.defects},
                           {"mean", figure(c.mean)},
                           {"sd_low", figure(c.sd_low)},
                           {"sd_high", figure(c.sd_high)},
                           {"autocorrelation", figure(c.autocorrelation)}});
  }
  return out;
}

}  // namespace

int run_lst_generate(const LstOptions& options) {
  RunConfig config;
  config.lst.n = options.n;
  config.lst.pool_seed = options.seed;
  config.lst.per_difficulty = options.per_difficulty;
  for (const std::string& o : options.overrides) apply_override(config, o);
  validate(config);
  const LatinData data = make_latin_data(latin_options(config.lst));
  ensure_writable_directory(options.path);
  Json json;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, set] : {std::pair<const char*, const LatinSet*>{"train", &data.train},
                                  {"test", &data.test},
                                  {"validation", &data.validation},
                                  {"heldout", &data.heldout}}) {
    const std::string path = (fs::path(options.path) / (std::string(name) + ".csv")).string();
    write_latin_csv(path, to_csv(*set));
    const LatinSetSummary s = summarize(*set);
    rows.push_back({name, std::to_string(set->puzzles.size()),
                    fmt::format("{} / {} / {}", s.count[0], s.count[1], s.count[2]),
                    fmt::format("{:.2f} / {:.2f} / {:.2f}", s.mean_filled[0], s.mean_filled[1], s.mean_filled[2]), path});
    json[name] = {{"puzzles", set->puzzles.size()},
                  {"file", path},
                  {"filled", {s.mean_filled[0], s.mean_filled[1], s.mean_filled[2]}}};
  }
  json["note"] = data.note;
  json["hash"] = latin_data_hash(data);
  if (options.json) {
    print_line(json.dump(1));
  } else {
    print_line(text_table({"split", "puzzles", "binary / ternary / quaternary", "filled cells", "file"}, rows));
    print_line(data.note);
  }
  return kExitDone;
}

int run_lst_solve(const LstOptions& options) {
  require_file_if_csv(options.path);
  if (!fs::exists(options.path)) {
    const Puzzle p = parse_puzzle(options.path);
    print_puzzle(p, options.json, true);
    return is_one_step(p.difficulty) ? kExitDone : kExitFailed;
  }
  const CsvReport report = check_latin_csv(options.path);
  if (options.json) {
    Json json{{"file", report.path}, {"rows", report.rows}, {"issues", Json::array()}};
    for (const CsvIssue& i : report.issues)
      json["issues"].push_back({{"line", i.line}, {"column", i.column}, {"reason", describe(i)}});
    print_line(json.dump(1));
  } else {
    for (const CsvIssue& i : report.issues) print_line(describe(i));
    print_line(fmt::format("{}: {} puzzles, {} disagreements", report.path, report.rows, report.issues.size()));
  }
  return report.issues.empty() && report.rows > 0 ? kExitDone : kExitFailed;
}

int run_lst_show(const LstOptions& options) {
  require_file_if_csv(options.path);
  Puzzle puzzle;
  if (fs::exists(options.path)) {
    const LatinCsv csv = read_latin_csv(options.path);
    if (options.index < 0 || options.index >= static_cast<std::int64_t>(csv.puzzles.size())) {
      throw ConfigError({.what = "no such puzzle in the file",
                         .where = options.path,
                         .got = std::to_string(options.index),
                         .expected = fmt::format("0 .. {}", csv.puzzles.size() - 1)});
    }
    puzzle = csv.puzzles[static_cast<std::size_t>(options.index)];
  } else {
    puzzle = parse_puzzle(options.path);
  }
  print_puzzle(puzzle, options.json, options.answer);
  return kExitDone;
}

int run_nmar_simulate(const DataCommandOptions& options) {
  RunConfig config;
  config.study = "masked";
  config.model.readout = Readout::kMasked;
  if (!options.config.empty()) load_toml_file(config, options.config);
  for (const std::string& o : options.overrides) apply_override(config, o);
  config.series.source = SeriesSource::kNmar;
  validate(config);
  const Dataset dataset = make_dataset(config);
  ensure_writable_directory(options.out);
  write_masked_dataset(dataset, options.out);
  Json json;
  for (const auto& [key, value] : dataset.description) {
    json[key] = value;
    if (!options.json) print_line(fmt::format("{:<18} {}", key, value));
  }
  json["out"] = options.out;
  print_line(options.json ? json.dump(1) : "written to " + options.out);
  return kExitDone;
}

int run_fmri_check(const DataCommandOptions& options) {
  RunConfig config;
  if (!options.config.empty()) load_toml_file(config, options.config);
  for (const std::string& o : options.overrides) apply_override(config, o);
  if (options.files.size() == 1 && is_manifest(options.files.front())) {
    config.series.manifest = options.files.front();
    config.series.files.clear();
  } else if (!options.files.empty()) {
    config.series.files = options.files;
  }
  if (!options.atlas.empty()) config.series.atlas = options.atlas;
  if (!options.dataset.empty()) config.series.dataset = options.dataset;
  config.series.source = SeriesSource::kFiles;
  const FmriReport report = check_fmri(config.series);
  print_line(options.json ? to_json(report).dump(1) : to_text(report));
  return report.ok() ? kExitDone : kExitFailed;
}

}  // namespace locus::cli
