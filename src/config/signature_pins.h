// The pinned behaviour of every encoding: what tiny trainings with it gave when src/config/signatures.txt was written.
// Looking a line up costs nothing; tests and `locus selfcheck` compute the lines and compare them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace locus {

struct SignaturePin {
  std::string encoding;
  std::string isa;       // "scalar" for the reference path, "version-1" for what it was when version 1 ended
  std::string compiler;  // "any" where it makes no difference
  std::string hash;
};

// Rows of a text as signatures.txt; ConfigError for one that has not four parts.
std::vector<SignaturePin> read_signature_pins(std::string_view text);
const std::vector<SignaturePin>& signature_pins();  // of the file, which is part of the program

// What a sweep cell carries of its own encoding.
struct PinnedSignature {
  std::string hash;      // of the encoding's scalar row; "unpinned" when it has none
  std::string version1;  // the whole program's signature of version 1; "" when the encoding computes differently since
};
PinnedSignature pinned_signature(std::string_view encoding, const std::vector<SignaturePin>& pins = signature_pins());

// Whether a stored signature, of any version, tells of the same behaviour.
bool same_behaviour(std::string_view stored, const PinnedSignature& now);

}  // namespace locus
