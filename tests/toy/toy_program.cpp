// A program of another author: a source, a task, a name of an encoding, an analysis and its figure of its own, and all
// commands of locus over them. One token of a ring is marked; the model is to say which.
#include <fmt/core.h>

#include <cstdlib>
#include <numeric>

#include "analyze/analyze.h"
#include "cli/program.h"
#include "config/run_config.h"
#include "config/sources.h"
#include "config/tasks.h"
#include "core/hash.h"
#include "core/rng.h"
#include "core/text.h"
#include "data/examples.h"
#include "infer/evaluate.h"
#include "io/file.h"
#include "report/analysis.h"
#include "report/registry.h"

namespace {

using namespace locus;

struct RingConfig {
  std::int64_t tokens = 6;
  std::int64_t examples = 120;
  std::string names;  // file with a name of each token, one a line
};

void describe(RingConfig& c, FieldList& list) {
  list.section("ring", "one marked token among the tokens of a ring");
  list.integer("tokens", c.tokens, {3, 64}, "tokens on the ring");
  list.integer("examples", c.examples, {10, 10000}, "examples of each split");
  list.text("names", c.names, "file with the names of the tokens, one a line").identity = false;
}

Examples marked_tokens(const RingConfig& c, const std::string& split) {
  Examples e;
  e.count = c.examples;
  Rng rng(1, "ring/" + split);
  for (std::int64_t i = 0; i < c.examples; ++i) {
    const auto place = static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(c.tokens)));
    for (std::int64_t t = 0; t < c.tokens; ++t) e.ids.push_back(t == place ? 1 : 0);
    e.labels.push_back(place);
  }
  return e;
}

Dataset make_ring(const RunConfig& config, const std::string&) {
  const RingConfig& c = config.own.of<RingConfig>();
  Dataset d;
  d.name = "ring";
  d.tokens = d.outputs = c.tokens;
  d.features = 2;
  std::string content;
  for (const char* split : {"train", "test"}) {
    d.splits.emplace_back(split, marked_tokens(c, split));
    for (const std::int32_t label : d.splits.back().second.labels) content += fmt::format("{} ", label);
  }
  TokenInfo& info = d.tokens_info;
  info.coordinates = MatrixD(c.tokens, 1);
  for (std::int64_t t = 0; t < c.tokens; ++t) info.coordinates(t, 0) = static_cast<double>(t);
  info.coordinates_are_grid = true;
  if (!c.names.empty()) {
    content += read_text_file(c.names);
    info.names = split(trim(read_text_file(c.names)), '\n');
  }
  // The ring as a whole may be turned by one place.
  std::vector<std::int32_t> turn(static_cast<std::size_t>(c.tokens));
  std::iota(turn.begin(), turn.end(), 1);
  turn.back() = 0;
  info.symmetries = {turn};
  d.hash = sha256_hex(content);
  return d;
}

void check_ring(const RunConfig& c) {
  if (c.own.of<RingConfig>().tokens % 2 != 0)
    contradiction("ring.tokens is odd", "the far side of a ring needs an even number");
}

std::vector<std::filesystem::path> ring_files(const RunConfig& c) {
  const std::string& names = c.own.of<RingConfig>().names;
  return names.empty() ? std::vector<std::filesystem::path>{} : std::vector<std::filesystem::path>{names};
}

// How far around the ring the answer is from the truth.
std::vector<std::pair<std::string, double>> steps_away(const Dataset& d, const Examples& examples, const Evaluation& e) {
  double total = 0;
  for (std::size_t i = 0; i < e.predicted.size(); ++i) {
    const auto off = std::abs(e.predicted[i] - examples.labels[static_cast<std::size_t>(e.indices[i])]);
    total += static_cast<double>(std::min<std::int64_t>(off, d.tokens - off));
  }
  return {{"distance", total / static_cast<double>(e.count)}, {"accuracy", e.accuracy}};
}

struct WeightRow {
  std::string model;
  double parameters = kNotAvailable;

  static void fields(auto& r, auto&& visit) {
    visit("model", r.model);
    visit("parameters", r.parameters);
  }
};

struct WeightResult {
  static constexpr const char* kName = "weights";
  std::vector<WeightRow> rows;
  std::vector<std::string> notes;

  static void tables(auto& r, auto&& visit) { visit("rows", "", r.rows); }
};

WeightResult count_weights(const AnalysisJob& job) {
  WeightResult result;
  for (const AnalysisModel& m : job.run.models)
    result.rows.push_back({m.name, static_cast<double>(job.run.structure->layout.floats())});
  return result;
}

report::Found<report::Figure> draw_weights(const report::Inputs& inputs) {
  const report::RunNumber count =
      report::number_of(&WeightResult::rows, &WeightRow::parameters, [](const WeightRow&) { return true; });
  report::Figure figure{.name = "weights", .title = "Weights of the models"};
  figure.csv = "run,weights\n";
  for (const report::Run& run : inputs.runs) figure.csv += fmt::format("{},{}\n", run.name, count(run));
  return report::Found<report::Figure>::of(figure);
}

void register_all() {
  register_task({.name = "place",
                 .summary = "the place of the marked token",
                 .readouts = {Readout::kMean, Readout::kFlat, Readout::kCls},
                 .measures = {{.name = "distance", .words = "steps from the marked token", .higher_is_better = false}},
                 .measure = steps_away});
  register_source({.name = "ring",
                   .study = "ring",
                   .title = "Marked tokens of a ring",
                   .summary = "a marked token of a ring",
                   .tasks = {"place", "classify"},
                   .sections = {{"ring", [](RunConfig& c, FieldList& list) { describe(c.own.of<RingConfig>(), list); }}},
                   .axes = 1,
                   .grid = true,
                   .make = make_ring,
                   .check = check_ring,
                   .files = ring_files,
                   .forget_places = [](RunConfig& c) { c.own.of<RingConfig>().names.clear(); }});
  register_encoding_name([](const RunConfig& c) { return c.pe.sigma == 0.5 ? "a start of my own" : ""; });
  register_analysis(
      analysis_of_run({.question = "How many weights?", .needs = "a model", .figures = {"weights"}}, count_weights));
  report::register_figure({"weights", "Weights of the models", "analysis/weights.json", draw_weights});
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  return locus::cli::run(argc, argv);
}
