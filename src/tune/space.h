// What a search varies: keys with a range or a list of values, and points among them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/rng.h"
#include "sweep/spec.h"

namespace locus {

inline constexpr const char* kTuneWhere = "locus tune";  // where an error stands

struct TuneKey {
  std::string key;
  double from = 0, to = 0;  // a range, ends included ...
  bool log = false;
  bool integer = false;
  std::vector<FieldValue> values = {};  // ... or these alone

  bool is_range() const { return values.empty(); }
  std::string text() const;  // "0.01..3:log", "32,64"
};

// "pe.sigma=0.01..3:log" and "model.width=32,64" as typed; ConfigError says what a range looks like. A single value is no
// key of a search: nothing comes back then.
bool is_tune_key(const std::string& assignment);
TuneKey parse_tune_key(const std::string& assignment);

class TuneSpace {
 public:
  TuneSpace() = default;
  explicit TuneSpace(std::vector<TuneKey> keys) : keys_(std::move(keys)) {}

  const std::vector<TuneKey>& keys() const { return keys_; }
  std::vector<bool> choices() const;  // one a key: it is a list

  // The value at a place: within 0..1 of a range, rounded to three digits; the index of a listed value.
  FieldValue value(std::size_t key, double place) const;
  double place(std::size_t key, const FieldValue& value) const;  // the reverse
  // A place whose values are those that can be set: rounded.
  std::vector<double> rounded(const std::vector<double>& x) const;
  // `count` places that cover every key evenly, in the order of the first one.
  std::vector<std::vector<double>> design(std::size_t count, std::uint64_t seed) const;
  // Places to choose the next from: evenly spaced with one range, drawn at random else.
  std::vector<std::vector<double>> pool(std::uint64_t seed, std::uint64_t round) const;

 private:
  std::vector<TuneKey> keys_;
};

}  // namespace locus
