// Values of configuration keys as they stand in sweep files and comma lists, checked against the list of fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"

namespace locus {

// from..to in whole numbers (steps 0), or so many values between, ends included.
struct RangeText {
  double from = 0;
  double to = 0;
  std::int64_t steps = 0;
  bool log = false;
};

// A configuration to try values on. All methods throw ConfigError for unknown keys and wrong values.
class KeyScratch {
 public:
  KeyScratch();
  KeyScratch(const KeyScratch&) = delete;
  KeyScratch& operator=(const KeyScratch&) = delete;

  FieldValue typed(const std::string& key, std::string_view text, const std::string& where);
  FieldValue checked(const std::string& key, const FieldValue& value, const std::string& where);
  bool is_number(const std::string& key, const std::string& where);
  bool is_list(const std::string& key, const std::string& where);
  std::vector<FieldValue> range(const std::string& key, const RangeText& range, const std::string& where);
  std::vector<FieldValue> text_values(const std::string& key, std::string_view text, const std::string& where);
  const FieldList& list() const { return list_; }

 private:
  RunConfig config_;
  FieldList list_;
};

}  // namespace locus
