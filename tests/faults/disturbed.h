// Commands of the program with one disturbed call (tests/faults/inject.c), and what a folder holds, times apart.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "core/json.h"
#include "io/file.h"
#include "tests/support/paths.h"

namespace locus::faults {

namespace fs = std::filesystem;

inline constexpr std::array<const char*, 6> kKinds = {"eio", "enospc", "full", "kill", "short", "eintr"};

struct Fault {
  std::string kind = "count";
  std::uint64_t at = 0;
};

struct Ended {
  int code = 0;  // 128 + signal
  std::uint64_t calls = 0;
  std::uint64_t disturbed = 0;
  std::string said;
};

// A place to work in: <place>/root is what commands change, the rest is beside it.
class Place {
 public:
  explicit Place(const fs::path& path) : path_(path) {
    fs::remove_all(path_);
    fs::create_directories(root());
  }
  ~Place() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  fs::path root() const { return path_ / "root"; }
  fs::path cache() const { return path_.parent_path() / "cache"; }

  // Ends when the last process of the command has.
  Ended run(const std::vector<std::string>& arguments, const Fault& fault = {}) const {
    const fs::path state = path_ / "state", said = path_ / "said";
    std::ofstream(state, std::ios::binary) << std::string(16, '\0');
    std::array<int, 2> all_ended{};
    if (::pipe(all_ended.data()) != 0) throw std::runtime_error("no pipe");
    ::fcntl(all_ended[0], F_SETFD, FD_CLOEXEC);
    const pid_t child = start(arguments, fault, state, said);
    ::close(all_ended[1]);
    int status = 0;
    ::waitpid(child, &status, 0);
    for (char c = 0; ::read(all_ended[0], &c, 1) > 0;) continue;
    ::close(all_ended[0]);
    Ended end;
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const std::string counts = read_text_file(state);
    std::memcpy(&end.calls, counts.data(), 8);
    std::memcpy(&end.disturbed, counts.data() + 8, 8);
    end.said = read_text_file(said);
    return end;
  }

 private:
  pid_t start(const std::vector<std::string>& arguments, const Fault& fault, const fs::path& state,
              const fs::path& said) const {
    std::vector<std::string> words = {test::binary()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = {
        "LD_PRELOAD=" + (fs::path(test::binary()).parent_path() / "liblocus_inject.so").string(),
        "LOCUS_INJECT_ROOT=" + root().string(),
        "LOCUS_INJECT_STATE=" + state.string(),
        "LOCUS_INJECT_KIND=" + fault.kind,
        "LOCUS_INJECT_AT=" + std::to_string(fault.at),
        "XDG_CACHE_HOME=" + cache().string(),
        "PATH=/usr/bin:/bin",
        "NO_COLOR=1"};
    std::vector<char*> argv, environment;
    for (std::string& w : words) argv.push_back(w.data());
    for (std::string& v : variables) environment.push_back(v.data());
    argv.push_back(nullptr);
    environment.push_back(nullptr);
    const std::string folder = root().string(), output = said.string();
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), in = ::open("/dev/null", O_RDONLY);
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(out, 2);
    if (::chdir(folder.c_str()) == 0) ::execve(argv[0], argv.data(), environment.data());
    ::_exit(127);
  }

  fs::path path_;
};

// What files below `root` say, by their path: without times, logs, locks (a file without its lock says nothing) and what is
// drawn from these. A temporary file that is left over is in it, under its name.
inline std::map<std::string, std::string> content_of(const fs::path& root) {
  static const std::regex leave_out(
      R"((^|/)(log\.txt|lock|[^/]*\.lock|manifest\.json|[^/]*\.log|report.*|results\.json|said)$|(^|/)report/)");
  static const std::regex seconds(R"re("seconds":[^,]*,)re");
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().lexically_relative(root).string();
    if (!entry.is_regular_file() || std::regex_search(name, leave_out)) continue;
    std::string text = read_text_file(entry.path());
    if (name.ends_with("metrics.jsonl")) text = std::regex_replace(text, seconds, "");
    if (name.ends_with("summary.json")) {
      Json json = Json::parse(text);
      for (const char* key : {"seconds", "run_id", "metrics_sha256"}) json.erase(key);
      text = json.dump();
    }
    out[name] = text;
  }
  return out;
}

}  // namespace locus::faults
