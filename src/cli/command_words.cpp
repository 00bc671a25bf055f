#include "cli/command_words.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "cli/help.h"

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

std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i]);
    std::vector<std::string> names;
    if (word.starts_with("--")) {
      for (const CLI::Option* o : at->get_options()) {
        for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
      }
      const std::string name = word.substr(0, word.find('='));
      if (std::find(names.begin(), names.end(), name) == names.end()) return unknown_text("option", name, names);
    } else if (const auto commands = at->get_subcommands([](const CLI::App*) { return true; }); !commands.empty()) {
      const CLI::App* next = nullptr;
      for (const CLI::App* c : commands) {
        names.push_back(c->get_name());
        if (c->get_name() == word) next = c;
      }
      if (next == nullptr) return unknown_text("command", word, names);
      at = next;
    }
  }
  return "";
}

}  // namespace locus::cli
