// The right to write somewhere, held by one process at a time. Where the file system has locks that hold between machines it
// is an advisory lock on a file; elsewhere a lease: a file made exclusively, with a heartbeat, taken over only from an owner
// that provably runs no more. Both name their owner in the file, and each respects the other.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/system.h"
#include "run/claim_owner.h"

namespace locus {

struct ClaimMethod {
  ClaimKind kind = ClaimKind::kLock;
  std::string reason;  // of a lease: why locks do not do
};

// What works in `folder`, found with a file of its own there; asked once for each folder.
ClaimMethod claim_method(const std::filesystem::path& folder);

// Whether the mount that holds device `major:minor` locks on this machine only, by the text of /proc/self/mountinfo.
bool locks_are_local(std::string_view mountinfo, unsigned major, unsigned minor);

// What was seen of leases of others, so that a heartbeat that stands still is told from one that was looked at once.
class ClaimWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // Notes what is there now; true when the same was there for kClaimStillSeconds.
  bool is_still(const std::filesystem::path& file, const std::string& nonce, std::int64_t beat,
                Clock::time_point now = Clock::now());

 private:
  struct Seen {
    std::string nonce;
    std::int64_t beat = 0;
    Clock::time_point since;
  };
  std::map<std::string, Seen> seen_;
};

class Claim {
 public:
  Claim();
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&& other) noexcept;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim();

  // Nothing when another has it; `owner` then says who, as far as that is known. IoError when it cannot be known at all.
  static std::optional<Claim> take(const std::filesystem::path& file, ClaimWatch* watch = nullptr,
                                   std::string* owner = nullptr);

  bool held() const { return fd_.ok(); }
  ClaimKind kind() const { return kind_; }
  // A lock lasts as long as any process has this open; a lease ends with the process that took it.
  int fd() const { return fd_.get(); }
  // False when the file was removed or replaced by someone else: then this process must stop.
  bool still_mine() const;
  void release();  // removes the file as well
  void leave();    // gives a lease back without removing the file: anyone may take it over

 private:
  class Heartbeat;
  Claim(std::filesystem::path path, Descriptor fd, ClaimKind kind);
  static std::optional<Claim> take_lock(const std::filesystem::path& file, ClaimWatch* watch, std::string* owner);
  static std::optional<Claim> take_lease(const std::filesystem::path& file, ClaimWatch* watch, std::string* owner);
  static std::optional<Claim> take_over(const std::filesystem::path& file, const ClaimOwner& dead, ClaimKind kind);

  std::filesystem::path path_;
  Descriptor fd_;
  ClaimKind kind_ = ClaimKind::kLock;
  std::unique_ptr<Heartbeat> heartbeat_;
};

// The owner that a file names; nothing when there is none or it cannot be read.
std::optional<ClaimOwner> claim_owner(const std::filesystem::path& file);

}  // namespace locus
