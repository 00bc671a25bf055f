// The cells of a sweep: every combination once, in a fixed order, each with the hash of what its result depends on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/identity.h"
#include "study/sweep_spec.h"

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

  std::string text() const;  // "pe.sigma=0.1 seed=3"
};

struct SweepPlan {
  std::string metric;
  std::vector<RunConfig> bases;
  std::vector<std::string> cases;  // names, one a base
  std::vector<std::string> keys;   // that differ between cells, "seed" last
  std::vector<SweepCell> cells;    // by index: whole seeds one after the other

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

// What the files behind a configuration hold; "" for data that are made from the configuration alone.
std::string data_identity(const RunConfig& config, FileHashes& files);

// What the hashes of cells are made with. Tests put a program of another day in its place.
struct CellIdentity {
  std::function<FieldList(RunConfig&)> fields = [](RunConfig& c) { return describe(c); };
  const IdentityTable* table = &IdentityTable::pinned();
  std::vector<SignaturePin> signatures = signature_pins();
};

// No data are made or loaded; files are hashed once for each distinct choice of data.
SweepPlan make_plan(const SweepSpec& spec, const CellIdentity& identity = {});

// Cells `index % n == i % n`, so that i may count from 0 or from 1. "" takes all.
std::vector<std::int64_t> shard_cells(const SweepPlan& plan, const std::string& shard);

}  // namespace locus
