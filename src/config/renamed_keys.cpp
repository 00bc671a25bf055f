#include "config/renamed_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/text.h"

namespace locus {
namespace {

// {"pe.old", "pe.new"}; none so far. The row of src/config/identity.txt keeps the old name.
constexpr std::array<RenamedKey, 0> kRenamed = {};

// A key as a whole, or by its last word alone: "sigma" means pe.sigma. Several keys may end in the same word.
std::string of_last_words(std::string_view path, const std::vector<std::string>& names) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  std::vector<std::string> words;
  for (const std::string& name : names) words.push_back(last(name));
  const std::string word = nearest_name(path, words);
  std::vector<std::string> same;
  for (const std::string& name : names) {
    if (!word.empty() && last(name) == word) same.push_back(name);
  }
  return join(same, " or ");
}

}  // namespace

std::string nearest_key(std::string_view path, const std::vector<std::string>& names) {
  const bool whole = path.find('.') != std::string_view::npos;
  const std::string nearest = whole ? nearest_name(path, names) : of_last_words(path, names);
  return nearest.empty() ? nearest_name(path, names) : nearest;
}

std::span<const RenamedKey> renamed_keys() { return kRenamed; }

std::string key_name_now(std::string_view path, std::span<const RenamedKey> renamed) {
  const auto found = std::find_if(renamed.begin(), renamed.end(), [&](const RenamedKey& r) { return r.before == path; });
  return std::string(found == renamed.end() ? path : found->now);
}

ConfigError unknown_key(std::string_view path, const std::string& where, const std::vector<std::string>& names,
                        std::span<const RenamedKey> renamed) {
  if (const std::string now = key_name_now(path, renamed); now != path) {
    return ConfigError({.what = "this key has another name now",
                        .where = where,
                        .got = std::string(path),
                        .expected = now,
                        .hint = fmt::format("write {} instead of {}; the meaning is the same", now, path)});
  }
  const std::string nearest = nearest_key(path, names);
  return ConfigError(
      {.what = "unknown key",
       .where = where,
       .got = std::string(path),
       .expected = "",
       .hint = nearest.empty() ? "`locus config` lists every key" : fmt::format("did you mean {}?", nearest)});
}

}  // namespace locus
