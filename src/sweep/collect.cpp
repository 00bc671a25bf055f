#include "sweep/collect.h"

#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "core/clock.h"
#include "core/error.h"
#include "io/file.h"
#include "run/claim.h"
#include "run/files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{100};

Claim wait_for_turn(const fs::path& file, double wait_seconds) {
  ClaimWatch watch;
  std::string owner;
  for (const Clock::time_point start = Clock::now(); seconds_since(start) < wait_seconds;
       std::this_thread::sleep_for(kPause)) {
    if (std::optional<Claim> claim = Claim::take(file, &watch, &owner)) return std::move(*claim);
  }
  throw IoError({.what = fmt::format("another process gathers the results ({})", owner.empty() ? "unknown process" : owner),
                 .where = file.string(),
                 .got = fmt::format("no end after {:.0f} s", wait_seconds),
                 .hint = "look at that process; `locus collect` gathers them later"});
}

}  // namespace

Collection collect_results(const SweepFolder& folder, bool afresh, double wait_seconds) {
  // Whoever asks leaves a wish. Who gathers turns all wishes into work begun, and takes that away when the files are
  // written: a wish that is gone without a trace has been fulfilled by someone who began to look after it was made.
  const fs::path wish = folder.path() / "results.wanted";
  const fs::path begun = folder.path() / "results.begun";
  write_file_atomic(wish, std::string_view{});
  Claim turn = wait_for_turn(folder.path() / "results.lock", wait_seconds);
  Collection out;
  if (!afresh && !is_there(wish) && !is_there(begun)) {
    out.by_another = true;
    return out;
  }
  const Clock::time_point start = Clock::now();
  std::error_code code;
  fs::rename(wish, begun, code);
  if (code && is_there(wish)) fs::rename(wish, begun, code);
  if (code && !is_there(begun)) write_file_atomic(begun, std::string_view{});
  out.written = write_results(folder, afresh);
  // One that stays has the next process gather once more; a second try is cheap.
  if (!fs::remove(begun, code) && code) fs::remove(begun, code);
  out.seconds = seconds_since(start);
  return out;
}

}  // namespace locus
