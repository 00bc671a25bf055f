#include "config/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "config/renamed_keys.h"
#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number_text(double x) {
  std::string t = shortest(x);
  if (t.find_first_of(".einf") == std::string::npos) t += ".0";
  return t;
}

std::string value_text(const FieldValue& value) {
  return std::visit(Overloaded{[](bool b) -> std::string { return b ? "true" : "false"; },
                               [](std::int64_t i) { return std::to_string(i); }, [](double x) { return number_text(x); },
                               [](const std::string& s) { return quoted_text(s); },
                               [](const std::vector<double>& v) {
                                 std::vector<std::string> parts;
                                 for (const double x : v) parts.push_back(number_text(x));
                                 return "[" + join(parts, ", ") + "]";
                               },
                               [](const std::vector<std::string>& v) {
                                 std::vector<std::string> parts;
                                 for (const std::string& s : v) parts.push_back(quoted_text(s));
                                 return "[" + join(parts, ", ") + "]";
                               }},
                    value);
}

[[noreturn]] void wrong_type(const Field& field, const std::string& got, const std::string& where) {
  throw ConfigError({.what = fmt::format("{} has the wrong type", field.path),
                     .where = where,
                     .got = got,
                     .expected = field.type_name(),
                     .hint = fmt::format("for example {} = {}", field.path, field.text())});
}

void check_bounds(const Field& field, double x, const std::string& where) {
  if (x >= field.bounds.low && x <= field.bounds.high) return;
  throw ConfigError({.what = fmt::format("{} is out of range", field.path),
                     .where = where,
                     .got = shortest(x),
                     .expected = fmt::format("{} .. {}", shortest(field.bounds.low), shortest(field.bounds.high)),
                     .hint = field.help});
}

void check_item(const Field& field, double x, const std::string& where) {
  check_bounds(field, x, where);
  if (!field.whole || x == std::floor(x)) return;
  throw ConfigError({.what = fmt::format("{} has an item that is no whole number", field.path),
                     .where = where,
                     .got = shortest(x),
                     .hint = field.help});
}

void set_choice(const Field& field, const Choice& choice, const std::string& name, const std::string& where) {
  const std::vector<std::string> names(choice.names.begin(), choice.names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return choice.set(static_cast<int>(i));
  }
  throw no_such_choice({field.path, where}, name, names, field.help);
}

