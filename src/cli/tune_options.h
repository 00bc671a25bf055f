// The commands `locus tune` and `locus advise`: their options and what runs them, as in commands.h.
#pragma once

#include <string>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace locus::cli {

inline constexpr const char* kTuneHelp =
    "Which sigma suits these data: a search that may be killed, with an interval and a report";
inline constexpr const char* kTuneExample =
    "locus tune configs/lst/cheap.toml --budget 20m --out runs/tune\n"
    "  locus tune samples.csv optim.lr=1e-4..1e-2:log --budget 4runs --out runs/tune";
inline constexpr const char* kAdviseHelp = "A range for sigma from the data and the untrained model, in a moment";
inline constexpr const char* kAdviseExample = "locus advise configs/lst/cheap.toml\n  locus advise samples.csv";

struct TuneCommandOptions : DataOptions {  // words: a configuration or data, key=range and key=value
  std::string budget = "4runs";
  std::string aim = "score";
  std::string metric;
  bool no_rivals = false;
  bool no_report = false;
  std::string out;
  int jobs = 0;
  std::string isa;
};
int run_tune(const TuneCommandOptions& options, const std::string& program);
int run_advise(const TuneCommandOptions& options);

void add_tune_options(CLI::App& c, TuneCommandOptions& o);
void add_advise_options(CLI::App& c, TuneCommandOptions& o);

}  // namespace locus::cli
