#include "sweep/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "config/sources.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/file.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// One case while its cells are made: a configuration to set and the texts of all its fields.
class CellMaker {
 public:
  CellMaker(const SweepSpec& spec, std::size_t base, const CellIdentity& identity, FileHashes& files)
      : spec_(spec),
        base_(base),
        identity_(identity),
        files_(files),
        start_(spec.cases[base].base),
        config_(start_),
        list_(identity.fields(config_)),
        hashes_(list_, *identity.table) {
    for (std::size_t i = 0; i < list_.fields().size(); ++i) {
      const Field& f = list_.fields()[i];
      place_[f.path] = i;
      start_values_.push_back(f.value());
      start_texts_.push_back(f.text());
    }
  }

  // False when the cell is one that is to be skipped.
  bool make(const std::vector<const SweepAxis*>& axes, const std::vector<std::size_t>& rows, SweepCell& cell) {
    config_ = start_;
    texts_ = start_texts_;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      for (std::size_t k = 0; k < axes[a]->keys.size(); ++k) {
        const FieldValue& value = axes[a]->rows[rows[a]][k];
        set(place(axes[a]->keys[k]), value);
        cell.settings.push_back({axes[a]->keys[k], value});
      }
    }
    switch_off(cell);
    for (const std::vector<KeyValue>& skip : spec_.skips) {
      if (std::all_of(skip.begin(), skip.end(), [&](const KeyValue& v) { return has(v.first, v.second); })) return false;
    }
    cell.base = base_;
    cell.seed = config_.seed;
    try {
      validate(config_);
    } catch (const ConfigError& e) {
      ErrorParts parts = e.parts();
      parts.where = "cell " + cell.text();
      parts.hint += "; or leave such cells out with [[skip]] or [[when]]";
      throw ConfigError(parts);
    }
    const IdentityHashes names = hashes();
    cell.hash = names.current;
    cell.version1 = names.version1;
    return true;
  }

 private:
  std::size_t place(const std::string& key) const { return place_.at(key); }
  void set(std::size_t i, const FieldValue& value) {
    list_.fields()[i].set(value, "sweep");
    texts_[i] = list_.fields()[i].text();
  }
  bool has(const std::string& key, const FieldValue& value) const { return list_.fields()[place(key)].value() == value; }

  // A key whose condition does not hold goes back to the base, so that cells that differ in it alone become one.
  void switch_off(SweepCell& cell) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const SweepCondition& c : spec_.conditions) {
        if (std::find(cell.off.begin(), cell.off.end(), c.key) != cell.off.end()) continue;
        const bool holds = std::all_of(c.needs.begin(), c.needs.end(), [&](const auto& need) {
          return std::any_of(need.second.begin(), need.second.end(),
                             [&](const FieldValue& v) { return has(need.first, v); });
        });
        if (holds) continue;
        changed = true;
        cell.off.push_back(c.key);
        set(place(c.key), start_values_[place(c.key)]);
        std::erase_if(cell.settings, [&](const SweepSetting& s) { return s.key == c.key; });
      }
    }
    std::sort(cell.off.begin(), cell.off.end());
  }

  // Keys that may say where data come from; a change of one of them asks for a new look at the files.
  const std::vector<std::size_t>& data_places(const SourceRow& source) {
    const auto [it, fresh] = data_places_.try_emplace(&source);
    if (!fresh) return it->second;
    it->second = {place("study"), place("pe.file")};
    for (const auto& [key, i] : place_) {
      const std::string section = key.substr(0, key.find('.'));
      const bool own = std::any_of(source.sections.begin(), source.sections.end(),
                                   [&](const ConfigSection& s) { return s.name == section; });
      if (own) it->second.push_back(i);
    }
    return it->second;
  }

  IdentityHashes hashes() {
    std::string choice;
    for (const std::size_t i : data_places(source_of(config_))) choice += texts_[i] + "\n";
    const auto [it, fresh] = data_.try_emplace(choice);
    if (fresh) it->second = data_identity(config_, files_);
    const std::string_view encoding = pe_kind_name(config_.pe.kind);
    return hashes_.cell(texts_, it->second, pinned_signature(encoding, identity_.signatures));
  }

  const SweepSpec& spec_;
  std::size_t base_;
  const CellIdentity& identity_;
  FileHashes& files_;
  RunConfig start_;
  RunConfig config_;
  FieldList list_;
  IdentityMaker hashes_;
  std::map<std::string, std::size_t> place_;
  std::vector<FieldValue> start_values_;
  std::vector<std::string> start_texts_;
  std::vector<std::string> texts_;
  std::map<const SourceRow*, std::vector<std::size_t>> data_places_;
  std::map<std::string, std::string> data_;
};

void add_case(const SweepSpec& spec, CellMaker& maker, std::size_t index, std::vector<SweepCell>& cells) {
  std::vector<const SweepAxis*> axes;
  for (const SweepAxis& axis : spec.cases[index].axes) axes.push_back(&axis);
  std::vector<std::size_t> rows(axes.size(), 0);
  while (true) {
    SweepCell cell;
    if (maker.make(axes, rows, cell)) cells.push_back(std::move(cell));
    std::size_t a = axes.size();
    while (a > 0 && ++rows[a - 1] == axes[a - 1]->rows.size()) rows[--a] = 0;
    if (a == 0) return;
  }
}