bool parse_double(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_integer(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front()) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

// The items of "[a, b]" or "a" as typed on a command line.
std::vector<std::string> list_items(std::string_view text) {
  if (!text.empty() && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (trim(text).empty()) return {};
  std::vector<std::string> items;
  for (const std::string& item : split(text, ',')) items.emplace_back(unquoted(trim(item)));
  return items;
}

}  // namespace

ConfigError no_such_choice(const KeyPlace& key, const std::string& got, const std::vector<std::string>& names,
                           const std::string& otherwise) {
  const std::string nearest = nearest_name(got, names);
  return ConfigError({.what = fmt::format("{} has no such choice", key.path),
                      .where = key.where,
                      .got = got,
                      .expected = join(names, ", "),
                      .hint = nearest.empty() ? otherwise : fmt::format("did you mean {}?", nearest)});
}

std::string Field::type_name() const {
  return std::visit(
      Overloaded{
          [](bool*) -> std::string { return "true or false"; },
          [](std::int64_t*) -> std::string { return "a whole number"; }, [](double*) -> std::string { return "a number"; },
          [](std::string*) -> std::string { return "text"; },
          [](std::vector<double>*) -> std::string { return "a list of numbers"; },
          [](std::vector<std::string>*) -> std::string { return "a list of texts"; },
          [](const Choice& c) { return "one of " + join(std::vector<std::string>(c.names.begin(), c.names.end()), ", "); },
          [](const NamedChoice& c) { return "one of " + join(c.names, ", "); }},
      target);
}

FieldValue Field::value() const {
  return std::visit(
      Overloaded{[](const Choice& c) -> FieldValue { return std::string(c.names[static_cast<std::size_t>(c.get())]); },
                 [](const NamedChoice& c) -> FieldValue { return *c.target; },
                 [](const auto* p) -> FieldValue { return *p; }},
      target);
}

std::string Field::text() const { return value_text(value()); }

void Field::set(const FieldValue& value, const std::string& where) const {
  std::visit(Overloaded{[&](const Choice& c) {
                          if (!std::holds_alternative<std::string>(value)) wrong_type(*this, value_text(value), where);
                          set_choice(*this, c, std::get<std::string>(value), where);
                        },
                        [&](const NamedChoice& c) {
                          if (!std::holds_alternative<std::string>(value)) wrong_type(*this, value_text(value), where);
                          const auto& name = std::get<std::string>(value);
                          if (std::find(c.names.begin(), c.names.end(), name) == c.names.end())
                            throw no_such_choice({path, where}, name, c.names, help);
                          *c.target = name;
                        },
                        [&](double* p) {
                          double x = 0;
                          if (const auto* i = std::get_if<std::int64_t>(&value)) {
                            x = static_cast<double>(*i);
                          } else if (const auto* d = std::get_if<double>(&value)) {
                            x = *d;
                          } else {
                            wrong_type(*this, value_text(value), where);
                          }
                          check_bounds(*this, x, where);
                          *p = x;
                        },
                        [&](std::int64_t* p) {
                          if (!std::holds_alternative<std::int64_t>(value)) wrong_type(*this, value_text(value), where);
                          check_bounds(*this, static_cast<double>(std::get<std::int64_t>(value)), where);
                          *p = std::get<std::int64_t>(value);
                        },
                        [&](std::vector<double>* p) {
                          const auto* v = std::get_if<std::vector<double>>(&value);
                          if (v == nullptr) wrong_type(*this, value_text(value), where);
                          for (const double x : *v) check_item(*this, x, where);
                          *p = *v;
                        },
                        [&](std::vector<std::string>* p) {
                          if (const auto* v = std::get_if<std::vector<std::string>>(&value)) {
                            *p = *v;
                          } else if (const auto* d = std::get_if<std::vector<double>>(&value); d != nullptr && d->empty()) {
                            p->clear();
                          } else {
                            wrong_type(*this, value_text(value), where);
                          }
                        },
                        [&](auto* p) {
                          using T = std::remove_pointer_t<decltype(p)>;
                          if (!std::holds_alternative<T>(value)) wrong_type(*this, value_text(value), where);
                          *p = std::get<T>(value);
                        }},
             target);
}

void Field::set_text(std::string_view typed, const std::string& where) const {
  const std::string text(typed);
  std::visit(Overloaded{[&](bool*) {
                          if (text != "true" && text != "false") wrong_type(*this, text, where);
                          set(text == "true", where);
                        },
                        [&](std::int64_t*) {
                          std::int64_t i = 0;
                          if (!parse_integer(text, i)) wrong_type(*this, text, where);
                          set(i, where);
                        },
                        [&](double*) {
                          double x = 0;
                          if (!parse_double(text, x)) wrong_type(*this, text, where);
                          set(x, where);
                        },
                        [&](std::vector<double>*) {
                          std::vector<double> v;
                          for (const std::string& item : list_items(text)) {
                            if (!parse_double(item, v.emplace_back())) wrong_type(*this, text, where);
                          }
                          set(v, where);
                        },
                        [&](std::vector<std::string>*) { set(list_items(text), where); },
                        [&](const auto&) { set(std::string(unquoted(text)), where); }},
             target);
}

void FieldList::section(std::string name, std::string help) {
  section_help_[name] = std::move(help);
  section_ = std::move(name);
}

Field& FieldList::add(std::string name, FieldTarget target, Bounds bounds, std::string help) {
  Field field;
  field.path = section_.empty() ? std::move(name) : section_ + "." + name;
  field.help = std::move(help);
  field.target = std::move(target);
  field.bounds = bounds;
  return fields_.emplace_back(std::move(field));
}

Field& FieldList::flag(std::string name, bool& target, std::string help) {
  return add(std::move(name), &target, {}, std::move(help));
}
Field& FieldList::integer(std::string name, std::int64_t& target, Bounds bounds, std::string help) {
  return add(std::move(name), &target, bounds, std::move(help));
}
Field& FieldList::number(std::string name, double& target, Bounds bounds, std::string help) {
  return add(std::move(name), &target, bounds, std::move(help));
}
Field& FieldList::text(std::string name, std::string& target, std::string help) {
  return add(std::move(name), &target, {}, std::move(help));
}
Field& FieldList::one_of(std::string name, std::string& target, std::vector<std::string> names, std::string help) {
  return add(std::move(name), NamedChoice{&target, std::move(names)}, {}, std::move(help));
}
Field& FieldList::numbers(std::string name, std::vector<double>& target, Bounds each, std::string help) {
  return add(std::move(name), &target, each, std::move(help));
}
Field& FieldList::whole_numbers(std::string name, std::vector<double>& target, Bounds each, std::string help) {
  Field& field = numbers(std::move(name), target, each, std::move(help));
  field.whole = true;
  return field;
}
Field& FieldList::texts(std::string name, std::vector<std::string>& target, std::string help) {
  return add(std::move(name), &target, {}, std::move(help));
}

std::vector<std::string> FieldList::names() const {
  std::vector<std::string> out;
  for (const Field& f : fields_) out.push_back(f.path);
  return out;
}

const Field& FieldList::find(std::string_view path, const std::string& where) const {
  for (const Field& f : fields_) {
    if (f.path == path) return f;
  }
  throw unknown_key(path, where, names());
}

}  // namespace locus
