// Who holds a claim, as written into its file, and what can be proved about that process from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace locus {

enum class ClaimKind { kLock, kLease };

struct ClaimOwner {
  ClaimKind kind = ClaimKind::kLock;
  std::string host;
  std::string machine;        // /etc/machine-id: two machines may have one host name
  std::string boot;           // of the kernel; another one after a reboot
  std::string pid_namespace;  // a process id means nothing in another one
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // of the process, in ticks since boot: ids are used again
  std::string job;            // of a batch system; "" without
  std::int64_t restarts = 0;  // how often the batch system started the job again
  std::string nonce;          // of this very claim
  bool released = false;      // given back, though the file is still there

  std::string text() const;  // one line of JSON
  // Of the first line; nothing when it is not complete.
  static std::optional<ClaimOwner> parse(std::string_view text);
  std::string describe() const;  // "pid 12 on n1, job 7"
};

// This process; the nonce is new at every call.
ClaimOwner this_owner(ClaimKind kind);

// Told once by the program, which knows the batch system's environment.
void set_claim_job(std::string job, std::int64_t restarts);

// True only where it is certain that `owner` runs no more, seen by `me`:
//   the same kernel and process namespace, and the process is gone (or another one has its id);
//   still and the same machine after a reboot; or still and the same job, started again since.
// `still`: its heartbeat was watched and did not move for kClaimStillSeconds. Silence alone proves nothing.
bool provably_dead(const ClaimOwner& owner, const ClaimOwner& me, bool still);

inline constexpr int kClaimBeatSeconds = 5;
inline constexpr int kClaimStillSeconds = 60;

}  // namespace locus
