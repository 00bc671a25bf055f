// The options by which a user names data of their own, the same for fit, check, tune and advise.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace locus::cli {

void add_data_options(CLI::App* command, DataOptions& options);
void add_data_flags(CLI::App* command, DataOptions& options);  // all but the names of files

}  // namespace locus::cli
