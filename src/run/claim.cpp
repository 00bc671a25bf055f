#include "run/claim.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "io/temporary.h"
#include "run/files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// 0, EWOULDBLOCK for a lock that another has, or what is wrong with locks here.
int try_lock(const Descriptor& fd, int how) {
  return uninterrupted([&] { return ::flock(fd.get(), how | LOCK_NB); }) == 0 ? 0 : errno;
}

// The owner and the last heartbeat, read anew from the server: opening a file is what network file systems check it at.
struct Reading {
  std::optional<ClaimOwner> owner;
  std::int64_t beat = 0;
};
Reading read_claim(const Descriptor& fd) {
  Reading out;
  std::array<char, 2048> text{};
  const ssize_t n = uninterrupted([&] { return ::pread(fd.get(), text.data(), text.size(), 0); });
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0) out.beat = info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
  if (n > 0) out.owner = ClaimOwner::parse(std::string_view(text.data(), static_cast<std::size_t>(n)));
  return out;
}
Reading read_claim(const fs::path& file) {
  const Descriptor fd = open_path(file, O_RDONLY);
  return fd.ok() ? read_claim(fd) : Reading{};
}

void tell(std::string* to, const std::optional<ClaimOwner>& owner, const fs::path& file) {
  if (to != nullptr) *to = owner ? owner->describe() : "an owner that " + file.string() + " does not name";
}

void write_owner(const Descriptor& fd, const ClaimOwner& owner, const fs::path& file) {
  if (uninterrupted([&] { return ::ftruncate(fd.get(), 0); }) != 0 || ::lseek(fd.get(), 0, SEEK_SET) != 0)
    throw_system_error("cannot write a claim", file, errno);
  write_all(fd, bytes_of(owner.text()), file);
}

// A name that stays is no harm to anybody but to the eye; a second try is cheap.
void remove_name(const fs::path& path) {
  for (int tries = 0; tries < 2; ++tries) {
    if (uninterrupted([&] { return ::unlink(path.c_str()); }) == 0 || errno == ENOENT) return;
  }
}

// A file of its own beside `file` that names this process; open, and locked where locks are used.
struct Draft {
  Draft(const fs::path& file, ClaimKind kind) : path(temporary_name(file)) {
    fd = open_path(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (!fd.ok()) throw_system_error("cannot make a claim", file, errno);
    if (kind == ClaimKind::kLock) locked = try_lock(fd, LOCK_EX) == 0;
    try {
      write_owner(fd, this_owner(kind), file);
      sync_file(fd, file);
    } catch (...) {
      remove_name(path);
      throw;
    }
  }
  ~Draft() { remove_name(path); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Descriptor keep() { return std::move(fd); }
  fs::path path;
  Descriptor fd;
  bool locked = true;
};

// Gives the draft the name `file` if that is free. A lost answer of the server is no failure: the count of names tells.
bool link_draft(const Draft& draft, const fs::path& file) {
  const int code = uninterrupted([&] { return ::link(draft.path.c_str(), file.c_str()); }) == 0 ? 0 : errno;
  struct stat info {};
  if (::fstat(draft.fd.get(), &info) == 0 && info.st_nlink == 2) return true;
  // Without the draft: who holds the claim has tidied the folder.
  if (code == EEXIST || code == ENOENT || code == 0) return false;
  throw_system_error("this file system has neither locks nor exclusive links: cells cannot be claimed", file, code);
}

}  // namespace

// Moves the time of the lease's file every few seconds, by the server's clock.
class Claim::Heartbeat {
 public:
  explicit Heartbeat(int fd) : thread_([this, fd] { beat(fd); }) {}
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat(int fd) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::seconds(kClaimBeatSeconds), [this] { return end_; })) ::futimens(fd, nullptr);
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  bool end_ = false;
  std::thread thread_;
};

bool locks_are_local(std::string_view mountinfo, unsigned major, unsigned minor) {
  const std::string device = fmt::format("{}:{}", major, minor);
  for (const std::string& line : split(std::string(mountinfo), '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 7 || words[2] != device) continue;
    for (const std::string& option : split(words.back() + "," + words[5], ',')) {
      if (option == "localflock" || option == "nolock" || option == "local_lock=all" || option == "local_lock=flock")
        return true;
    }
  }
  return false;
}

ClaimMethod claim_method(const fs::path& folder) {
  static std::mutex mutex;
  static std::map<std::string, ClaimMethod> known;
  const std::lock_guard guard(mutex);
  std::error_code ignored;
  const auto [it, fresh] = known.try_emplace(fs::absolute(folder, ignored).string());
  if (!fresh) return it->second;
  try {
    // A file without a name leaves nothing behind, even when the process is killed; not every file system has them.
    const fs::path probe = temporary_name(folder / "locks");
    Descriptor fd = open_path(folder, O_RDWR | O_TMPFILE, 0666);
    const bool nameless = fd.ok();
    if (!nameless) fd = open_path(probe, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (!fd.ok()) throw_system_error("cannot write into the folder", folder, errno);
    const int code = try_lock(fd, LOCK_EX);
    struct stat info {};
    const bool known_device = ::fstat(fd.get(), &info) == 0;
    if (!nameless) remove_name(probe);
    std::ifstream in("/proc/self/mountinfo");
    const std::string mounts((std::istreambuf_iterator<char>(in)), {});
    if (code != 0) {
      it->second = {ClaimKind::kLease, fmt::format("the file system cannot lock ({})", std::strerror(code))};
    } else if (known_device && locks_are_local(mounts, ::major(info.st_dev), ::minor(info.st_dev))) {
      it->second = {ClaimKind::kLease, "the file system is mounted with locks that hold on this machine only"};
    }
  } catch (...) {
    known.erase(it);
    throw;
  }
  return it->second;
}

bool ClaimWatch::is_still(const fs::path& file, const std::string& nonce, std::int64_t beat, Clock::time_point now) {
  Seen& seen = seen_[file.string()];
  if (seen.nonce != nonce || seen.beat != beat) seen = {nonce, beat, now};
  return now - seen.since >= std::chrono::seconds(kClaimStillSeconds);
}

Claim::Claim() = default;
Claim::~Claim() { release(); }

Claim::Claim(fs::path path, Descriptor fd, ClaimKind kind) : path_(std::move(path)), fd_(std::move(fd)), kind_(kind) {
  if (kind == ClaimKind::kLease) heartbeat_ = std::make_unique<Heartbeat>(fd_.get());
}

Claim::Claim(Claim&& other) noexcept = default;

Claim& Claim::operator=(Claim&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    fd_ = std::move(other.fd_);
    kind_ = other.kind_;
    heartbeat_ = std::move(other.heartbeat_);
  }
  return *this;
}

bool Claim::still_mine() const { return fd_.ok() && is_at(fd_, path_); }

void Claim::release() {
  if (!fd_.ok()) return;
  heartbeat_.reset();
  if (still_mine()) remove_name(path_);
  fd_.close();
}

void Claim::leave() {
  if (kind_ != ClaimKind::kLease) return release();
  heartbeat_.reset();
  ClaimOwner me = this_owner(kind_);
  me.released = true;
  if (still_mine()) write_owner(fd_, me, path_);
  fd_.close();
}

std::optional<Claim> Claim::take(const fs::path& file, ClaimWatch* watch, std::string* owner) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return claim_method(folder).kind == ClaimKind::kLock ? take_lock(file, watch, owner) : take_lease(file, watch, owner);
}

