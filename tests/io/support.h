// Shared by the io tests: a scratch folder, Python as a foreign reader, errors as text.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "tests/support/paths.h"

namespace locus::io_test {

namespace fs = std::filesystem;

// A folder that is removed at the end of the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "locus_io_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code code;
    fs::permissions(path_, fs::perms::owner_all, fs::perm_options::add, code);
    fs::remove_all(path_, code);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

struct Output {
  int status = -1;
  std::string text;
};

inline Output run_command(const std::string& command) {
  Output output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.text.append(buffer, n);
  output.status = ::pclose(pipe);
  return output;
}

inline bool python_has(const std::string& modules) {
  return run_command("/usr/bin/python3 -c 'import " + modules + "'").status == 0;
}

// The message of the Error that `body` throws, or "" when it throws none.
template <class Body>
std::string error_text(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline fs::path shared_data() { return locus::test::shared_data(); }

}  // namespace locus::io_test

#define LOCUS_NEEDS_SHARED_DATA()                                                \
  if (!::locus::io_test::fs::exists(locus::test::shared_data())) {               \
    GTEST_SKIP() << "the shared data are not at " << locus::test::shared_data(); \
  }
#define LOCUS_NEEDS_PYTHON(modules)                                 \
  if (!::locus::io_test::python_has(modules)) {                     \
    GTEST_SKIP() << "/usr/bin/python3 cannot import " << (modules); \
  }
