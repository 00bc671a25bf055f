#include "io/temporary.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <ctime>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/file.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kLongestName = 100;  // of the target in the temporary name, which must stay below 255
constexpr std::size_t kPartDigits = 8;
constexpr int kTries = 16;
constexpr std::time_t kLeaseSeconds = 24 * 60 * 60;

std::string short_hash(std::string_view text) { return sha256_hex(text).substr(0, kPartDigits); }

std::string host_part() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? short_hash(name.data()) : "unknown";
}

// Equal for all processes of one running kernel, in whatever container, and for no others.
const std::string& boot_part() {
  static const std::string part = [] {
    try {
      return short_hash(trim(read_text_file("/proc/sys/kernel/random/boot_id")));
    } catch (const Error&) {
      return std::string("unknown");
    }
  }();
  return part;
}

// BOOT in ".NAME.tmp-HOST-BOOT-PID-RANDOM"; names of earlier versions have none.
std::string boot_of(const std::string& name) {
  const std::vector<std::string> parts = split(name.substr(name.rfind(kMark) + kMark.size()), '-');
  return parts.size() == 4 ? parts[1] : "";
}

bool is_stale(const Descriptor& fd, const std::string& name, FolderOwner owner) {
  struct stat info {};
  if (!fd.ok() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const bool here = boot_of(name) == boot_part() && boot_part() != "unknown";
  if (!here && owner == FolderOwner::kAnybody && std::time(nullptr) - info.st_mtime < kLeaseSeconds) return false;
  return uninterrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) == 0;
}

}  // namespace

std::string random_hex() {
  std::uint64_t number = 0;
  if (uninterrupted([&] { return ::getrandom(&number, sizeof number, 0); }) != sizeof number) {
    throw_system_error("the system gives no random numbers", "getrandom", errno);
  }
  return fmt::format("{:016x}", number);
}

fs::path temporary_name(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return folder / fmt::format(".{}{}{}-{}-{}-{}", path.filename().string().substr(0, kLongestName), kMark, host_part(),
                              boot_part(), ::getpid(), random_hex());
}

bool is_temporary_name(std::string_view name) { return name.starts_with('.') && name.find(kMark) != std::string_view::npos; }

TemporaryFile::TemporaryFile(fs::path target) : target_(std::move(target)) {
  for (int i = 0; i < kTries; ++i) {
    if (try_once()) return;
  }
  throw_system_error("cannot create the file", target_, EEXIST);
}

// False when somebody who clears up took the new file for a leftover before its lock was there.
bool TemporaryFile::try_once() {
  path_ = temporary_name(target_);
  fd_ = open_path(path_, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!fd_.ok() && errno == EEXIST) return false;
  if (!fd_.ok()) throw_system_error("cannot create the file", target_, errno);
  // Where the file system cannot lock, nobody can clear up either.
  if (uninterrupted([&] { return ::flock(fd_.get(), LOCK_EX | LOCK_NB); }) != 0 && errno == EWOULDBLOCK) return false;
  struct stat info {};
  return ::fstat(fd_.get(), &info) != 0 || info.st_nlink > 0;
}

TemporaryFile::~TemporaryFile() {
  if (fd_.ok()) uninterrupted([&] { return ::unlink(path_.c_str()); });
}

void TemporaryFile::put_in_place() {
  sync_file(fd_, target_);
  rename_path(path_, target_, "cannot put the finished file in its place");
  // The lock is given back last: until here the name was a temporary one.
  if (fd_.close() != 0) throw_system_error("cannot close the file", target_, errno);
  sync_folder(target_.has_parent_path() ? target_.parent_path() : fs::path("."));
}

int remove_stale_temporaries(const fs::path& directory, FolderOwner owner) {
  int removed = 0;
  std::error_code code;
  for (fs::directory_iterator it(directory, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (!is_temporary_name(name)) continue;
    const Descriptor fd = open_path(it->path(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (is_stale(fd, name, owner) && uninterrupted([&] { return ::unlink(it->path().c_str()); }) == 0) ++removed;
  }
  return removed;
}

}  // namespace locus
