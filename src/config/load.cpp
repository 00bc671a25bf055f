#include "config/load.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "config/identity.h"
#include "config/renamed_keys.h"
#include "config/toml_depth.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/text.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr int kMaxBaseDepth = 16;

std::string position(const toml::node& node, const std::string& where) {
  return fmt::format("{}:{}:{}", where, node.source().begin.line, node.source().begin.column);
}

FieldValue array_value(const toml::array& array, const std::string& path, const std::string& where) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const toml::node& item : array) {
    if (const auto number = item.value<double>(); number && (item.is_floating_point() || item.is_integer())) {
      numbers.push_back(*number);
    } else if (const auto text = item.value<std::string>(); text && item.is_string()) {
      texts.push_back(*text);
    } else {
      throw ConfigError({.what = path + ": a list holds numbers or texts only", .where = position(item, where)});
    }
  }
  if (!numbers.empty() && !texts.empty()) {
    throw ConfigError({.what = path + ": a list holds numbers or texts, not both", .where = position(array, where)});
  }
  if (!texts.empty()) return texts;
  return numbers;
}

FieldValue node_value(const toml::node& node, const std::string& path, const std::string& where) {
  if (node.is_boolean()) return *node.value<bool>();
  if (node.is_integer()) return *node.value<std::int64_t>();
  if (node.is_floating_point()) return *node.value<double>();
  if (node.is_string()) return *node.value<std::string>();
  if (const toml::array* array = node.as_array()) return array_value(*array, path, where);
  throw ConfigError({.what = path + ": dates and times are no configuration values", .where = position(node, where)});
}

// Who wrote a text: what the program wrote itself, perhaps an earlier version, may name keys as they were called then.
enum class Author { kUser, kProgram };

struct TomlPlace {
  std::string prefix;  // of the keys in this table
  std::string where;
  Author author = Author::kUser;
};

// Keys before sections: an unknown study is said before the keys that it would have brought.
void apply_table(const FieldList& list, const toml::table& table, const TomlPlace& place) {
  const auto path_of = [&](const toml::key& key) {
    return place.prefix.empty() ? std::string(key.str()) : place.prefix + "." + std::string(key.str());
  };
  for (const auto& [key, node] : table) {
    const std::string path = path_of(key);
    if (node.is_table() || path == "base") continue;
    const std::string at = position(node, place.where);
    const std::string name = place.author == Author::kProgram ? key_name_now(path) : path;
    list.find(name, at).set(node_value(node, path, place.where), at);
  }
  for (const auto& [key, node] : table) {
    if (const toml::table* inner = node.as_table()) apply_table(list, *inner, {path_of(key), place.where, place.author});
  }
}

toml::table parse(std::string_view text, const std::string& where) {
  require_shallow_toml(text, where);
  try {
    return toml::parse(text, where);
  } catch (const toml::parse_error& e) {
    throw ConfigError({.what = std::string("not valid TOML: ") + std::string(e.description()),
                       .where = fmt::format("{}:{}:{}", where, e.source().begin.line, e.source().begin.column),
                       .got = "",
                       .expected = "",
                       .hint = "texts need quotes: kind = \"learned\""});
  }
}

std::string read_text(const std::string& path) {
  std::error_code ec;
  if (!fs::exists(path, ec)) {
    throw ConfigError({.what = "no such configuration file",
                       .where = path,
                       .got = "",
                       .expected = "",
                       .hint = "ready-made ones stand in configs/"});
  }
  if (fs::is_directory(path, ec)) throw ConfigError({.what = "a configuration is a file, this is a folder", .where = path});
  if (!fs::is_regular_file(path, ec))
    throw ConfigError({.what = "a configuration is a file, this is a pipe or a device", .where = path});
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError({.what = "cannot read the configuration file", .where = path});
  return {std::istreambuf_iterator<char>(in), {}};
}

void load_file(RunConfig& config, const std::string& path, int depth) {
  if (depth > kMaxBaseDepth) throw ConfigError({.what = "configuration files name each other as base", .where = path});
  const std::string text = read_text(path);
  const toml::table table = parse(text, path);
  if (const toml::node* base = table.get("base")) {
    const auto name = base->value<std::string>();
    if (!name) throw ConfigError({.what = "base must be the name of a file", .where = position(*base, path)});
    load_file(config, (fs::path(path).parent_path() / *name).string(), depth + 1);
  }
  const FieldList list = describe(config);
  apply_table(list, table, {"", path, Author::kUser});
}

Json json_value(const FieldValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

FieldValue from_json_value(const Json& j, const std::string& path, const std::string& where) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_array()) {
    const bool texts = !j.empty() && j.front().is_string();
    for (const auto& item : j) {
      if (texts ? !item.is_string() : !item.is_number()) throw ConfigError({.what = path + ": mixed list", .where = where});
    }
    if (texts) return j.get<std::vector<std::string>>();
    return j.get<std::vector<double>>();
  }
  throw ConfigError({.what = path + ": no configuration value", .where = where, .got = j.dump()});
}

}  // namespace

void load_toml_file(RunConfig& config, const std::string& path) { load_file(config, path, 0); }

void load_toml_text(RunConfig& config, std::string_view text, const std::string& where) {
  const FieldList list = describe(config);
  apply_table(list, parse(text, where), {"", where, Author::kProgram});
}

void apply_override(RunConfig& config, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw ConfigError({.what = "an override is key=value",
                       .where = "command line",
                       .got = std::string(assignment),
                       .expected = "for example pe.sigma=0.1"});
  }
  const std::string key(trim(assignment.substr(0, equals)));
  const FieldList list = describe(config);
  list.find(key, "command line").set_text(trim(assignment.substr(equals + 1)), "command line");
}

RunConfig load_run_config(const std::string& path, std::span<const std::string> overrides) {
  RunConfig config;
  if (!path.empty()) load_toml_file(config, path);
  for (const std::string& o : overrides) apply_override(config, o);
  validate(config);
  return config;
}

std::string to_toml(const RunConfig& config) {
  RunConfig copy = config;
  std::string out;
  std::string section;
  const FieldList list = describe(copy);
  for (const Field& f : list.fields()) {
    const std::size_t dot = f.path.find('.');
    const std::string s = dot == std::string::npos ? "" : f.path.substr(0, dot);
    if (s != section) {
      out += fmt::format("\n[{}]\n", s);
      section = s;
    }
    out += fmt::format("{} = {}\n", dot == std::string::npos ? f.path : f.path.substr(dot + 1), f.text());
  }
  return out;
}

Json to_json(const RunConfig& config) {
  RunConfig copy = config;
  Json out = Json::object();
  const FieldList list = describe(copy);
  for (const Field& f : list.fields()) {
    const std::size_t dot = f.path.find('.');
    if (dot == std::string::npos) {
      out[f.path] = json_value(f.value());
    } else {
      out[f.path.substr(0, dot)][f.path.substr(dot + 1)] = json_value(f.value());
    }
  }
  out.sort_keys();
  return out;
}

RunConfig run_config_from_json(const Json& json, const std::string& where) {
  RunConfig config;
  const FieldList list = describe(config);
  for (const auto& [key, value] : json.items()) {
    if (!value.is_object()) {
      list.find(key_name_now(key), where).set(from_json_value(value, key, where), where);
      continue;
    }
    for (const auto& [inner, v] : value.items()) {
      const std::string path = key + "." + inner;
      list.find(key_name_now(path), where).set(from_json_value(v, path, where), where);
    }
  }
  return config;
}

std::string config_hash(const RunConfig& config, std::string_view data_hash) {
  return config_identity(config, data_hash).current;
}

}  // namespace locus
