// The program as its users meet it: commands in a folder of their own, with exit code and both outputs.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/paths.h"

namespace locus::cli_testing {

namespace fs = std::filesystem;

struct Result {
  int code = 0;
  std::string out, err;
};

inline std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// A folder that goes away at the end; `locus` in its scripts is the program just built.
class Workplace {
 public:
  explicit Workplace(const std::string& name) {
    path_ = fs::temp_directory_path() / ("locus-cli-" + std::to_string(::getpid()) + "-" + name);
    fs::remove_all(path_);
    fs::create_directories(path_ / "work");
  }
  ~Workplace() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  fs::path operator/(const std::string& name) const { return path_ / "work" / name; }
  fs::path folder() const { return path_ / "work"; }

  Result shell(const std::string& script) const {
    const std::string out = (path_ / "out.txt").string(), err = (path_ / "err.txt").string();
    write(path_ / "script.sh", "cd '" + folder().string() + "'\nexport XDG_CACHE_HOME='" + (path_ / "cache").string() +
                                   "' NO_COLOR=1\nlocus() { '" + locus::test::binary() + "' \"$@\"; }\n" + script + "\n");
    const int status =
        std::system(("bash '" + (path_ / "script.sh").string() + "' >'" + out + "' 2>'" + err + "' </dev/null").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(out), text_of(err)};
  }

 private:
  fs::path path_;
};

// A model and data small enough for a run in a moment.
inline constexpr const char* kTiny = R"(study = "lst"
seed = 1
[model]
layers = 2
width = 8
heads = 2
[pe]
sigma = 0.1
[train]
batch = 16
[stop]
epochs = 1
[watch]
checkpoint_seconds = 0
[lst]
n = 3
per_difficulty = 20
heldout_items = 1
rotations = 1
min_distance = 0.0
)";

}  // namespace locus::cli_testing
