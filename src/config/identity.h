// Which run is which: hashes of all that a result depends on. A key at its pinned default is left out, so that a new key
// changes no hash that there is. Hashes of version 1 (every key, 16 digits without a prefix) are still recognised.
// The rules stand in docs/compatibility.md.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/renamed_keys.h"
#include "config/run_config.h"
#include "config/signature_pins.h"

namespace locus {

// What a key counts for: a run's hash and a sweep cell's; a cell's alone (when to stop, what to watch, where files lie);
// none, since a finished result is the same with any value.
enum class KeyRole { kRun, kCell, kNone };

struct IdentityKey {
  KeyRole role = KeyRole::kRun;
  std::string name;            // under which the key was first recorded; a renamed key keeps it
  std::string pinned_default;  // when it was first recorded, as TOML text
  std::string default_now;     // what the program takes today; differs where a default was changed since
  bool in_version1 = false;    // was there when hashes of version 1 were made
};

// The keys in the order of src/config/identity.txt, where the format is described. ConfigError for a line of no sense.
class IdentityTable {
 public:
  explicit IdentityTable(std::string_view text);
  static const IdentityTable& pinned();  // of the file, which is part of the program
  const std::vector<IdentityKey>& keys() const { return keys_; }

 private:
  void add_key(KeyRole role, std::string_view rest, bool in_version1);
  std::vector<IdentityKey> keys_;
};

struct IdentityHashes {
  std::string current;   // "v2-" and 16 hexadecimal digits: what is written
  std::string version1;  // 16 digits; "" where version 1 could not have named this

  bool knows(std::string_view stored) const { return stored == current || (!version1.empty() && stored == version1); }
};

// Binds the fields of a configuration to the rows of the table once; the hashes of many configurations follow quickly.
class IdentityMaker {
 public:
  explicit IdentityMaker(const FieldList& list, const IdentityTable& table = IdentityTable::pinned(),
                         std::span<const RenamedKey> renamed = renamed_keys());

  // `texts`: Field::text() of every field of the list, in its order.
  IdentityHashes run(std::span<const std::string> texts, std::string_view data_hash) const;
  IdentityHashes cell(std::span<const std::string> texts, std::string_view data_hash,
                      const PinnedSignature& signature) const;

 private:
  struct Row {
    IdentityKey key;
    std::ptrdiff_t field = -1;  // of the list; -1 for a key that there is no longer
  };
  void add_own_keys(const std::map<std::string, std::ptrdiff_t>& places);
  std::string current_text(std::span<const std::string> texts, bool of_cell) const;
  bool fits_version1(std::span<const std::string> texts, bool of_cell) const;
  std::string version1_text(std::span<const std::string> texts, bool of_cell) const;

  std::vector<Row> rows_;             // in the order of the table, as version 1 wrote them
  std::vector<std::size_t> by_name_;  // places in rows_, sorted by name: the order of the table is no part of version 2
};

// Of the identity keys and the data's own hash: equal hash, equal result.
IdentityHashes config_identity(const RunConfig& config, std::string_view data_hash);

}  // namespace locus
