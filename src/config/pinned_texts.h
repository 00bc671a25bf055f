// Files of src/config that are part of the program; the definitions are made by cmake/embed.cmake.
#pragma once

#include <string_view>

namespace locus {

extern const std::string_view kIdentityText;   // identity.txt
extern const std::string_view kSignatureText;  // signatures.txt

}  // namespace locus
