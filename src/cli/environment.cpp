#include "cli/environment.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/parallel.h"
#include "run/claim_owner.h"

namespace locus::cli {
namespace {

// 0 when it is not set or no count. A list (OMP_NUM_THREADS=4,2 for nested loops) counts by its first number.
int environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const long n = std::strtol(text, nullptr, 10);
  return static_cast<int>(std::clamp(n, 0L, 1L << 20));
}

}  // namespace

int thread_count(int asked) {
  if (asked > 0) return asked;
  // The environment speaks to all programs and may have been set for another machine: it can lower the number only.
  const int cores = usable_cores();
  if (const int n = environment_number("SLURM_CPUS_PER_TASK")) return std::min(n, cores);
  if (const int n = environment_number("OMP_NUM_THREADS")) return std::min(n, cores);
  return cores;
}

std::string cache_folder() {
  const auto from = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string own = from("LOCUS_CACHE"); !own.empty()) return own;
  if (const std::string cache = from("XDG_CACHE_HOME"); !cache.empty()) return cache + "/locus";
  if (const std::string home = from("HOME"); !home.empty()) return home + "/.cache/locus";
  return "";
}

std::string config_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (path.empty() || fs::exists(path, code)) return path;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  const fs::path installed = program.parent_path().parent_path() / "share" / "locus" / path;
  return !code && fs::exists(installed, code) ? installed.string() : path;
}

void tell_job() {
  const char* job = std::getenv("SLURM_JOB_ID");
  const char* restarts = std::getenv("SLURM_RESTART_COUNT");
  if (job != nullptr) set_claim_job(job, restarts != nullptr ? std::strtoll(restarts, nullptr, 10) : 0);
}

}  // namespace locus::cli
