#include "io/file.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/system.h"
#include "io/temporary.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// Files are read more than once (to recognise, to read, to hash): a pipe gives its bytes once, a device without end.
[[noreturn]] void throw_no_file(const fs::path& path) {
  throw IoError({.what = "this is a pipe, a socket or a device, not a file",
                 .where = path.string(),
                 .expected = "a regular file",
                 .hint = "write its content to a file and give that"});
}

// A pipe without a writer must not block the open: what it is gets looked at after.
constexpr int kOpenFlags = O_RDONLY | O_NONBLOCK;

std::uint64_t open_size(const Descriptor& fd, const fs::path& path) {
  struct stat info {};
  if (!fd.ok() || ::fstat(fd.get(), &info) != 0) throw_system_error("cannot open the file", path, errno);
  if (S_ISDIR(info.st_mode)) throw_system_error("cannot read a folder as a file", path, EISDIR);
  if (!S_ISREG(info.st_mode)) throw_no_file(path);
  return static_cast<std::uint64_t>(info.st_size);
}

std::size_t read_some(const Descriptor& fd, std::span<std::byte> out, const fs::path& path) {
  const ssize_t n = uninterrupted([&] { return ::read(fd.get(), out.data(), out.size()); });
  if (n < 0) throw_system_error("reading failed", path, errno);
  return static_cast<std::size_t>(n);
}

template <class Container>
Container read_whole(const fs::path& path, std::uint64_t max_bytes) {
  const Descriptor fd = open_path(path, kOpenFlags);
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

}  // namespace

void require_regular_file(const fs::path& path) {
  const Descriptor fd = open_path(path, kOpenFlags);
  open_size(fd, path);
}

Bytes read_file(const fs::path& path, std::uint64_t max_bytes) { return read_whole<Bytes>(path, max_bytes); }

std::string read_text_file(const fs::path& path, std::uint64_t max_bytes) {
  return read_whole<std::string>(path, max_bytes);
}

void write_file_atomic(const fs::path& path, std::span<const ByteSpan> parts) {
  LOCUS_CHECK(path.has_filename(), "a file to write needs a name");
  TemporaryFile file(path);
  for (const ByteSpan part : parts) file.write(part);
  file.put_in_place();
}

void write_file_atomic(const fs::path& path, ByteSpan bytes) { write_file_atomic(path, std::span(&bytes, 1)); }

void write_file_atomic(const fs::path& path, std::string_view text) { write_file_atomic(path, bytes_of(text)); }

void ensure_writable_directory(const fs::path& path) {
  make_folders(path);
  const Bytes block(4096);
  // A file without a name leaves nothing behind, even when the process is killed; not every file system has them.
  if (const Descriptor fd = open_path(path, O_WRONLY | O_TMPFILE, 0666); fd.ok()) {
    write_all(fd, block, path);
    sync_file(fd, path);
  } else {
    TemporaryFile(path / "probe").write(block);
  }
}

std::uint64_t disk_free(const fs::path& path) {
  std::error_code code;
  fs::path existing = fs::absolute(path, code);
  while (!fs::exists(existing, code) && existing.has_relative_path()) existing = existing.parent_path();
  struct statvfs info {};
  if (::statvfs(existing.c_str(), &info) != 0) throw_system_error("cannot ask for the free space", path, errno);
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

std::vector<fs::path> expand_glob(const std::string& pattern) {
  std::error_code code;
  if (fs::exists(pattern, code)) return {pattern};
  if (pattern.find("**") != std::string::npos) {
    throw IoError({.what = "** would match one folder and not any number of them",
                   .where = pattern,
                   .hint = "write one * for every folder on the way, or name several patterns"});
  }
  glob_t matches{};
  const auto stops_at = [](const char*, int error) { return error == ENOENT ? 0 : 1; };
  const int result = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_BRACE, stops_at, &matches);
  const int error = errno;
  std::vector<fs::path> paths;
  if (result == 0) paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  if (result == GLOB_ABORTED) throw_system_error("cannot look for files", pattern, error);
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
  const Descriptor fd = open_path(path, kOpenFlags);
  open_size(fd, path);
  Sha256 hash;
  Bytes block(std::size_t{1} << 20);
  while (const std::size_t n = read_some(fd, block, path)) hash.update(ByteSpan(block.data(), n));
  return hash.hex();
}

}  // namespace locus
