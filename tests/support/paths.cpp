#include "tests/support/paths.h"

namespace locus::test {

std::string source_dir() { return LOCUS_SOURCE_DIR; }
std::string binary() { return LOCUS_BINARY; }
std::string toy_program() { return LOCUS_TOY_PROGRAM; }
std::string shared_data() { return LOCUS_SHARED_DATA; }
std::string failing_locks() { return LOCUS_FAILING_LOCKS; }

}  // namespace locus::test
