#include "run/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "run/build_info.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr int kLockTries = 6;  // a reader that asks is_locked() holds the lock for an instant
constexpr std::chrono::milliseconds kLockPause{30};

std::string hint_for(int code) {
  if (code == ENOSPC || code == EDQUOT) return "the disk or the quota is full: free some space, then start the run again";
  if (code == EACCES || code == EPERM || code == EROFS) return "no permission to write there: choose another folder";
  return {};
}

// Puts `fresh` where `target` is and leaves the old content under the name `fresh`.
void exchange(const fs::path& fresh, const fs::path& target) {
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) throw_system_error("cannot replace the folder", target, errno);
  const fs::path old = temporary_name(target);
  if (::rename(target.c_str(), old.c_str()) != 0) throw_system_error("cannot replace the folder", target, errno);
  if (::rename(fresh.c_str(), target.c_str()) != 0) throw_system_error("cannot replace the folder", target, errno);
  if (::rename(old.c_str(), fresh.c_str()) != 0) throw_system_error("cannot replace the folder", target, errno);
}

void put_in_place(const fs::path& fresh, const fs::path& target) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(target, code))) {
    exchange(fresh, target);
    fs::remove_all(fresh, code);
  } else if (::rename(fresh.c_str(), target.c_str()) != 0) {
    throw_system_error("cannot put the finished folder in its place", target, errno);
  }
}

bool same_file(int fd, const fs::path& path) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(fd, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

}  // namespace

[[noreturn]] void throw_system_error(std::string what, const fs::path& path, int code) {
  throw IoError({.what = std::move(what), .where = path.string(), .got = std::strerror(code), .hint = hint_for(code)});
}

AppendFile::AppendFile(fs::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_system_error("cannot open the file for writing", path_, errno);
}

AppendFile::AppendFile(AppendFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    path_ = std::move(other.path_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t AppendFile::size() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) throw_system_error("cannot ask for the size of the file", path_, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

void AppendFile::append(std::string_view text) {
  LOCUS_CHECK(is_open(), "the file is open");
  const std::uint64_t before = size();
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      const int code = n == 0 ? ENOSPC : errno;
      if (::ftruncate(fd_, static_cast<off_t>(before)) != 0) throw_system_error("cannot undo a failed write", path_, code);
      throw_system_error("writing failed", path_, code);
    }
  }
}

void AppendFile::truncate(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) throw_system_error("cannot shorten the file", path_, errno);
}

void AppendFile::sync() {
  if (::fsync(fd_) != 0) throw_system_error("cannot sync the file", path_, errno);
}

void AppendFile::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0) throw_system_error("cannot close the file", path_, errno);
}

RunLock::RunLock(fs::path path) : path_(std::move(path)) {
  for (int i = 0; i < kLockTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kLockPause);
    if (try_once()) return;
  }
  std::array<char, 256> owner{};
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (::read(fd, owner.data(), owner.size() - 1) < 0) owner[0] = '\0';
    ::close(fd);
  }
  const std::string who(trim(owner.data()));
  throw IoError({.what = fmt::format("another process trains here ({})", who.empty() ? "unknown process" : who),
                 .where = path_.parent_path().string(),
                 .hint = "wait for it or stop it, or choose another --out"});
}

bool RunLock::try_once() {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_system_error("cannot make the lock", path_, errno);
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) {
    // The former owner may have removed the file between our open and our lock.
    held_ = same_file(fd_, path_);
  } else if (errno != EWOULDBLOCK && errno != EINTR) {
    return true;
  }
  if (!held_) {
    ::close(std::exchange(fd_, -1));
    return false;
  }
  const std::string owner = fmt::format("pid {} on {}\n", ::getpid(), host_info().host);
  // The text only helps a message; the lock is held without it, too.
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, owner.data(), owner.size(), 0) < 0) return true;
  return true;
}

RunLock::RunLock(RunLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), held_(std::exchange(other.held_, false)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    fd_ = std::exchange(other.fd_, -1);
    held_ = std::exchange(other.held_, false);
  }
  return *this;
}

void RunLock::release() {
  if (fd_ < 0) return;
  if (held_ && same_file(fd_, path_)) ::unlink(path_.c_str());
  ::close(std::exchange(fd_, -1));
  held_ = false;
}

bool is_locked(const fs::path& lock_file) {
  const int fd = ::open(lock_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

fs::path temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() / fmt::format(".{}.tmp-{}-run{}", path.filename().string(), ::getpid(), counter.fetch_add(1));
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with('.') && name.find(".tmp-") != std::string_view::npos;
}

int remove_temporaries(const fs::path& folder) {
  int removed = 0;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (is_temporary_name(it->path().filename().string()) && fs::remove_all(it->path(), ignored) > 0 && !ignored) ++removed;
  }
  return removed;
}

void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_system_error("cannot open the folder", folder, errno);
  const int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // Some network file systems refuse to sync a folder; the rename itself is done by then.
  if (code != 0 && code != EINVAL && code != EROFS) throw_system_error("cannot sync the folder", folder, code);
}

void write_folder_atomic(const fs::path& target, const std::function<void(const fs::path&)>& fill) {
  const fs::path parent = target.parent_path();
  std::error_code code;
  const bool made = fs::create_directories(parent, code);
  if (code) throw_system_error("cannot make the folder", parent, code.value());
  if (made) sync_folder(parent.parent_path());
  const fs::path fresh = temporary_name(target);
  if (::mkdir(fresh.c_str(), 0777) != 0) throw_system_error("cannot make the folder", target, errno);
  try {
    fill(fresh);
    sync_folder(fresh);
    put_in_place(fresh, target);
  } catch (...) {
    fs::remove_all(fresh, code);
    throw;
  }
  sync_folder(parent);
}

void remove_folder(const fs::path& folder) {
  const fs::path doomed = temporary_name(folder);
  std::error_code code;
  if (::rename(folder.c_str(), doomed.c_str()) != 0) {
    if (errno == ENOENT) return;
    throw_system_error("cannot remove the folder", folder, errno);
  }
  fs::remove_all(doomed, code);
  if (code) throw_system_error("cannot remove the folder", folder, code.value());
}

}  // namespace locus
