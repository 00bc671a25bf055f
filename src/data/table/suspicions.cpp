#include "data/table/suspicions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/text.h"

namespace locus {
namespace {

constexpr double kFarDeviations = 20;  // from the mean of training, in its standard deviations

const RawToken* find(const RawTokens& raw, const std::string& name) {
  for (const RawToken& t : raw.tokens) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

// One value a class and one class a value.
bool renames_classes(const RawTokens& raw, const RawToken& token, const RawTarget& target) {
  if (!token.is_category() && raw.features > 1) return false;
  std::map<std::string, std::int32_t> class_of;
  std::set<std::int32_t> seen;
  for (std::int64_t i = 0; i < raw.samples; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string value = token.is_category() ? token.texts[at] : shortest(token.numbers[at]);
    const auto [place, is_new] = class_of.try_emplace(value, target.labels[at]);
    if (place->second != target.labels[at]) return false;
    if (is_new && !seen.insert(target.labels[at]).second) return false;
  }
  return true;
}

// A straight line through every sample.
bool is_line(const RawTokens& raw, const RawToken& token, const MatrixD& target, std::ptrdiff_t column) {
  if (token.is_category() || raw.features > 1) return false;
  double n = 0, x = 0, y = 0;
  for (std::int64_t i = 0; i < raw.samples; ++i) {
    if (std::isnan(token.numbers[static_cast<std::size_t>(i)])) continue;
    n += 1;
    x += token.numbers[static_cast<std::size_t>(i)];
    y += target(i, column);
  }
  double xx = 0, yy = 0, xy = 0;
  for (std::int64_t i = 0; i < raw.samples; ++i) {
    if (std::isnan(token.numbers[static_cast<std::size_t>(i)])) continue;
    const double a = token.numbers[static_cast<std::size_t>(i)] - x / n, b = target(i, column) - y / n;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return xx > 0 && yy > 0 && xy * xy >= (1 - 1e-10) * xx * yy;
}

bool tells_target(const CoderInput& in, const RawToken& token) {
  if (in.target.task == TableTask::kClassify) return renames_classes(in.raw, token, in.target);
  for (std::ptrdiff_t o = 0; o < in.target.values.cols(); ++o) {
    if (is_line(in.raw, token, in.target.values, o)) return true;
  }
  return false;
}

void look_for_outliers(const CoderInput& in, const TableCoder& coder, DataAudit& audit) {
  std::vector<std::string> names;
  for (const TokenCode& code : coder.tokens) {
    const RawToken* token = find(in.raw, code.name);
    if (token == nullptr || code.is_category()) continue;
    std::int64_t far = 0;
    for (std::size_t i = 0; i < token->numbers.size(); ++i) {
      const std::size_t f = i % static_cast<std::size_t>(in.raw.features);
      far += std::abs(token->numbers[i] - code.mean[f]) > kFarDeviations * code.sd[f] ? 1 : 0;
    }
    if (far > 0) names.push_back(fmt::format("{} ({})", code.name, far));
  }
  if (names.empty()) return;
  audit.note("outliers",
             fmt::format("values more than {} deviations from the mean of training: {}", kFarDeviations, few_of(names)));
}

}  // namespace

void look_for_suspicions(const CoderInput& in, const TableCoder& coder, const TableConfig& config, DataAudit& audit) {
  look_for_outliers(in, coder, audit);
  if (!in.target.is_given() || std::find(config.skip.begin(), config.skip.end(), "none") != config.skip.end()) return;
  for (const TokenCode& code : coder.tokens) {
    const RawToken* token = find(in.raw, code.name);
    if (token == nullptr || !tells_target(in, *token)) continue;
    audit.doubt(fmt::format("column '{}'", code.name),
                "it alone tells the target of every sample: is it the target under another name?",
                fmt::format("table.skip='[\"{}\"]' leaves it out, table.skip='[\"none\"]' keeps every column", code.name));
  }
}

}  // namespace locus