std::optional<Claim> Claim::take_lock(const fs::path& file, ClaimWatch* watch, std::string* owner) {
  Claim claim(file, open_path(file, O_RDWR | O_CREAT, 0666), ClaimKind::kLock);
  const Descriptor& fd = claim.fd_;
  if (!fd.ok()) throw_system_error("cannot make a lock", file, errno);
  const auto give_up = [&] { claim.fd_.close(); };
  if (const int code = try_lock(fd, LOCK_EX); code != 0) {
    if (code == EWOULDBLOCK) tell(owner, read_claim(fd).owner, file);
    give_up();
    if (code != EWOULDBLOCK) throw_system_error("cannot lock", file, code);
    return std::nullopt;
  }
  // The former owner may have removed the file between our open and our lock; then another may hold its successor.
  if (!is_at(fd, file)) {
    give_up();
    return std::nullopt;
  }
  // One that came when locks did not work here, or from a machine where they do not.
  const Reading there = read_claim(fd);
  if (there.owner && there.owner->kind == ClaimKind::kLease) {
    tell(owner, there.owner, file);
    give_up();
    const bool still = watch != nullptr && watch->is_still(file, there.owner->nonce, there.beat);
    if (!provably_dead(*there.owner, this_owner(ClaimKind::kLock), still)) return std::nullopt;
    return take_over(file, *there.owner, ClaimKind::kLock);
  }
  try {
    write_owner(fd, this_owner(ClaimKind::kLock), file);
  } catch (const IoError&) {
    return claim;  // the text only helps a message: the lock is held without it, on a full disk, too
  }
  return claim;
}

std::optional<Claim> Claim::take_lease(const fs::path& file, ClaimWatch* watch, std::string* owner) {
  Draft draft(file, ClaimKind::kLease);
  if (link_draft(draft, file)) {
    return Claim(file, draft.keep(), ClaimKind::kLease);
  }
  const Reading there = read_claim(file);
  tell(owner, there.owner, file);
  if (!there.owner) return std::nullopt;
  const bool still = watch != nullptr && watch->is_still(file, there.owner->nonce, there.beat);
  if (!provably_dead(*there.owner, this_owner(ClaimKind::kLease), still)) return std::nullopt;
  return take_over(file, *there.owner, ClaimKind::kLease);
}

// Only one may replace the file of a dead owner, or the second would replace that of the first. Who dies in this moment
// leaves a guard that nobody breaks: safe, and named to the user.
std::optional<Claim> Claim::take_over(const fs::path& file, const ClaimOwner& dead, ClaimKind kind) {
  const fs::path guard = file.string() + ".taking";
  if (!open_path(guard, O_WRONLY | O_CREAT | O_EXCL, 0666).ok()) {
    if (errno == EEXIST) return std::nullopt;
    throw_system_error("cannot take over the claim of a process that is gone", guard, errno);
  }
  std::optional<Claim> claim;
  try {
    Draft draft(file, kind);
    const std::optional<ClaimOwner> there = read_claim(file).owner;
    const auto replace = [&] { return ::rename(draft.path.c_str(), file.c_str()); };
    if (draft.locked && there && there->nonce == dead.nonce && uninterrupted(replace) == 0)
      claim = Claim(file, draft.keep(), kind);
  } catch (...) {
    remove_name(guard);
    throw;
  }
  remove_name(guard);
  return claim;
}

bool is_locked(const fs::path& file) {
  Descriptor fd = open_path(file, O_RDONLY);
  if (!fd.ok()) return false;
  const int code = try_lock(fd, LOCK_SH);
  const std::optional<ClaimOwner> owner = read_claim(fd).owner;
  fd.close();
  if (code == EWOULDBLOCK) return true;
  if (!owner || (code == 0 && owner->kind == ClaimKind::kLock)) return false;
  return !provably_dead(*owner, this_owner(owner->kind), false);
}

std::optional<ClaimOwner> claim_owner(const fs::path& file) { return read_claim(file).owner; }

}  // namespace locus
