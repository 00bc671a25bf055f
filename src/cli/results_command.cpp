// locus results keep|tables|figure.
#include <fmt/core.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "io/file.h"
#include "report/kept_figure.h"
#include "results/keep.h"
#include "results/tables.h"

namespace locus::cli {

int run_results_keep(const ResultsOptions& options) {
  const KeptResults kept = keep_results(options.paths, options.to);
  for (const std::string& file : kept.written) print_line(file);
  for (const std::string& note : kept.notes) message_line(note);
  for (const std::string& run : kept.skipped) message_line("not finished, skipped: " + run);
  return kept.written.empty() ? kExitFailed : kExitDone;
}

namespace {

// Writes a made file, or only says that the one there is another. Returns whether it was as it should be.
bool put_in_place(const std::filesystem::path& file, const std::string& text, bool check, const char* hint) {
  const bool same = std::filesystem::exists(file) && text == read_text_file(file);
  if (!same && check) message_line(fmt::format("{}: not what the results give; run `{}`", file.string(), hint));
  if (!same && !check) write_file_atomic(file, text);
  return same || !check;
}

constexpr std::string_view kFigureEnding = ".figure.toml";

bool draw_figure(const std::string& path, bool check) {
  const report::Figure figure = report::draw_kept_figure(report::read_kept_figure(path));
  const std::string stem = path.substr(0, path.size() - kFigureEnding.size());
  const std::string svg = report::standalone_svg(figure, figure.variants.at(0), report::Theme::kLight);
  const bool drawn = put_in_place(stem + ".svg", svg, check, "locus results figure");
  return put_in_place(stem + ".csv", figure.csv, check, "locus results figure") && drawn;
}

}  // namespace

// Documents with tables, and descriptions of figures by their ending.
int run_results_tables(const ResultsOptions& options) {
  bool good = true;
  for (const std::string& path : options.paths) {
    const bool here = path.ends_with(kFigureEnding)
                          ? draw_figure(path, options.check)
                          : put_in_place(path, fill_tables(path), options.check, "locus results tables");
    good = here && good;
  }
  return good ? kExitDone : kExitFailed;
}

}  // namespace locus::cli
