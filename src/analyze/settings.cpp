#include "analyze/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <type_traits>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

template <class T>
T number_of(const std::string& key, std::string_view text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    throw ConfigError({.what = "not a number", .where = key, .got = std::string(text), .expected = "a number"});
  }
  return value;
}

std::vector<std::string> list_of(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> out;
  for (const std::string& part : split(text, ',')) {
    std::string_view item = trim(part);
    if (item.size() >= 2 && item.starts_with('"') && item.ends_with('"')) item = item.substr(1, item.size() - 2);
    if (!item.empty()) out.emplace_back(item);
  }
  return out;
}

struct Setter {
  const std::string& key;
  std::string_view text;
  bool& found;

  template <class T>
  void operator()(const char* name, T& value) const {
    if (key != name) return;
    found = true;
    if constexpr (std::is_same_v<T, bool>) {
      if (text != "true" && text != "false")
        throw ConfigError(
            {.what = "not true or false", .where = key, .got = std::string(text), .expected = "true or false"});
      value = text == "true";
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = std::string(text);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      value = list_of(text);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      value.clear();
      for (const std::string& item : list_of(text)) value.push_back(number_of<double>(key, item));
    } else {
      value = number_of<T>(key, text);
    }
  }
};

struct NameCollector {
  std::vector<std::string>& names;
  template <class T>
  void operator()(const char* name, const T&) const {
    names.emplace_back(name);
  }
};

void check(const AnalyzeSettings& s) {
  const auto need = [](bool ok, const char* key, std::int64_t got, const char* expected) {
    if (!ok) throw ConfigError({.what = "out of range", .where = key, .got = std::to_string(got), .expected = expected});
  };
  need(s.permutations >= 1 && s.permutations <= 1'000'000, "permutations", s.permutations, "1 to 1000000");
  need(s.surrogates >= 0 && s.surrogates <= 100'000, "surrogates", s.surrogates, "0 to 100000");
  need(s.community_starts >= 1 && s.community_starts <= 100'000, "community_starts", s.community_starts, "1 to 100000");
  if (!(s.resolution >= 0 && s.resolution <= 100)) {
    throw ConfigError({.what = "out of range",
                       .where = "resolution",
                       .got = fmt::format("{}", s.resolution),
                       .expected = "0 (chosen by persistence) to 100"});
  }
  need(s.examples >= 1, "examples", s.examples, "at least 1");
  need(s.kept_examples >= 0, "kept_examples", s.kept_examples, "at least 0");
  need(s.repeats >= 1 && s.repeats <= 10'000, "repeats", s.repeats, "1 to 10000");
  need(s.most_lesions >= 0, "most_lesions", s.most_lesions, "at least 0");
  need(s.probe >= 2 && s.probe <= 20'000, "probe", s.probe, "2 to 20000");
  need(s.probe_outputs >= 1, "probe_outputs", s.probe_outputs, "at least 1");
}

}  // namespace

std::vector<std::string> setting_keys() {
  std::vector<std::string> names;
  const AnalyzeSettings defaults;
  AnalyzeSettings::fields(defaults, NameCollector{names});
  return names;
}

void apply_setting(AnalyzeSettings& settings, std::string_view assignment) {
  const std::size_t at = assignment.find('=');
  const std::string key(trim(assignment.substr(0, at)));
  const std::vector<std::string> keys = setting_keys();
  if (at == std::string_view::npos) {
    throw ConfigError({.what = "not an assignment", .got = std::string(assignment), .expected = "key=value"});
  }
  bool found = false;
  AnalyzeSettings::fields(settings, Setter{key, trim(assignment.substr(at + 1)), found});
  if (!found) {
    const std::string near = nearest_name(key, keys);
    throw ConfigError({.what = "unknown setting of analyses",
                       .got = key,
                       .expected = join(keys, ", "),
                       .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  check(settings);
}

}  // namespace locus
