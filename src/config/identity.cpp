#include "config/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "config/pinned_texts.h"
#include "config/sections.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::string_view kPrefix = "v2-";
constexpr std::size_t kDigits = 16;
constexpr const char* kFile = "src/config/identity.txt";

[[noreturn]] void bad_line(std::string_view line, std::string what) {
  throw ConfigError({.what = std::move(what), .where = kFile, .got = std::string(line)});
}

std::optional<KeyRole> role_of(std::string_view word) {
  if (word == "run") return KeyRole::kRun;
  if (word == "cell") return KeyRole::kCell;
  if (word == "none") return KeyRole::kNone;
  return std::nullopt;
}

bool counts(KeyRole role, bool of_cell) { return role == KeyRole::kRun || (of_cell && role == KeyRole::kCell); }

std::string digits(const std::string& text) { return sha256_hex(text).substr(0, kDigits); }

std::vector<std::string> field_texts(const FieldList& list) {
  std::vector<std::string> texts;
  for (const Field& f : list.fields()) texts.push_back(f.text());
  return texts;
}

}  // namespace

IdentityTable::IdentityTable(std::string_view text) {
  bool in_version1 = true;
  for (const std::string& raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line == "version 1 ends") {
      in_version1 = false;
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) bad_line(line, "a line of the identity table has two parts or more");
    const std::string_view word = line.substr(0, space);
    const std::string_view rest = trim(line.substr(space));
    if (const auto role = role_of(word)) {
      add_key(*role, rest, in_version1);
    } else if (word == "changed") {
      const std::size_t equals = rest.find(" = ");
      const auto key = std::find_if(keys_.begin(), keys_.end(), [&](const IdentityKey& k) {
        return equals != std::string_view::npos && k.name == rest.substr(0, equals);
      });
      if (key == keys_.end()) bad_line(line, "a changed default of a key that is not in the table");
      key->default_now = rest.substr(equals + 3);
    } else {
      bad_line(line, "a line of the identity table begins with run, cell, none or changed");
    }
  }
}

void IdentityTable::add_key(KeyRole role, std::string_view rest, bool in_version1) {
  const std::size_t equals = rest.find(" = ");
  if (equals == std::string_view::npos) bad_line(rest, "a key of the identity table has no default");
  const std::string name(rest.substr(0, equals));
  if (std::any_of(keys_.begin(), keys_.end(), [&](const IdentityKey& k) { return k.name == name; }))
    bad_line(rest, "a key stands twice in the identity table");
  const std::string value(rest.substr(equals + 3));
  keys_.push_back({role, name, value, value, in_version1});
}

const IdentityTable& IdentityTable::pinned() {
  static const IdentityTable table(kIdentityText);
  return table;
}

IdentityMaker::IdentityMaker(const FieldList& list, const IdentityTable& table, std::span<const RenamedKey> renamed) {
  std::map<std::string, std::ptrdiff_t> places;
  for (std::size_t i = 0; i < list.fields().size(); ++i) places[list.fields()[i].path] = static_cast<std::ptrdiff_t>(i);
  for (const IdentityKey& key : table.keys()) {
    const auto found = places.find(key_name_now(key.name, renamed));
    rows_.push_back({key, found == places.end() ? -1 : found->second});
    if (found != places.end()) places.erase(found);
  }
  if (!places.empty()) add_own_keys(places);
  for (std::size_t i = 0; i < rows_.size(); ++i) by_name_.push_back(i);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::size_t a, std::size_t b) { return rows_[a].key.name < rows_[b].key.name; });
}

// A program that registers sources or tasks has no part in the table: its keys are pinned to their defaults of today.
void IdentityMaker::add_own_keys(const std::map<std::string, std::ptrdiff_t>& places) {
  RunConfig defaults;
  const FieldList list = describe(defaults);
  for (const auto& [path, place] : places) {
    LOCUS_CHECK(is_own_key(path), fmt::format("key {} has no row in {}: append one as the text there says", path, kFile));
    const Field& field = list.find(path, kFile);
    const std::string text = field.text();
    rows_.push_back({{field.identity ? KeyRole::kRun : KeyRole::kCell, path, text, text, false}, place});
  }
}

std::string IdentityMaker::current_text(std::span<const std::string> texts, bool of_cell) const {
  std::string text = "version=2\n";
  for (const std::size_t i : by_name_) {
    const Row& row = rows_[i];
    if (row.field < 0 || !counts(row.key.role, of_cell)) continue;
    const std::string& value = texts[static_cast<std::size_t>(row.field)];
    if (value != row.key.pinned_default) text += row.key.name + "=" + value + "\n";
  }
  return text;
}

// Version 1 had no such key: only a run at its pinned default is one that could have been made then.
bool IdentityMaker::fits_version1(std::span<const std::string> texts, bool of_cell) const {
  return std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) {
    return row.key.in_version1 || row.field < 0 || !counts(row.key.role, of_cell) ||
           texts[static_cast<std::size_t>(row.field)] == row.key.pinned_default;
  });
}

std::string IdentityMaker::version1_text(std::span<const std::string> texts, bool of_cell) const {
  std::string text;
  for (const Row& row : rows_) {
    if (!row.key.in_version1 || !counts(row.key.role, of_cell)) continue;
    text +=
        row.key.name + "=" + (row.field < 0 ? row.key.pinned_default : texts[static_cast<std::size_t>(row.field)]) + "\n";
  }
  return text;
}

IdentityHashes IdentityMaker::run(std::span<const std::string> texts, std::string_view data_hash) const {
  const std::string data = fmt::format("data={}\n", data_hash);
  IdentityHashes out;
  out.current = std::string(kPrefix) + digits(current_text(texts, false) + data);
  if (fits_version1(texts, false)) out.version1 = digits(version1_text(texts, false) + data);
  return out;
}

IdentityHashes IdentityMaker::cell(std::span<const std::string> texts, std::string_view data_hash,
                                   const PinnedSignature& signature) const {
  const auto end = [&](const std::string& s) { return fmt::format("data={}\nsignature={}\n", data_hash, s); };
  IdentityHashes out;
  out.current = std::string(kPrefix) + digits(current_text(texts, true) + end(signature.hash));
  if (!signature.version1.empty() && fits_version1(texts, true))
    out.version1 = digits(version1_text(texts, true) + end(signature.version1));
  return out;
}

IdentityHashes config_identity(const RunConfig& config, std::string_view data_hash) {
  RunConfig copy = config;
  const FieldList list = describe(copy);
  return IdentityMaker(list).run(field_texts(list), data_hash);
}

}  // namespace locus
