// Scripts that let bash, zsh and fish complete the program's words, made from the one list of commands and the one list of
// keys.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace locus::cli {

struct OptionWords {
  std::vector<std::string> names;  // "--out", "-o"
  std::string help;
  bool takes_value = false;
};

struct CommandWords {
  std::string path;  // "" for the program, "train", "lst show"
  std::string help;
  std::vector<OptionWords> options;
  bool takes_settings = false;  // key=value
};

// The whole script. ConfigError for another shell than bash, zsh and fish.
std::string completion_script(const std::string& shell, const std::vector<CommandWords>& commands);

}  // namespace locus::cli
