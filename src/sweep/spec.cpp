#include "sweep/spec.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "config/load.h"
#include "config/toml_depth.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "run/data_folder.h"
#include "sweep/toml.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Fixed = std::vector<KeyValue>;

// What one table of a sweep file says: values that stand, and lists to vary.
struct Settings {
  Fixed fixed;
  std::vector<SweepAxis> axes;
};

void remove_key(std::vector<SweepAxis>& axes, const std::string& key) {
  for (SweepAxis& axis : axes) {
    const auto it = std::find(axis.keys.begin(), axis.keys.end(), key);
    if (it == axis.keys.end()) continue;
    const auto column = it - axis.keys.begin();
    axis.keys.erase(it);
    for (auto& row : axis.rows) row.erase(row.begin() + column);
  }
  std::erase_if(axes, [](const SweepAxis& a) { return a.keys.empty(); });
}

void apply_fixed(RunConfig& config, const Fixed& fixed) {
  const FieldList list = describe(config);
  for (const auto& [key, value] : fixed) list.find(key, "sweep").set(value, "sweep");
}

class SweepReader {
 public:
  explicit SweepReader(std::string file) : file_(std::move(file)) {}

  bool is_sweep(const toml::table& table) const {
    return std::any_of(kTopKeys.begin(), kTopKeys.end(), [&](const std::string& k) { return table.contains(k); });
  }

