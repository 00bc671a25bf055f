// A look at TOML before it is parsed: the parser makes a table of every part of a key, and tables go away by recursion, so
// that a key of 100,000 parts would end the program.
#pragma once

#include <string>
#include <string_view>

namespace locus {

// ConfigError when a key has more parts than any configuration needs. Nesting of lists and tables the parser limits.
void require_shallow_toml(std::string_view text, const std::string& where);

}  // namespace locus
