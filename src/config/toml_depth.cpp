#include "config/toml_depth.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"

namespace locus {
namespace {

constexpr int kMostParts = 32;

// The place behind a quoted text that begins at `at`: one line, or several between three quotes.
std::size_t after_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool several_lines = text.substr(at, 3) == three;
  for (std::size_t i = at + (several_lines ? 3 : 1); i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (several_lines ? text.substr(i, 3) == three : text[i] == quote) {
      return i + (several_lines ? 3 : 1);
    } else if (!several_lines && text[i] == '\n') {
      return i;  // not closed: the parser says so
    }
  }
  return text.size();
}

}  // namespace

void require_shallow_toml(std::string_view text, const std::string& where) {
  int parts = 1;
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = after_quoted(text, i);
      for (; i < end; ++i) line += text[i] == '\n' ? 1 : 0;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '\n') ++line;
    if (c == '.') ++parts;
    if (parts > kMostParts) {
      throw ConfigError({.what = "not valid TOML here: a key has too many parts",
                         .where = fmt::format("{}:{}", where, line),
                         .expected = fmt::format("at most {}, such as the two of pe.sigma", kMostParts)});
    }
    // A key ends with its line, its value or its brackets; numbers have a dot each and stand between these.
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') parts = 1;
    ++i;
  }
}

}  // namespace locus