  SweepSpec read(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(kTopKeys.begin(), kTopKeys.end(), name) != kTopKeys.end()) continue;
      const std::string nearest = nearest_name(name, kTopKeys);
      throw ConfigError({.what = "unknown part of a sweep file",
                         .where = at(node),
                         .got = name,
                         .expected = join(kTopKeys, ", "),
                         .hint = nearest.empty() ? "values that stand for all cells go under [set]"
                                                 : fmt::format("did you mean {}?", nearest)});
    }
    SweepSpec spec;
    spec.metric = table["metric"].value_or(std::string());
    Settings common;
    if (const toml::node* set = table.get("set")) read_settings(as_table(*set, "set"), false, common);
    if (const toml::node* grid = table.get("grid")) read_settings(as_table(*grid, "grid"), true, common);
    for (const toml::table* pair : tables(table, "paired")) read_paired(*pair, common);
    const std::string config = table["config"].value_or(std::string());
    std::vector<const toml::table*> cases = tables(table, "case");
    if (cases.empty()) cases.push_back(nullptr);
    for (const toml::table* one : cases) spec.cases.push_back(read_case(one, config, common));
    for (const toml::table* when : tables(table, "when")) spec.conditions.push_back(read_when(*when));
    for (const toml::table* skip : tables(table, "skip")) {
      Settings s;
      read_settings(*skip, false, s);
      spec.skips.push_back(s.fixed);
    }
    return spec;
  }

 private:
  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}:{}", file_, node.source().begin.line, node.source().begin.column);
  }

  const toml::table& as_table(const toml::node& node, const std::string& name) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) throw ConfigError({.what = fmt::format("[{}] must be a table", name), .where = at(node)});
    return *table;
  }

  std::vector<const toml::table*> tables(const toml::table& table, const char* name) const {
    std::vector<const toml::table*> out;
    const toml::node* node = table.get(name);
    if (node == nullptr) return out;
    const toml::array* array = node->as_array();
    if (array == nullptr)
      throw ConfigError(
          {.what = fmt::format("write [[{}]] with two brackets: there may be several", name), .where = at(*node)});
    for (const toml::node& item : *array) out.push_back(&as_table(item, name));
    return out;
  }

  // A scalar or, for keys that are lists, a list.
  FieldValue value(const std::string& key, const toml::node& node) {
    const std::string where = at(node);
    if (node.is_boolean()) return scratch_.checked(key, *node.value<bool>(), where);
    if (node.is_integer()) return scratch_.checked(key, *node.value<std::int64_t>(), where);
    if (node.is_floating_point()) return scratch_.checked(key, *node.value<double>(), where);
    if (node.is_string()) return scratch_.checked(key, *node.value<std::string>(), where);
    const toml::array* array = node.as_array();
    if (array == nullptr) throw ConfigError({.what = key + ": no configuration value", .where = where});
    std::vector<double> numbers;
    std::vector<std::string> texts;
    for (const toml::node& item : *array) {
      if (item.is_string()) {
        texts.push_back(*item.value<std::string>());
      } else if (const auto x = item.value<double>()) {
        numbers.push_back(*x);
      }
    }
    if (texts.size() + numbers.size() != array->size() || (!texts.empty() && !numbers.empty()))
      throw ConfigError({.what = key + ": a list holds numbers or texts", .where = where});
    return texts.empty() ? scratch_.checked(key, numbers, where) : scratch_.checked(key, texts, where);
  }

  // The values of one key under [grid]: a list, a range table, a range text or a single value.
  std::vector<FieldValue> values(const std::string& key, const toml::node& node) {
    const std::string where = at(node);
    if (const toml::table* t = node.as_table()) {
      RangeText r;
      const auto from = (*t)["from"].value<double>();
      const auto to = (*t)["to"].value<double>();
      const std::string scale = (*t)["scale"].value_or(std::string("linear"));
      r.steps = (*t)["steps"].value_or(std::int64_t{0});
      if (!from || !to || t->size() > 4 || (scale != "log" && scale != "linear")) {
        throw ConfigError({.what = key + ": not a range",
                           .where = where,
                           .expected = "{ from = 0.1, to = 2, steps = 5, scale = \"log\" } (or \"linear\")"});
      }
      r.from = *from;
      r.to = *to;
      r.log = scale == "log";
      return scratch_.range(key, r, where);
    }
    if (node.is_string() && scratch_.is_number(key, where))
      return scratch_.text_values(key, *node.value<std::string>(), where);
    const toml::array* array = node.as_array();
    const bool list_of_lists = array != nullptr && !array->empty() && array->get(0)->is_array();
    if (array == nullptr || (scratch_.is_list(key, where) && !list_of_lists)) return {value(key, node)};
    if (array->empty()) throw ConfigError({.what = key + ": the list is empty", .where = where});
    std::vector<FieldValue> out;
    for (const toml::node& item : *array) {
      if (item.is_string() && scratch_.is_number(key, where)) {
        for (FieldValue& v : scratch_.text_values(key, *item.value<std::string>(), at(item))) out.push_back(std::move(v));
      } else {
        out.push_back(value(key, item));
      }
    }
    return out;
  }

  // All key nodes of a table in the order of the file; sections may be written a.b = or as inner tables.
  std::vector<std::pair<std::string, const toml::node*>> flat(const toml::table& table, const std::string& prefix = "") {
    std::vector<std::pair<std::string, const toml::node*>> out;
    const std::vector<std::string> names = scratch_.list().names();
    for (const auto& [key, node] : table) {
      const std::string path = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
      const bool field = std::find(names.begin(), names.end(), path) != names.end();
      if (!field && node.is_table()) {
        const auto inner = flat(*node.as_table(), path);
        out.insert(out.end(), inner.begin(), inner.end());
      } else {
        out.emplace_back(path, &node);
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      const auto& x = a.second->source().begin;
      const auto& y = b.second->source().begin;
      return std::pair(x.line, x.column) < std::pair(y.line, y.column);
    });
    return out;
  }

  void read_settings(const toml::table& table, bool vary, Settings& out) {
    for (const auto& [key, node] : flat(table)) {
      if (!vary) {
        out.fixed.emplace_back(key, value(key, *node));
        continue;
      }
      SweepAxis axis{{key}, {}};
      for (FieldValue& v : values(key, *node)) axis.rows.push_back({std::move(v)});
      out.axes.push_back(std::move(axis));
    }
  }

  void read_paired(const toml::table& table, Settings& out) {
    SweepAxis axis;
    for (const auto& [key, node] : flat(table)) {
      const std::vector<FieldValue> v = values(key, *node);
      if (axis.keys.empty()) axis.rows.resize(v.size());
      if (v.size() != axis.rows.size()) {
        throw ConfigError({.what = fmt::format("paired lists differ in length: {} has {}, {} has {}", axis.keys[0],
                                               axis.rows.size(), key, v.size()),
                           .where = at(*node)});
      }
      axis.keys.push_back(key);
      for (std::size_t i = 0; i < v.size(); ++i) axis.rows[i].push_back(v[i]);
    }
    if (!axis.keys.empty()) out.axes.push_back(std::move(axis));
  }

  SweepCase read_case(const toml::table* table, std::string config, const Settings& common) {
    SweepCase out;
    Settings own;
    if (table != nullptr) {
      toml::table rest = *table;
      out.name = rest["name"].value_or(std::string());
      config = rest["config"].value_or(config);
      rest.erase("name");
      rest.erase("config");
      read_settings(rest, true, own);
    }
    if (!config.empty()) load_toml_file(out.base, (fs::path(file_).parent_path() / config).string());
    out.axes = common.axes;
    for (const SweepAxis& axis : own.axes) {
      remove_key(out.axes, axis.keys[0]);
      if (axis.rows.size() == 1) {
        own.fixed.emplace_back(axis.keys[0], axis.rows[0][0]);
      } else {
        out.axes.push_back(axis);
      }
    }
    apply_fixed(out.base, common.fixed);
    apply_fixed(out.base, own.fixed);
    return out;
  }

  SweepCondition read_when(const toml::table& table) {
    SweepCondition out;
    const toml::node* needs = table.get("is");
    out.key = table["key"].value_or(std::string());
    if (out.key.empty() || needs == nullptr || table.size() != 2) {
      throw ConfigError({.what = "[[when]] has a key and what it needs",
                         .where = at(table),
                         .expected = "key = \"pe.sigma\" and is = { pe.kind = \"learned\" }"});
    }
    scratch_.list().find(out.key, at(table));
    for (const auto& [key, node] : flat(as_table(*needs, "when"))) out.needs.emplace_back(key, values(key, *node));
    return out;
  }

  static inline const std::vector<std::string> kTopKeys = {"config", "set",  "grid", "paired",
                                                           "case",   "when", "skip", "metric"};
  std::string file_;
  KeyScratch scratch_;
};

