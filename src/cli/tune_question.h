// What `locus tune` and `locus advise` are asked, from the words of the command line.
#pragma once

#include <string>

#include "cli/tune_options.h"
#include "tune/tune.h"

namespace locus::cli {

TuneQuestion tune_question(const TuneCommandOptions& options, const std::string& command);

}  // namespace locus::cli