// Keys of axes and those in which the bases differ.
std::vector<std::string> varied_keys(SweepPlan& plan) {
  std::set<std::string> varied;
  for (const SweepCell& cell : plan.cells) {
    for (const SweepSetting& s : cell.settings) varied.insert(s.key);
  }
  const FieldList first = describe(plan.bases[0]);
  for (RunConfig& base : plan.bases) {
    const FieldList list = describe(base);
    for (std::size_t i = 0; i < list.fields().size(); ++i) {
      if (list.fields()[i].value() != first.fields()[i].value()) varied.insert(list.fields()[i].path);
    }
  }
  varied.erase("seed");
  std::vector<std::string> keys;
  for (const Field& f : first.fields()) {
    if (varied.count(f.path) != 0) keys.push_back(f.path);
  }
  keys.emplace_back("seed");
  return keys;
}

}  // namespace

std::string SweepCell::text() const {
  std::string out;
  for (const SweepSetting& s : settings) out += fmt::format("{}{}={}", out.empty() ? "" : " ", s.key, plain_text(s.value));
  return out.empty() ? fmt::format("seed={}", seed) : out;
}

std::string SweepPlan::watched() const {
  const std::string judged = metric.empty() ? default_metric(bases[0]) : metric;
  return "validation" + judged.substr(std::min(judged.find('.'), judged.size()));
}

RunConfig SweepPlan::config(const SweepCell& cell) const {
  RunConfig config = bases[cell.base];
  const FieldList list = describe(config);
  for (const SweepSetting& s : cell.settings) list.find(s.key, "sweep").set(s.value, "sweep");
  if (cell.steps > 0) config.stop.steps = cell.steps;
  return config;
}

std::string SweepPlan::name(const SweepCell& cell) const {
  const std::string& label = cases[cell.base];
  return label.empty() ? cell.text() : label + " " + cell.text();
}

std::string SweepPlan::id() const {
  Sha256 sha;
  for (const SweepCell& cell : cells) sha.update(cell.hash + "\n");
  return sha.hex().substr(0, 16);
}

std::string FileHashes::of(const fs::path& path) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (code) throw IoError({.what = "cannot read a data file", .where = path.string(), .got = code.message()});
  const auto time = fs::last_write_time(path, code).time_since_epoch().count();
  std::string& hash = known_[fmt::format("{}\n{}\n{}", path.string(), size, time)];
  if (hash.empty()) hash = file_sha256(path);
  return hash;
}

std::string data_identity(const RunConfig& config, FileHashes& files) {
  const SourceRow& source = source_of(config);
  std::vector<fs::path> paths;
  if (source.files != nullptr) paths = source.files(config);
  if (!config.pe.file.empty()) paths.emplace_back(config.pe.file);
  if (paths.empty()) return "";
  std::string text;
  for (const fs::path& p : paths) text += p.filename().string() + " " + files.of(p) + "\n";
  return sha256_hex(text);
}

SweepPlan make_plan(const SweepSpec& spec, const CellIdentity& identity) {
  SweepPlan plan;
  plan.metric = spec.metric;
  FileHashes files;
  std::vector<SweepCell> cells;
  for (std::size_t i = 0; i < spec.cases.size(); ++i) {
    plan.bases.push_back(spec.cases[i].base);
    plan.cases.push_back(spec.cases[i].name);
    CellMaker maker(spec, i, identity, files);
    add_case(spec, maker, i, cells);
  }
  std::stable_sort(cells.begin(), cells.end(), [](const SweepCell& a, const SweepCell& b) { return a.seed < b.seed; });
  std::unordered_set<std::string> seen;
  for (SweepCell& cell : cells) {
    if (!seen.insert(cell.hash).second) continue;
    cell.index = static_cast<std::int64_t>(plan.cells.size());
    plan.cells.push_back(std::move(cell));
  }
  plan.keys = varied_keys(plan);
  return plan;
}

std::vector<std::int64_t> listed_cells(const SweepPlan& plan, const fs::path& file) {
  std::unordered_map<std::string, std::int64_t> places;
  for (const SweepCell& cell : plan.cells) {
    places[cell.hash] = cell.index;
    if (!cell.version1.empty()) places.try_emplace(cell.version1, cell.index);
  }
  std::vector<std::int64_t> out;
  for (const std::string& line : split(read_text_file(file), '\n')) {
    const std::string hash(trim(line));
    if (hash.empty()) continue;
    const auto found = places.find(hash);
    if (found == places.end()) {
      throw ConfigError({.what = "a listed cell is not in the sweep",
                         .where = file.string(),
                         .got = hash,
                         .expected = fmt::format("one of the {} cells of the sweep", plan.cells.size()),
                         .hint = "the sweep file, its configurations or data changed since: submit again"});
    }
    out.push_back(found->second);
  }
  return out;
}

std::vector<std::int64_t> shard_of(const std::vector<std::int64_t>& cells, const std::string& shard) {
  std::int64_t i = 0;
  std::int64_t n = 1;
  if (!shard.empty()) {
    const std::size_t slash = shard.find('/');
    const auto number = [&](std::string_view text, std::int64_t& out) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
      return error == std::errc{} && end == text.data() + text.size();
    };
    const bool good = slash != std::string::npos && number(shard.substr(0, slash), i) && number(shard.substr(slash + 1), n);
    if (!good || n < 1 || i < 0 || i > n)
      throw ConfigError(
          {.what = "not a shard", .where = "--shard", .got = shard, .expected = "i/n, for example 1/4 .. 4/4"});
  }
  std::vector<std::int64_t> out;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (static_cast<std::int64_t>(k) % n == i % n) out.push_back(cells[k]);
  }
  return out;
}

std::vector<std::int64_t> shard_cells(const SweepPlan& plan, const std::string& shard) {
  std::vector<std::int64_t> all;
  for (const SweepCell& cell : plan.cells) all.push_back(cell.index);
  return shard_of(all, shard);
}

}  // namespace locus
