#include "data/table/audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"fact", "note", "doubt"};
constexpr std::size_t kFew = 6;

}  // namespace

std::string few_of(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kFew);
  std::string out = join(std::vector<std::string>(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)), ", ");
  if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

void DataAudit::fact(std::string about, std::string text) {
  findings_.push_back({FindingKind::kFact, std::move(about), std::move(text)});
}

void DataAudit::note(std::string about, std::string text) {
  findings_.push_back({FindingKind::kNote, std::move(about), std::move(text)});
}

void DataAudit::doubt(std::string about, std::string text, std::string hint) {
  findings_.push_back({FindingKind::kDoubt, std::move(about), std::move(text), std::move(hint)});
}

bool DataAudit::has_doubts() const {
  return std::any_of(findings_.begin(), findings_.end(), [](const Finding& f) { return f.kind == FindingKind::kDoubt; });
}

std::vector<std::string> DataAudit::lines() const {
  std::vector<std::string> out;
  for (const FindingKind kind : {FindingKind::kFact, FindingKind::kNote, FindingKind::kDoubt}) {
    for (const Finding& f : findings_) {
      if (f.kind != kind) continue;
      const char* mark = kind == FindingKind::kFact ? " " : kind == FindingKind::kNote ? "!" : "?";
      out.push_back(fmt::format("{} {:<12} {}", mark, f.about, f.text));
      if (!f.hint.empty()) out.push_back(fmt::format("{:<15}{}", "", f.hint));
    }
  }
  return out;
}

Json DataAudit::to_json() const {
  Json out = Json::array();
  for (const Finding& f : findings_) {
    Json row = Json::object();
    row["kind"] = kKindNames[static_cast<std::size_t>(f.kind)];
    row["about"] = f.about;
    row["text"] = f.text;
    if (!f.hint.empty()) row["hint"] = f.hint;
    out.push_back(row);
  }
  return out;
}

DataAudit DataAudit::from_json(const Json& json) {
  DataAudit out;
  for (const Json& row : json.items_of_array()) {
    Finding f;
    const auto kind = std::find(kKindNames.begin(), kKindNames.end(), row.at("kind").text());
    if (kind == kKindNames.end()) throw IoError({.what = "unknown kind of finding", .got = row.at("kind").text()});
    f.kind = static_cast<FindingKind>(kind - kKindNames.begin());
    f.about = row.at("about").text();
    f.text = row.at("text").text();
    if (row.contains("hint")) f.hint = row.at("hint").text();
    out.findings_.push_back(std::move(f));
  }
  return out;
}

void DataAudit::require_no_doubts(const std::string& source) const {
  const Finding* first = nullptr;
  int count = 0;
  for (const Finding& f : findings_) {
    if (f.kind != FindingKind::kDoubt) continue;
    if (first == nullptr) first = &f;
    ++count;
  }
  if (first == nullptr) return;
  throw DataError({.what = first->about + ": " + first->text,
                   .where = source,
                   .expected = "a word from you: the result depends on it",
                   .hint = first->hint + (count > 1 ? fmt::format("; {} more: locus check shows all", count - 1) : "")});
}

}  // namespace locus
