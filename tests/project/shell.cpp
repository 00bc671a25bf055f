// Shell commands through popen: the script goes to a file, so that nothing has to be quoted.
#include "tests/project/shell.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace locus::house {

ShellResult run_shell(const std::string& script, const std::filesystem::path& folder) {
  const ScratchFolder scratch;
  const auto file = scratch.path() / "script.sh";
  std::ofstream(file) << "cd '" << folder.string() << "'\n" << script << "\n";
  FILE* pipe = popen(("bash -euo pipefail '" + file.string() + "' 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("bash could not be started");
  ShellResult result;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) result.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

ScratchFolder::ScratchFolder() {
  std::string form = (std::filesystem::temp_directory_path() / "locus-test-XXXXXX").string();
  if (mkdtemp(form.data()) == nullptr) throw std::runtime_error("no temporary folder could be made");
  path_ = form;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace locus::house
