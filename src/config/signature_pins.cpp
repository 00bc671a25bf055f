#include "config/signature_pins.h"

#include <algorithm>

#include "config/pinned_texts.h"
#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::string_view kScalar = "scalar";
constexpr std::string_view kVersion1 = "version-1";
constexpr std::string_view kProgram = "program";  // in place of an encoding: the one signature that version 1 had

std::string find_hash(const std::vector<SignaturePin>& pins, std::string_view encoding, std::string_view isa) {
  const auto pin =
      std::find_if(pins.begin(), pins.end(), [&](const SignaturePin& p) { return p.encoding == encoding && p.isa == isa; });
  return pin == pins.end() ? "" : pin->hash;
}

}  // namespace

std::vector<SignaturePin> read_signature_pins(std::string_view text) {
  std::vector<SignaturePin> pins;
  for (const std::string& raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> parts = split(line, ' ');
    std::erase(parts, "");
    if (parts.size() != 4) {
      throw ConfigError({.what = "a line of the pinned signatures has other than four parts",
                         .where = "src/config/signatures.txt",
                         .got = std::string(line),
                         .expected = "encoding isa compiler hash"});
    }
    pins.push_back({parts[0], parts[1], parts[2], parts[3]});
  }
  return pins;
}

const std::vector<SignaturePin>& signature_pins() {
  static const std::vector<SignaturePin> pins = read_signature_pins(kSignatureText);
  return pins;
}

PinnedSignature pinned_signature(std::string_view encoding, const std::vector<SignaturePin>& pins) {
  PinnedSignature out;
  out.hash = find_hash(pins, encoding, kScalar);
  if (out.hash.empty()) return {"unpinned", ""};
  if (out.hash == find_hash(pins, encoding, kVersion1)) out.version1 = find_hash(pins, kProgram, kVersion1);
  return out;
}

bool same_behaviour(std::string_view stored, const PinnedSignature& now) {
  return stored == now.hash || (!now.version1.empty() && stored == now.version1);
}

}  // namespace locus
