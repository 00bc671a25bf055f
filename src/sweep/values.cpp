// Lists and ranges of one key.
#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "sweep/toml.h"

namespace locus {
namespace {

constexpr std::int64_t kMostValues = 1'000'000;

[[noreturn]] void bad_range(const std::string& key, std::string_view text, const std::string& where) {
  throw ConfigError({.what = key + ": not a range",
                     .where = where,
                     .got = std::string(text),
                     .expected = "0..14, 0.1..2:5 (five values) or 0.1..2:5:log"});
}

bool number_of(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(out);
}

// Six digits: readable, and the same cell on machines whose logarithms differ in the last bit.
double rounded(double x) {
  double out = x;
  number_of(fmt::format("{:.6g}", x), out);
  return out;
}

// Commas outside of brackets and quotes.
std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      --depth;
    }
    if (c == ',' && depth == 0 && quote == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  for (std::string& item : items) item = std::string(trim(item));
  return items;
}

}  // namespace

KeyScratch::KeyScratch() : list_(describe(config_)) {}

FieldValue KeyScratch::typed(const std::string& key, std::string_view text, const std::string& where) {
  const Field& f = list_.find(key, where);
  f.set_text(text, where);
  return f.value();
}

FieldValue KeyScratch::checked(const std::string& key, const FieldValue& value, const std::string& where) {
  const Field& f = list_.find(key, where);
  f.set(value, where);
  return f.value();
}

bool KeyScratch::is_number(const std::string& key, const std::string& where) {
  const FieldTarget& t = list_.find(key, where).target;
  return std::holds_alternative<std::int64_t*>(t) || std::holds_alternative<double*>(t);
}

bool KeyScratch::is_list(const std::string& key, const std::string& where) {
  const FieldTarget& t = list_.find(key, where).target;
  return std::holds_alternative<std::vector<double>*>(t) || std::holds_alternative<std::vector<std::string>*>(t);
}

std::vector<FieldValue> KeyScratch::range(const std::string& key, const RangeText& r, const std::string& where) {
  const bool integer = std::holds_alternative<std::int64_t*>(list_.find(key, where).target);
  std::vector<FieldValue> values;
  const auto add = [&](double x) {
    if (integer && x == std::floor(x)) {
      values.push_back(checked(key, static_cast<std::int64_t>(x), where));
    } else {
      values.push_back(checked(key, x, where));
    }
  };
  const std::string text = fmt::format("{}..{}", shortest(r.from), shortest(r.to));
  if (r.log && (r.from <= 0 || r.to <= 0)) {
    throw ConfigError({.what = key + ": a logarithmic range needs ends above 0", .where = where, .got = text});
  }
  if (r.steps == 0) {  // whole numbers, both ends included
    if (r.from != std::floor(r.from) || r.to != std::floor(r.to) || r.to < r.from || r.log) bad_range(key, text, where);
    if (r.to - r.from >= static_cast<double>(kMostValues)) bad_range(key, text, where);
    for (double x = r.from; x <= r.to; ++x) add(x);
    return values;
  }
  if (r.steps < 1 || r.steps > kMostValues || (r.steps == 1 && r.from != r.to)) bad_range(key, text, where);
  for (std::int64_t i = 0; i < r.steps; ++i) {
    const double part = r.steps == 1 ? 0 : static_cast<double>(i) / static_cast<double>(r.steps - 1);
    double x =
        r.log ? std::exp(std::log(r.from) + part * (std::log(r.to) - std::log(r.from))) : r.from + part * (r.to - r.from);
    x = i == 0 ? r.from : i == r.steps - 1 ? r.to : rounded(x);
    add(integer ? std::round(x) : x);
  }
  return values;
}

std::vector<FieldValue> KeyScratch::text_values(const std::string& key, std::string_view text, const std::string& where) {
  std::vector<FieldValue> values;
  const bool list = is_list(key, where);
  std::vector<std::string> items = items_of(text);
  if (list && !text.starts_with('[')) items = {std::string(text)};
  for (const std::string& item : items) {
    const std::size_t dots = item.find("..");
    if (dots == std::string::npos || !is_number(key, where)) {
      values.push_back(typed(key, item, where));
      continue;
    }
    RangeText r;
    const std::vector<std::string> parts = split(item.substr(dots + 2), ':');
    double steps = 0;
    bool good = number_of(item.substr(0, dots), r.from) && number_of(parts[0], r.to) && parts.size() <= 3;
    if (parts.size() >= 2) good = good && number_of(parts[1], steps) && steps >= 1 && steps <= 1e6;
    if (parts.size() == 3) good = good && (parts[2] == "log" || parts[2] == "linear");
    if (!good) bad_range(key, item, where);
    r.steps = static_cast<std::int64_t>(steps);
    r.log = parts.size() == 3 && parts[2] == "log";
    for (FieldValue& v : range(key, r, where)) values.push_back(std::move(v));
  }
  return values;
}

std::vector<FieldValue> sweep_values(const std::string& key, std::string_view text, const std::string& where) {
  return KeyScratch().text_values(key, text, where);
}

std::string plain_text(const FieldValue& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&value)) return shortest(*d);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* v = std::get_if<std::vector<std::string>>(&value)) return "[" + join(*v, ", ") + "]";
  std::vector<std::string> parts;
  for (const double x : std::get<std::vector<double>>(value)) parts.push_back(shortest(x));
  return "[" + join(parts, ", ") + "]";
}

}  // namespace locus
