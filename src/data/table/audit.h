// The audit of a data set: what was read as what, and what is suspicious. A doubt would change the result, and only the
// user can settle it: training waits for the key that it names.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace locus {

enum class FindingKind { kFact, kNote, kDoubt };

struct Finding {
  FindingKind kind = FindingKind::kFact;
  std::string about;  // "samples", "column 'age'"
  std::string text;
  std::string hint = {};  // of a doubt: the keys that settle it
};

class DataAudit {
 public:
  void fact(std::string about, std::string text);
  void note(std::string about, std::string text);
  void doubt(std::string about, std::string text, std::string hint);

  const std::vector<Finding>& findings() const { return findings_; }
  bool has_doubts() const;
  std::vector<std::string> lines() const;  // one screen: facts, notes, doubts
  Json to_json() const;
  static DataAudit from_json(const Json& json);  // IoError

  // DataError with the first doubt, and how many more there are.
  void require_no_doubts(const std::string& source) const;

 private:
  std::vector<Finding> findings_;
};

// "a, b, c and 4 more".
std::string few_of(const std::vector<std::string>& names);

}  // namespace locus