toml::table parse_file(const std::string& file) {
  const std::string text = read_text_file(file);
  require_shallow_toml(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    throw ConfigError({.what = std::string("not valid TOML: ") + std::string(e.description()),
                       .where = fmt::format("{}:{}:{}", file, e.source().begin.line, e.source().begin.column),
                       .hint = "texts need quotes: kind = \"learned\""});
  }
}

std::pair<std::string, std::string> assignment(const std::string& text, const std::string& where) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError({.what = "not of the form key=value", .where = where, .got = text, .expected = "pe.sigma=0.1,0.5,2"});
  }
  return {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
}

// The command line has the last word: what it names is taken out of every case.
void apply_command_line(SweepSpec& spec, const SweepSource& source) {
  KeyScratch scratch;
  const std::string where = "command line";
  std::set<std::string> seen;
  for (const std::string& text : source.overrides) {
    const auto [key, typed] = assignment(text, where);
    const std::vector<FieldValue> values = scratch.text_values(key, typed, where);
    if (!seen.insert(key).second) throw ConfigError({.what = key + " is given twice", .where = where});
    for (SweepCase& c : spec.cases) {
      remove_key(c.axes, key);
      if (values.size() == 1) {
        apply_fixed(c.base, {{key, values[0]}});
        continue;
      }
      SweepAxis axis{{key}, {}};
      for (const FieldValue& v : values) axis.rows.push_back({v});
      c.axes.push_back(std::move(axis));
    }
  }
  for (const std::string& text : source.when) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos)
      throw ConfigError({.what = "not a condition", .where = "--when", .got = text, .expected = "pe.sigma:pe.kind=learned"});
    SweepCondition c{std::string(trim(text.substr(0, colon))), {}};
    scratch.list().find(c.key, "--when");
    const auto [key, typed] = assignment(text.substr(colon + 1), "--when");
    c.needs.emplace_back(key, scratch.text_values(key, typed, "--when"));
    spec.conditions.push_back(std::move(c));
  }
}

}  // namespace

SweepSpec load_sweep(const SweepSource& source) {
  SweepSpec spec;
  if (source.file.empty()) {
    spec.cases.emplace_back();
  } else {
    RunConfig plain;
    std::error_code code;
    if (!fs::is_regular_file(source.file, code)) load_toml_file(plain, source.file);  // says what is wrong
    const toml::table table = parse_file(source.file);
    SweepReader reader(source.file);
    if (reader.is_sweep(table)) {
      spec = reader.read(table);
    } else {
      load_toml_file(plain, source.file);
      find_data_from_here(plain, source.file);
      spec.cases.push_back({"", plain, {}});
    }
  }
  apply_command_line(spec, source);
  return spec;
}

}  // namespace locus
