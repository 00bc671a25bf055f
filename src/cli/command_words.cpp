#include "cli/command_words.h"

#include <CLI/CLI.hpp>

#include <utility>

namespace locus::cli {
namespace {

void collect_words(const CLI::App* at, const std::string& path, std::vector<CommandWords>& out) {
  CommandWords words{path, at->get_description(), {}, false};
  for (const CLI::Option* o : at->get_options()) {
    if (o->get_positional() && (o->get_name(true) == "overrides")) words.takes_settings = true;
    OptionWords option{{}, o->get_description(), o->get_items_expected_max() > 0};
    for (const std::string& name : o->get_lnames()) option.names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) option.names.push_back("-" + name);
    if (!option.names.empty()) words.options.push_back(std::move(option));
  }
  out.push_back(std::move(words));
  for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; }))
    collect_words(sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), out);
}

}  // namespace

std::vector<CommandWords> words_of(const CLI::App& app) {
  std::vector<CommandWords> words;
  collect_words(&app, "", words);
  return words;
}

}  // namespace locus::cli
