// The words of every command and option, as completion needs them, from the option parser's own list.
#pragma once

#include <vector>

#include "cli/completion.h"

namespace CLI {
class App;
}

namespace locus::cli {

std::vector<CommandWords> words_of(const CLI::App& app);

// The first subcommand or option on the command line that does not exist, with the nearest that does; "" when all do.
std::string unknown_word(const CLI::App& app, int argc, char** argv);

}  // namespace locus::cli
