// locus results keep|tables.
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "io/file.h"
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

int run_results_tables(const ResultsOptions& options) {
  int code = kExitDone;
  for (const std::string& path : options.paths) {
    const std::string text = fill_tables(path);
    const bool same = text == read_text_file(path);
    if (options.check && !same) {
      message_line(path + ": tables are not those of the results; run `locus results tables`");
      code = kExitFailed;
    }
    if (!options.check && !same) write_file_atomic(path, text);
  }
  return code;
}

}  // namespace locus::cli
