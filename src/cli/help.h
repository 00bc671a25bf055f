// Words for those who ask what there is: help without a command, of a command that was given nothing, and for names that do
// not exist.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace locus::cli {

extern const char* const kHelpFooter;  // how to start, and the environment

// `locus`, `locus help [COMMAND...]` and `locus --version` are answered here, with the exit code; nothing for all others.
std::optional<int> help_asked_for(const CLI::App& app, int argc, char** argv);

// The help of a command that was named with nothing after it; "" when there is something.
std::string help_of_command_alone(const CLI::App& app, int argc, char** argv);

std::string unknown_text(const char* what, const std::string& word, const std::vector<std::string>& names);

// Of a command line that was not understood, or asked for help: help goes to the output as every result does, what was wrong
// is a message. Returns the exit code.
int answer(const CLI::App& app, const CLI::ParseError& e);

}  // namespace locus::cli
