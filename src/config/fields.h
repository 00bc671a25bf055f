// A list of named fields bound to one object: the single description from which defaults, help, TOML parsing,
// overrides, validation, printing, hashing and sweep grids are derived.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"

namespace locus {

// A value as it stands in a file or on the command line.
using FieldValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// An enumeration as an int and its names.
struct Choice {
  std::function<int()> get;
  std::function<void(int)> set;
  std::span<const std::string_view> names;
};

// A text that is one of the names of a registry.
struct NamedChoice {
  std::string* target;
  std::vector<std::string> names;
};

using FieldTarget = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<double>*,
                                 std::vector<std::string>*, Choice, NamedChoice>;

struct Field {
  std::string path;  // "pe.sigma"
  std::string help;
  FieldTarget target;
  Bounds bounds;
  bool whole = false;    // a list of whole numbers
  bool identity = true;  // part of the run's identity (its hash)

  std::string type_name() const;
  FieldValue value() const;
  std::string text() const;  // as it would stand in TOML
  // Sets from a value of the right kind, or from text as typed after key=; `where` names the place for messages.
  void set(const FieldValue& value, const std::string& where) const;
  void set_text(std::string_view text, const std::string& where) const;
};

// For a value that is none of `names`, with the nearest of them; `otherwise` is the hint where none is near.
struct KeyPlace {
  std::string path, where;
};
ConfigError no_such_choice(const KeyPlace& key, const std::string& got, const std::vector<std::string>& names,
                           const std::string& otherwise);

class FieldList {
 public:
  // Fields added until the next call stand under `name.`; an empty name means the top level.
  void section(std::string name, std::string help);

  Field& flag(std::string name, bool& target, std::string help);
  Field& integer(std::string name, std::int64_t& target, Bounds bounds, std::string help);
  Field& number(std::string name, double& target, Bounds bounds, std::string help);
  Field& text(std::string name, std::string& target, std::string help);
  Field& numbers(std::string name, std::vector<double>& target, Bounds each, std::string help);
  Field& whole_numbers(std::string name, std::vector<double>& target, Bounds each, std::string help);
  Field& texts(std::string name, std::vector<std::string>& target, std::string help);
  Field& one_of(std::string name, std::string& target, std::vector<std::string> names, std::string help);
  template <class E>
  Field& choice(std::string name, E& target, std::span<const std::string_view> names, std::string help) {
    return add(
        std::move(name),
        Choice{[&target] { return static_cast<int>(target); }, [&target](int i) { target = static_cast<E>(i); }, names}, {},
        std::move(help));
  }

  const std::vector<Field>& fields() const { return fields_; }
  const std::map<std::string, std::string>& section_help() const { return section_help_; }
  std::vector<std::string> names() const;
  const Field& find(std::string_view path, const std::string& where) const;  // ConfigError with the nearest name

 private:
  Field& add(std::string name, FieldTarget target, Bounds bounds, std::string help);
  std::string section_;
  std::vector<Field> fields_;
  std::map<std::string, std::string> section_help_;
};

}  // namespace locus
