#include "io/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::string hint_of(int code) {
  switch (code) {
    case ENOENT:
      return "check the spelling; a relative path is taken from the current directory";
    case ENOSPC:
    case EDQUOT:
      return "the disk or the quota is full: free some space, then start again, or choose another folder";
    case EACCES:
    case EPERM:
      return "no permission: change the owner or mode, or choose another folder";
    case EROFS:
      return "the file system is read-only: choose another folder";
    case EISDIR:
      return "give a file, not a folder";
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case ENAMETOOLONG:
      return "use a shorter file name";
    default:
      return {};
  }
}

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

[[noreturn]] void throw_system_error(std::string what, const fs::path& path, int code) {
  throw IoError({.what = std::move(what), .where = path.string(), .got = std::strerror(code), .hint = hint_of(code)});
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  // An interrupted close() has closed the descriptor on Linux: to call it again could close another's.
  return fd < 0 || ::close(fd) == 0 || errno == EINTR ? 0 : -1;
}

Descriptor open_path(const fs::path& path, int flags, int mode) {
  return Descriptor(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

void write_all(const Descriptor& fd, ByteSpan bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const std::size_t most = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    const ssize_t n = uninterrupted([&] { return ::write(fd.get(), bytes.data(), most); });
    if (n < 0) throw_system_error("writing failed", path, errno);
    if (n == 0) throw_system_error("writing failed", path, ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void sync_file(const Descriptor& fd, const fs::path& path) {
  if (uninterrupted([&] { return ::fsync(fd.get()); }) != 0) throw_system_error("cannot sync the file", path, errno);
}

void sync_folder(const fs::path& folder) {
  const Descriptor fd = open_path(folder, O_RDONLY | O_DIRECTORY);
  if (!fd.ok()) throw_system_error("cannot open the folder", folder, errno);
  // Some network file systems refuse to sync a folder; what was done in it is done by then.
  if (uninterrupted([&] { return ::fsync(fd.get()); }) != 0 && errno != EINVAL && errno != EROFS) {
    throw_system_error("cannot sync the folder", folder, errno);
  }
}

bool is_at(const Descriptor& fd, const fs::path& path) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(fd.get(), &open_file) == 0 && ::stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

bool make_folder(const fs::path& path) {
  if (uninterrupted([&] { return ::mkdir(path.c_str(), 0777); }) != 0) {
    const int code = errno;
    std::error_code ignored;
    if (code == EEXIST && fs::is_directory(path, ignored)) return false;
    throw_system_error(code == EEXIST ? "not a folder" : "cannot make the folder", path, code == EEXIST ? ENOTDIR : code);
  }
  sync_folder(parent_of(path));
  return true;
}

void make_folders(const fs::path& path) {
  std::error_code code;
  const fs::path whole = (path / "").lexically_normal().parent_path();  // without a slash at the end
  if (whole.empty() || fs::is_directory(whole, code)) return;
  if (whole.has_parent_path() && whole != whole.parent_path()) make_folders(whole.parent_path());
  make_folder(whole);
}

void rename_path(const fs::path& from, const fs::path& to, const char* what) {
  if (uninterrupted([&] { return ::rename(from.c_str(), to.c_str()); }) != 0) throw_system_error(what, to, errno);
}

bool remove_file(const fs::path& path) {
  if (uninterrupted([&] { return ::unlink(path.c_str()); }) == 0) return true;
  if (errno != ENOENT) throw_system_error("cannot remove the file", path, errno);
  return false;
}

void remove_tree(const fs::path& path) {
  std::error_code code;
  do {
    code.clear();
    fs::remove_all(path, code);
  } while (code.value() == EINTR);
  if (code) throw_system_error("cannot remove the folder", path, code.value());
}

}  // namespace locus
