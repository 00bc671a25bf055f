#include "io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::string hint_of(int code) {
  switch (code) {
    case ENOENT:
      return "check the spelling; a relative path is taken from the current directory";
    case ENOSPC:
    case EDQUOT:
      return "the disk or the quota is full: free some space or choose another folder";
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

[[noreturn]] void throw_errno(std::string what, const fs::path& path, int code) {
  throw IoError({.what = std::move(what), .where = path.string(), .got = std::strerror(code), .hint = hint_of(code)});
}

// Files are read more than once (to recognise, to read, to hash): a pipe gives its bytes once, a device without end.
[[noreturn]] void throw_no_file(const fs::path& path) {
  throw IoError({.what = "this is a pipe, a socket or a device, not a file",
                 .where = path.string(),
                 .expected = "a regular file",
                 .hint = "write its content to a file and give that"});
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int close() {
    const int result = fd_ >= 0 ? ::close(fd_) : 0;
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

// A pipe without a writer must not block the open: what it is gets looked at after.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

std::uint64_t open_size(const Descriptor& fd, const fs::path& path) {
  struct stat info {};
  if (!fd.ok() || ::fstat(fd.get(), &info) != 0) throw_errno("cannot open the file", path, errno);
  if (S_ISDIR(info.st_mode)) throw_errno("cannot read a folder as a file", path, EISDIR);
  if (!S_ISREG(info.st_mode)) throw_no_file(path);
  return static_cast<std::uint64_t>(info.st_size);
}

std::size_t read_some(const Descriptor& fd, std::span<std::byte> out, const fs::path& path) {
  while (true) {
    const ssize_t n = ::read(fd.get(), out.data(), out.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw_errno("reading failed", path, errno);
  }
}

template <class Container>
Container read_whole(const fs::path& path, std::uint64_t max_bytes) {
  const Descriptor fd(::open(path.c_str(), kOpenFlags));
  const std::uint64_t size = open_size(fd, path);
  const auto too_large = [&](std::uint64_t bytes) {
    throw IoError({.what = "the file is too large to read",
                   .where = path.string(),
                   .got = human_bytes(static_cast<double>(bytes)),
                   .expected = "at most " + human_bytes(static_cast<double>(max_bytes))});
  };
  if (size > max_bytes) too_large(size);
  Container content;
  std::size_t used = 0;
  content.resize(size);
  while (true) {
    if (used == content.size()) {
      std::byte probe;
      if (read_some(fd, std::span(&probe, 1), path) == 0) break;
      if (used + 1 > max_bytes) too_large(used + 1);
      content.resize(std::min<std::uint64_t>(max_bytes, std::max<std::uint64_t>(4096, used * 2)));
      content[used++] = static_cast<typename Container::value_type>(probe);
      continue;
    }
    const std::size_t n =
        read_some(fd, std::as_writable_bytes(std::span(content.data() + used, content.size() - used)), path);
    if (n == 0) break;
    used += n;
  }
  content.resize(used);
  return content;
}

void write_all(const Descriptor& fd, ByteSpan bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno("writing failed", path, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

fs::path temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return folder_of(path) / fmt::format(".{}.tmp-{}-{}", path.filename().string(), ::getpid(), counter.fetch_add(1));
}

// Process id in ".name.tmp-PID-N", or 0.
pid_t owner_of_temporary(const std::string& name) {
  const std::size_t mark = name.rfind(".tmp-");
  if (name.empty() || name[0] != '.' || mark == std::string::npos) return 0;
  pid_t pid = 0;
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + mark + 5, end, pid);
  return result.ec == std::errc() && result.ptr != end && *result.ptr == '-' ? pid : 0;
}

void sync_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems refuse to sync a folder; the rename itself is done by then.
  if (fd.ok() && ::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    throw_errno("cannot sync the folder", folder, errno);
  }
}

}  // namespace

void require_regular_file(const fs::path& path) {
  const Descriptor fd(::open(path.c_str(), kOpenFlags));
  open_size(fd, path);
}

Bytes read_file(const fs::path& path, std::uint64_t max_bytes) { return read_whole<Bytes>(path, max_bytes); }

std::string read_text_file(const fs::path& path, std::uint64_t max_bytes) {
  return read_whole<std::string>(path, max_bytes);
}

void write_file_atomic(const fs::path& path, std::span<const ByteSpan> parts) {
  LOCUS_CHECK(path.has_filename(), "a file to write needs a name");
  const fs::path temporary = temporary_name(path);
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.ok()) throw_errno("cannot create the file", path, errno);
  try {
    for (const ByteSpan part : parts) write_all(fd, part, path);
    if (::fsync(fd.get()) != 0) throw_errno("cannot sync the file", path, errno);
    if (fd.close() != 0) throw_errno("cannot close the file", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      throw_errno("cannot put the finished file in its place", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path));
}

void write_file_atomic(const fs::path& path, ByteSpan bytes) { write_file_atomic(path, std::span(&bytes, 1)); }

void write_file_atomic(const fs::path& path, std::string_view text) { write_file_atomic(path, bytes_of(text)); }

int remove_stale_temporaries(const fs::path& directory) {
  int removed = 0;
  std::error_code code;
  for (fs::directory_iterator it(directory, code), end; !code && it != end; it.increment(code)) {
    const pid_t owner = owner_of_temporary(it->path().filename().string());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH && ::unlink(it->path().c_str()) == 0) ++removed;
  }
  return removed;
}

void ensure_writable_directory(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw_errno("cannot make the folder", path, code.value());
  if (!fs::is_directory(path, code)) throw_errno("not a folder", path, ENOTDIR);
  const fs::path probe = temporary_name(path / "probe");
  const Descriptor fd(::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.ok()) throw_errno("cannot write into the folder", path, errno);
  try {
    const Bytes block(4096);
    write_all(fd, block, path);
    if (::fsync(fd.get()) != 0) throw_errno("cannot write into the folder", path, errno);
  } catch (...) {
    ::unlink(probe.c_str());
    throw;
  }
  ::unlink(probe.c_str());
}

std::uint64_t disk_free(const fs::path& path) {
  std::error_code code;
  fs::path existing = fs::absolute(path, code);
  while (!fs::exists(existing, code) && existing.has_relative_path()) existing = existing.parent_path();
  struct statvfs info {};
  if (::statvfs(existing.c_str(), &info) != 0) throw_errno("cannot ask for the free space", path, errno);
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

std::vector<fs::path> expand_glob(const std::string& pattern) {
  std::error_code code;
  if (fs::exists(pattern, code)) return {pattern};
  glob_t matches{};
  const int result = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_BRACE, nullptr, &matches);
  std::vector<fs::path> paths;
  if (result == 0) paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  if (paths.empty()) {
    const bool wild = pattern.find_first_of("*?[{") != std::string::npos;
    throw IoError({.what = wild ? "no file matches the pattern" : "no such file",
                   .where = pattern,
                   .hint = "check the spelling; a relative path is taken from the current directory"});
  }
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::string file_sha256(const fs::path& path) {
  const Descriptor fd(::open(path.c_str(), kOpenFlags));
  open_size(fd, path);
  Sha256 hash;
  Bytes block(std::size_t{1} << 20);
  while (const std::size_t n = read_some(fd, block, path)) hash.update(ByteSpan(block.data(), n));
  return hash.hex();
}

}  // namespace locus
