#include "cli/tune_options.h"

#include "cli/data_options.h"

namespace locus::cli {

void add_tune_options(CLI::App& c, TuneCommandOptions& o) {
  c.add_option(
       "words", o.words,
       "A configuration, or data as `locus fit` takes them; key=from..to:log or key=a,b to search; key=value settings")
      ->required();
  c.add_option("-o,--out", o.out, "Folder of the search")->required();
  c.add_option("--budget", o.budget, "Training of all runs together: 20m, 4runs (whole runs) or 5000steps");
  c.add_option("--aim", o.aim, "score, or readability: agreement of what seeds learned, without labels")
      ->check(CLI::IsMember({"score", "readability"}));
  c.add_option("--metric", o.metric, "Measure of the validation split (default: the one of the task)");
  c.add_flag("--no-rivals", o.no_rivals, "Leave out frozen and fixed encodings");
  c.add_flag("--no-report", o.no_report, "Write no report.html");
  c.add_option("-j,--jobs", o.jobs, "Runs at once (default: usable cores / threads)")->check(CLI::Range(1, 4096));
  c.add_option("--isa", o.isa, "Instruction set: baseline, avx2, avx512, neon (default: LOCUS_ISA, or the best here)");
  add_data_flags(&c, o);
}

void add_advise_options(CLI::App& c, TuneCommandOptions& o) {
  c.add_option("words", o.words, "A configuration, or data as `locus fit` takes them, and key=value settings")->required();
  add_data_flags(&c, o);
}

}  // namespace locus::cli
