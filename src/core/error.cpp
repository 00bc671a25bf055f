#include "core/error.h"

#include <fmt/core.h>

namespace locus {
namespace {

std::string text_of(const ErrorParts& p) {
  std::string text = p.where.empty() ? p.what : p.where + ": " + p.what;
  if (!p.got.empty()) text += "\n  got:      " + p.got;
  if (!p.expected.empty()) text += "\n  expected: " + p.expected;
  if (!p.hint.empty()) text += "\n  hint:     " + p.hint;
  return text;
}

}  // namespace

Error::Error(const ErrorParts& parts) : std::runtime_error(text_of(parts)), parts_(parts) {}

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw std::logic_error(fmt::format("{}:{}: internal check failed: {} ({})", file, line, message, condition));
}

}  // namespace locus
