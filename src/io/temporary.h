// Files under temporary names, and whose they are. A name tells host, boot and writer apart and has a random part; a lock
// on the file says that it is being written, to every process of this machine in whatever container.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "io/bytes.h"
#include "io/system.h"

namespace locus {

// ".NAME.tmp-HOST-BOOT-PID-RANDOM" beside `path`; never the same twice.
std::filesystem::path temporary_name(const std::filesystem::path& path);
bool is_temporary_name(std::string_view name);

std::string random_hex();  // 16 digits from the system

// A file under a temporary name beside `target`. It is locked while it is written and goes away unless it was put in place.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path target);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(ByteSpan bytes) const { write_all(fd_, bytes, target_); }
  void put_in_place();  // syncs it, renames it over the target and syncs the folder

 private:
  bool try_once();
  std::filesystem::path target_;
  std::filesystem::path path_;
  Descriptor fd_;
};

// Removes temporary files in `directory` that nobody writes any more; returns how many. A file whose lock is held stays; one
// of another machine or boot, whose locks may not reach here, goes when it was left alone for a day, or at once where the
// caller holds a lock on the whole folder.
enum class FolderOwner { kAnybody, kCaller };
int remove_stale_temporaries(const std::filesystem::path& directory, FolderOwner owner = FolderOwner::kAnybody);

}  // namespace locus
