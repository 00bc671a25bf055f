// The cells of a sweep: every combination once, in a fixed order, each with the hash of what its result depends on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/identity.h"
#include "sweep/spec.h"

namespace locus {

struct SweepSetting {
  std::string key;
  FieldValue value;
};

struct SweepCell {
  std::int64_t index = 0;
  std::string hash;                    // its name: same hash, same result
  std::string version1;                // the name that version 1 would have given; "" where it could not
  std::size_t base = 0;                // of SweepPlan::bases
  std::vector<SweepSetting> settings;  // over the base
  std::vector<std::string> off;        // keys that a condition makes meaningless here
  std::int64_t seed = 0;
  std::int64_t steps = 0;  // train so far, and on where the run ended earlier; 0: as far as the configuration says

  std::string text() const;  // "pe.sigma=0.1 seed=3"
};

struct SweepPlan {
  std::string metric;
  std::vector<RunConfig> bases;
  std::vector<std::string> cases;  // names, one a base
  std::vector<std::string> keys;   // that differ between cells, "seed" last
  std::vector<SweepCell> cells;    // by index: whole seeds one after the other

  // The measure that is shown while cells run: of the validation split, whatever the results are judged by (the metric, or
  // what runs of the first case are compared by). A number of the test split on the screen invites to choose by it.
  std::string watched() const;
  RunConfig config(const SweepCell& cell) const;
  std::string name(const SweepCell& cell) const;  // case and settings
  std::string id() const;                         // of the set of cells
};

// Contents of data files by path, size and time: each is read once.
class FileHashes {
 public:
  std::string of(const std::filesystem::path& path);

 private:
  std::map<std::string, std::string> known_;
};

// What the files behind a configuration hold; "" for data that are made from the configuration alone. ConfigError for a
// source that the program does not know.
std::string data_identity(const RunConfig& config, FileHashes& files);

// What the hashes of cells are made with. Tests put a program of another day in its place.
struct CellIdentity {
  std::function<FieldList(RunConfig&)> fields = [](RunConfig& c) { return describe(c); };
  const IdentityTable* table = &IdentityTable::pinned();
  std::vector<SignaturePin> signatures = signature_pins();
};

// No data are made or loaded; files are hashed once for each distinct choice of data.
SweepPlan make_plan(const SweepSpec& spec, const CellIdentity& identity = {});

// Cells by the lines of a file with their hashes, in its order. ConfigError for one that is not in the plan: then the
// sweep's file or its data changed since the list was made.
std::vector<std::int64_t> listed_cells(const SweepPlan& plan, const std::filesystem::path& file);

// Those of `cells` whose place % n == i % n, as shard_cells.
std::vector<std::int64_t> shard_of(const std::vector<std::int64_t>& cells, const std::string& shard);

// Cells `index % n == i % n`, so that i may count from 0 or from 1. "" takes all.
std::vector<std::int64_t> shard_cells(const SweepPlan& plan, const std::string& shard);

}  // namespace locus
