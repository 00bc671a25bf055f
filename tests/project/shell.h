// Running a shell command in a folder, and a folder that goes away with its owner.
#pragma once

#include <filesystem>
#include <string>

namespace locus::house {

struct ShellResult {
  int exit_code = 0;   // 128 + n when signal n ended it
  std::string output;  // stdout and stderr as they came
};

// Runs the script with `bash -euo pipefail` in the folder, without input.
ShellResult run_shell(const std::string& script, const std::filesystem::path& folder);

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace locus::house
