#include "tune/space.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::size_t kGrid = 121;
constexpr std::size_t kPool = 512;

bool number_of(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(out);
}

// Three digits: what a person would type, and the same on machines whose logarithms differ in the last bit.
double three_digits(double x) {
  double out = x;
  number_of(fmt::format("{:.3g}", x), out);
  return out;
}

double as_number(const FieldValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

[[noreturn]] void bad_range(const std::string& key, const std::string& text) {
  throw ConfigError({.what = key + ": not a range to search",
                     .where = kTuneWhere,
                     .got = text,
                     .expected = "0.01..3:log, 0..0.5, or values: 32,64"});
}

}  // namespace

std::string TuneKey::text() const {
  if (is_range()) return fmt::format("{}..{}{}", shortest(from), shortest(to), log ? ":log" : "");
  std::vector<std::string> parts;
  for (const FieldValue& v : values) parts.push_back(plain_text(v));
  return join(parts, ",");
}

bool is_tune_key(const std::string& assignment) {
  const std::size_t equal = assignment.find('=');
  if (equal == std::string::npos) return false;
  const std::string key = assignment.substr(0, equal), text = assignment.substr(equal + 1);
  if (text.find("..") == std::string::npos && text.find(',') == std::string::npos) return false;
  RunConfig any;
  const FieldList list = describe(any);
  const FieldTarget& target = list.find(key, kTuneWhere).target;
  const bool number = std::holds_alternative<double*>(target) || std::holds_alternative<std::int64_t*>(target);
  return (number && text.find("..") != std::string::npos) || sweep_values(key, text, kTuneWhere).size() > 1;
}

TuneKey parse_tune_key(const std::string& assignment) {
  const std::size_t equal = assignment.find('=');
  TuneKey out;
  out.key = assignment.substr(0, equal);
  const std::string text = assignment.substr(equal + 1);
  const std::size_t dots = text.find("..");
  const std::vector<std::string> parts = split(dots == std::string::npos ? "" : text.substr(dots + 2), ':');
  const bool scale = parts.size() == 1 || (parts.size() == 2 && (parts[1] == "log" || parts[1] == "linear"));
  if (dots == std::string::npos || !scale || text.find(',') != std::string::npos) {
    out.values = sweep_values(out.key, text, kTuneWhere);
    return out;
  }
  RunConfig any;
  const FieldList list = describe(any);
  const Field& field = list.find(out.key, kTuneWhere);
  out.integer = std::holds_alternative<std::int64_t*>(field.target);
  out.log = parts.size() == 2 && parts[1] == "log";
  if (!number_of(text.substr(0, dots), out.from) || !number_of(parts[0], out.to) || out.to <= out.from)
    bad_range(out.key, text);
  if (out.log && out.from <= 0)
    throw ConfigError({.what = out.key + ": a logarithmic range begins above 0", .where = kTuneWhere, .got = text});
  for (const double end : {out.from, out.to}) {
    if (out.integer && end != std::floor(end)) bad_range(out.key, text);
    field.set(out.integer ? FieldValue(static_cast<std::int64_t>(end)) : FieldValue(end), kTuneWhere);
  }
  return out;
}

std::vector<bool> TuneSpace::choices() const {
  std::vector<bool> out;
  for (const TuneKey& k : keys_) out.push_back(!k.is_range());
  return out;
}

FieldValue TuneSpace::value(std::size_t key, double place) const {
  const TuneKey& k = keys_[key];
  if (!k.is_range()) return k.values[static_cast<std::size_t>(place)];
  const double u = std::clamp(place, 0.0, 1.0);
  const double x = k.log ? k.from * std::pow(k.to / k.from, u) : k.from + u * (k.to - k.from);
  const double held = std::clamp(three_digits(x), k.from, k.to);
  if (k.integer) return static_cast<std::int64_t>(std::llround(std::clamp(x, k.from, k.to)));
  return held;
}

double TuneSpace::place(std::size_t key, const FieldValue& value) const {
  const TuneKey& k = keys_[key];
  if (!k.is_range()) {
    const auto found = std::find(k.values.begin(), k.values.end(), value);
    LOCUS_CHECK(found != k.values.end(), "a value of the list");
    return static_cast<double>(found - k.values.begin());
  }
  const double x = as_number(value);
  return k.log ? std::log(x / k.from) / std::log(k.to / k.from) : (x - k.from) / (k.to - k.from);
}

std::vector<double> TuneSpace::rounded(const std::vector<double>& x) const {
  std::vector<double> out;
  for (std::size_t k = 0; k < keys_.size(); ++k) out.push_back(place(k, value(k, x[k])));
  return out;
}

std::vector<std::vector<double>> TuneSpace::design(std::size_t count, std::uint64_t seed) const {
  std::vector<std::vector<double>> out(count, std::vector<double>(keys_.size()));
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng rng(seed, "tune/design/" + keys_[k].key);
    if (k > 0) rng.shuffle(std::span(order));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t values = keys_[k].values.size();
      const auto at = static_cast<double>(order[i]);
      out[i][k] = keys_[k].is_range() ? (at + 0.5) / static_cast<double>(count) : static_cast<double>(order[i] % values);
    }
  }
  for (std::vector<double>& x : out) x = rounded(x);
  return out;
}

std::vector<std::vector<double>> TuneSpace::pool(std::uint64_t seed, std::uint64_t round) const {
  std::vector<std::vector<double>> out;
  if (keys_.size() == 1 && keys_[0].is_range()) {
    for (std::size_t i = 0; i < kGrid; ++i) out.push_back({static_cast<double>(i) / static_cast<double>(kGrid - 1)});
  } else {
    Rng rng(derive_seed(seed, "tune/pool", round), "tune/pool");
    for (std::size_t i = 0; i < kPool; ++i) {
      std::vector<double> x;
      for (const TuneKey& k : keys_)
        x.push_back(k.is_range() ? rng.uniform() : rng.below(static_cast<std::uint32_t>(k.values.size())));
      out.push_back(std::move(x));
    }
  }
  for (std::vector<double>& x : out) x = rounded(x);
  return out;
}

}  // namespace locus
