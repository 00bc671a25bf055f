// Keys that had another name once. Files that the program wrote are read by either name; a user is told the new one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace locus {

struct RenamedKey {
  std::string_view before;
  std::string_view now;
};
std::span<const RenamedKey> renamed_keys();

// The name of today of a key under a name that it has or had.
std::string key_name_now(std::string_view path, std::span<const RenamedKey> renamed = renamed_keys());

// The key that is probably meant; a word without a section is compared with the last words of all keys. "" when none is
// near.
std::string nearest_key(std::string_view path, const std::vector<std::string>& names);

// For a key that there is not: its new name, or the nearest of `names`.
ConfigError unknown_key(std::string_view path, const std::string& where, const std::vector<std::string>& names,
                        std::span<const RenamedKey> renamed = renamed_keys());

}  // namespace locus
