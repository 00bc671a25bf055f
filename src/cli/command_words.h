// The words of every command and option, as completion needs them, from the option parser's own list.
#pragma once

#include <vector>

#include "cli/completion.h"

namespace CLI {
class App;
}

namespace locus::cli {

std::vector<CommandWords> words_of(const CLI::App& app);

}  // namespace locus::cli
