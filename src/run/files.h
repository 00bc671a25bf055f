// File work beyond single atomic files: appending, folders that appear whole or not at all, cleaning up, the lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace locus {

// Appends whole texts; what a failed write left is cut off again. Moves, does not copy.
class AppendFile {
 public:
  AppendFile() = default;
  explicit AppendFile(std::filesystem::path path);  // creates the file when absent
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  bool is_open() const { return fd_ >= 0; }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  void append(std::string_view text);
  void truncate(std::uint64_t size);
  void sync();
  void close();

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

// An exclusive advisory lock on a file that holds "pid N on HOST"; the file goes when the lock does.
class RunLock {
 public:
  RunLock() = default;
  explicit RunLock(std::filesystem::path path);  // IoError when another process has it
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock() { release(); }

  // Not every file system can lock; then the work goes on without.
  bool held() const { return held_; }
  void release();

 private:
  bool try_once();
  std::filesystem::path path_;
  int fd_ = -1;
  bool held_ = false;
};

// Whether some process holds the lock right now.
bool is_locked(const std::filesystem::path& lock_file);

// Calls `fill` with a temporary folder beside `target`, then puts that in the place of `target` in one step.
// After a failure or a kill, `target` is as before. Parents are made as needed.
void write_folder_atomic(const std::filesystem::path& target, const std::function<void(const std::filesystem::path&)>& fill);

// Renames to a temporary name first, so that a kill leaves no half of it under its own name.
void remove_folder(const std::filesystem::path& folder);

std::filesystem::path temporary_name(const std::filesystem::path& path);

// Removes all temporary files and folders directly in `folder`; the caller holds the lock. Returns how many.
int remove_temporaries(const std::filesystem::path& folder);
bool is_temporary_name(std::string_view name);

void sync_folder(const std::filesystem::path& folder);

[[noreturn]] void throw_system_error(std::string what, const std::filesystem::path& path, int code);

}  // namespace locus
