#include "cli/ranks.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "cli/mpi/module.h"
#include "cli/terminal.h"
#include "core/isa.h"
#include "core/text.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kModule = "locus-mpi.so";
// After a signal, who waits for another rank waits so much longer: mpirun kills within a second.
constexpr std::chrono::milliseconds kLastWait{300};

int number_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : static_cast<int>(std::strtol(text, nullptr, 10));
}

// How many ranks the launcher started, by the variables of Open MPI, MPICH and PMI-2, and PMIx (srun). 0: no launcher.
int ranks_started() {
  if (const int n = std::max(number_of("OMPI_COMM_WORLD_SIZE"), number_of("PMI_SIZE")); n > 0) return n;
  return std::getenv("PMIX_RANK") != nullptr ? number_of("SLURM_NTASKS") : 0;
}

std::vector<std::string> module_places() {
  if (const char* given = std::getenv("LOCUS_MPI_MODULE"); given != nullptr && *given != '\0') return {given};
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  return {(folder / kModule).string(), (folder / "../lib/locus" / kModule).lexically_normal().string()};
}

const LocusMpi& load_module(int ranks) {
  std::string problems;
  for (const std::string& place : module_places()) {
    // MPI loads parts of itself that look for its names among all.
    void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      problems += (problems.empty() ? "" : "; ") + std::string(::dlerror());
      continue;
    }
    void* const entry = ::dlsym(library, kLocusMpiEntry);
    const LocusMpi* module = entry == nullptr ? nullptr : reinterpret_cast<const LocusMpi* (*)()>(entry)();
    if (module != nullptr && module->version == kLocusMpiVersion) return *module;
    problems += place + " belongs to another version of the program";
  }
  throw ConfigError(
      {.what = fmt::format("started with {} ranks, but the MPI module cannot be loaded", ranks),
       .where = kModule,
       .got = problems,
       .expected = "the module that is built with the program where MPI (libopenmpi-dev) is found",
       .hint = "build it, name it in LOCUS_MPI_MODULE, or start without mpirun; --no-mpi trains alone in each process"});
}

int give_up() {
  static Clock::time_point since = Clock::time_point::max();
  if (install_stop_signals() == 0) return 0;
  if (since == Clock::time_point::max()) since = Clock::now();
  return Clock::now() - since > kLastWait ? 1 : 0;
}

class ModuleRanks : public MpiRanks {
 public:
  explicit ModuleRanks(const LocusMpi& module) : module_(module) {
    if (module_.begin(&rank_, &size_) != 0)
      throw ConfigError(
          {.what = "MPI could not be started", .where = module_.library, .hint = "does a small MPI program run?"});
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, std::span<const std::byte> bytes) override {
    check(module_.send(to, bytes.data(), bytes.size(), waits_for()), to);
  }
  void receive(int from, std::span<std::byte> bytes) override {
    check(module_.receive(from, bytes.data(), bytes.size(), waits_for()), from);
  }
  void broadcast(int root, std::span<std::byte> bytes) override {
    check(module_.broadcast(root, bytes.data(), bytes.size(), waits_for()), root);
  }
  void end() override { module_.end(); }
  void abort(int code) override { module_.abort(code); }

  void agree_on_isa() override {
    auto isa = static_cast<unsigned char>(isa_in_use());
    broadcast(0, std::as_writable_bytes(std::span(&isa, 1)));
    const Isa wanted = parse_isa(kIsaNames[isa], fmt::format("rank {}", rank_));
    if (wanted != isa_in_use()) use_isa(wanted);
  }

 private:
  // Only rank 0 acts on signals; the others wait for its word, until mpirun ends them.
  int (*waits_for() const)() { return rank_ == 0 ? give_up : nullptr; }

  void check(int code, int peer) const {
    if (code == 0) return;
    throw RankError({.what = code == kLocusMpiGaveUp ? "stopped while another rank did not answer"
                                                     : fmt::format("a message between ranks failed (MPI code {})", code),
                     .where = fmt::format("rank {} of {}, waiting for rank {}", rank_, size_, peer),
                     .hint = "the run goes on from its last checkpoint with the same command, with any number of ranks"});
  }

  const LocusMpi& module_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<MpiRanks> MpiRanks::start() {
  const int ranks = ranks_started();
  if (ranks <= 1) return nullptr;
  return std::make_unique<ModuleRanks>(load_module(ranks));
}

}  // namespace locus::cli
