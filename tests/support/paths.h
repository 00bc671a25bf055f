// Where tests find the sources, the program and the shared data. Only paths.cpp is compiled with these paths, so that the
// objects of all other tests are equal in every checkout and come from the compiler cache.
#pragma once

#include <string>

namespace locus::test {

std::string source_dir();
std::string binary();
std::string toy_program();  // tests/toy
std::string shared_data();
std::string failing_locks();  // a library for LD_PRELOAD: tests/support/failing_locks.cpp

}  // namespace locus::test
