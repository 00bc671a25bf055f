#include "data/puzzle_cache.h"

#include <fmt/core.h>

#include <filesystem>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "io/system.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// Raise this whenever the generator makes other puzzles from the same options.
constexpr int kGeneratorVersion = 2;

struct NamedSet {
  const char* name;
  LatinSet LatinData::*set;
};
constexpr NamedSet kSets[] = {{"train", &LatinData::train},
                              {"test", &LatinData::test},
                              {"validation", &LatinData::validation},
                              {"heldout", &LatinData::heldout}};

std::string cache_name(const LatinOptions& o) {
  const std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {}", kGeneratorVersion, o.n, o.seed, o.per_difficulty, shortest(o.test_fraction),
                  o.heldout_items, o.validation_items, o.rotations, shortest(o.min_distance));
  return "latin-" + sha256_hex(text).substr(0, 16) + ".safetensors";
}

// Columns of a set: target, answer, difficulty and base item of each puzzle.
constexpr std::int64_t kPuzzleColumns = 4;

void write_cache(const fs::path& file, const LatinData& data) {
  std::vector<std::vector<std::uint8_t>> cells(4);
  std::vector<std::vector<std::int32_t>> columns(4);
  std::vector<TensorView> views;
  for (std::size_t s = 0; s < 4; ++s) {
    const LatinSet& set = data.*kSets[s].set;
    for (std::size_t i = 0; i < set.puzzles.size(); ++i) {
      const Puzzle& p = set.puzzles[i];
      cells[s].insert(cells[s].end(), p.cells.begin(), p.cells.end());
      columns[s].insert(columns[s].end(), {p.target, p.answer, static_cast<std::int32_t>(p.difficulty),
                                           set.base_item.empty() ? -1 : set.base_item[i]});
    }
    const auto count = static_cast<std::int64_t>(set.puzzles.size());
    views.push_back(tensor_view<std::uint8_t>(std::string(kSets[s].name) + ".cells", {count, set.n * set.n}, cells[s]));
    views.push_back(tensor_view<std::int32_t>(std::string(kSets[s].name) + ".columns", {count, kPuzzleColumns}, columns[s]));
  }
  const TensorMetadata metadata = {{"note", data.note}, {"n", std::to_string(data.train.n)}};
  write_safetensors(file, views, metadata);
}

LatinData read_cache(const fs::path& file) {
  const TensorFile stored = read_safetensors(file);
  if (!stored.verified) throw IoError({.what = "a cache file without a checksum", .where = file.string()});
  LatinData data;
  data.note = stored.metadata.at("note");
  const int n = std::stoi(stored.metadata.at("n"));
  for (const NamedSet& named : kSets) {
    LatinSet& set = data.*named.set;
    set.n = n;
    const auto cells = stored.at(std::string(named.name) + ".cells").as<std::uint8_t>();
    const auto columns = stored.at(std::string(named.name) + ".columns").as<std::int32_t>();
    const auto tokens = static_cast<std::size_t>(n * n);
    for (std::size_t i = 0; i < columns.size() / kPuzzleColumns; ++i) {
      Puzzle p;
      p.n = n;
      p.cells.assign(cells.begin() + static_cast<std::ptrdiff_t>(i * tokens),
                     cells.begin() + static_cast<std::ptrdiff_t>((i + 1) * tokens));
      p.target = columns[i * kPuzzleColumns];
      p.answer = columns[i * kPuzzleColumns + 1];
      p.difficulty = static_cast<Difficulty>(columns[i * kPuzzleColumns + 2]);
      set.puzzles.push_back(std::move(p));
      if (columns[i * kPuzzleColumns + 3] >= 0) set.base_item.push_back(columns[i * kPuzzleColumns + 3]);
    }
  }
  return data;
}

}  // namespace

LatinData cached_latin_data(const LatinOptions& options, const std::string& folder) {
  if (folder.empty() || !options.authors_dir.empty()) return make_latin_data(options);
  const fs::path file = fs::path(folder) / cache_name(options);
  try {
    if (fs::exists(file)) return read_cache(file);
  } catch (const std::exception&) {
    // Damaged or of another version: made again below.
  }
  LatinData data = make_latin_data(options);
  try {
    make_folders(folder);
    write_cache(file, data);
  } catch (const std::exception&) {
    // A cache that cannot be written only costs time.
  }
  return data;
}

}  // namespace locus
