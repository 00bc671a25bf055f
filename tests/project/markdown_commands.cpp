// A line-wise reader of fenced blocks; nothing else of Markdown matters here.
#include "tests/project/markdown_commands.h"

#include <sstream>
#include <string_view>

namespace locus::house {
namespace {

constexpr std::string_view kAnything = "…";

std::string trimmed(const std::string& line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// Whether the pieces between the wildcards of the pattern stand in the line in order, the outer ones at its ends.
bool matches(std::string_view pattern, std::string_view line) {
  bool at_start = true;
  while (true) {
    const auto wild = pattern.find(kAnything);
    const std::string_view piece = pattern.substr(0, wild);
    if (wild == std::string_view::npos && !at_start) {
      return line.size() >= piece.size() && line.substr(line.size() - piece.size()) == piece;
    }
    if (wild == std::string_view::npos) return line == piece;
    const auto found = line.find(piece);
    if (found == std::string_view::npos || (at_start && found != 0)) return false;
    line.remove_prefix(found + piece.size());
    pattern.remove_prefix(wild + kAnything.size());
    at_start = false;
  }
}

}  // namespace

std::vector<CommandBlock> command_blocks(const std::string& markdown) {
  std::vector<CommandBlock> blocks;
  enum class Inside { kNothing, kScript, kOutput, kOther } inside = Inside::kNothing;
  std::string before;
  std::istringstream in(markdown);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string text = trimmed(line);
    if (inside == Inside::kNothing && text.rfind("```", 0) == 0) {
      inside = Inside::kOther;
      if (text == "```sh" && before == "<!-- run -->") {
        inside = Inside::kScript;
        blocks.push_back({.line = number, .script = "", .expected = {}});
      } else if (before == "<!-- output -->" && !blocks.empty()) {
        inside = Inside::kOutput;
      }
    } else if (text == "```") {
      inside = Inside::kNothing;
    } else if (inside == Inside::kScript) {
      blocks.back().script += line + "\n";
    } else if (inside == Inside::kOutput && !text.empty()) {
      blocks.back().expected.push_back(text);
    }
    if (!text.empty()) before = text;
  }
  return blocks;
}

std::string first_missing_line(const std::vector<std::string>& expected, const std::string& output) {
  std::istringstream in(output);
  for (const auto& wanted : expected) {
    bool found = false;
    for (std::string line; !found && std::getline(in, line);) found = matches(wanted, trimmed(line));
    if (!found) return wanted;
  }
  return "";
}

}  // namespace locus::house
