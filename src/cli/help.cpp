#include "cli/help.h"

#include <fmt/core.h>

#include <sstream>
#include <string_view>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/text.h"

namespace locus::cli {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App* app) {
  return app->get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* subcommand(const CLI::App* app, std::string_view name) {
  for (const CLI::App* c : subcommands(app)) {
    if (c->get_name() == name) return c;
  }
  return nullptr;
}

// "locus lst" of `locus lst show`: what stands before the name in a line of usage.
std::string prefix_of(const CLI::App* command) {
  std::string text;
  for (const CLI::App* up = command->get_parent(); up != nullptr; up = up->get_parent())
    text = (up->get_parent() == nullptr ? "locus" : up->get_name()) + (text.empty() ? "" : " " + text);
  return text;
}

std::string help_of(const CLI::App* command) { return std::string(trim(command->help(prefix_of(command)))); }

}  // namespace

const char* const kHelpFooter =
    "Start:\n  locus demo                                 a small study and a report, in minutes\n"
    "  locus fit samples.csv --out runs/mine      your own table, to a report\n"
    "  locus help train                           options and an example of a command\n\n"
    "Environment:\n"
    "  LOCUS_CACHE      folder of generated puzzles (else XDG_CACHE_HOME/locus, ~/.cache/locus)\n"
    "  LOCUS_ISA        baseline, avx2, avx512 or neon in place of the best that is there\n"
    "  NO_COLOR         plain text\n"
    "  OMP_NUM_THREADS  fewer threads (also SLURM_CPUS_PER_TASK)";

std::optional<int> help_asked_for(const CLI::App& app, int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "help";
  if (first == "--version" || first == "-V") return run_version({});
  if (first != "help") return std::nullopt;
  const CLI::App* at = &app;
  for (int i = 2; i < argc; ++i) {
    const CLI::App* next = subcommand(at, argv[i]);
    if (next == nullptr) {
      std::vector<std::string> names;
      for (const CLI::App* c : subcommands(at)) names.push_back(c->get_name());
      message_line(unknown_text("command", argv[i], names));
      return kExitUsage;
    }
    at = next;
  }
  print_line(help_of(at));
  return kExitDone;
}

std::string help_of_command_alone(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    at = subcommand(at, argv[i]);
    if (at == nullptr) return "";
  }
  return at == &app ? "" : help_of(at);
}

std::string unknown_text(const char* what, const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return fmt::format("error: unknown {} {}\n  hint:     {}", what, word,
                     nearest.empty() ? "--help lists what there is" : "did you mean " + nearest + "?");
}

int answer(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream out, err;
  const int code = app.exit(e, out, err);
  if (!err.str().empty()) message_line(std::string(trim(err.str())));
  try {
    if (!out.str().empty()) print_line(out.str().substr(0, out.str().find_last_not_of('\n') + 1));
  } catch (const IoError& failure) {
    message_line(std::string("error: ") + failure.what());
    return kExitFailed;
  }
  return code == 0 ? kExitDone : kExitUsage;
}

}  // namespace locus::cli
