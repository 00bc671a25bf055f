// File work beyond single atomic files: appending, folders that appear whole or not at all, cleaning up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/system.h"
#include "io/temporary.h"

namespace locus {

// Appends whole texts; what a failed write left is cut off again. Moves, does not copy.
class AppendFile {
 public:
  AppendFile() = default;
  explicit AppendFile(std::filesystem::path path);  // creates the file when absent

  bool is_open() const { return fd_.ok(); }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  void append(std::string_view text);
  void truncate(std::uint64_t size);
  void sync();
  void close();

 private:
  std::filesystem::path path_;
  Descriptor fd_;
};

bool is_there(const std::filesystem::path& path);  // false also where it may not be looked at

// Whether some process holds the lock or lease right now, as far as can be seen from here (run/claim.h).
bool is_locked(const std::filesystem::path& lock_file);

// Calls `fill` with a temporary folder beside `target`, then puts that in the place of `target` in one step.
// After a failure or a kill, `target` is as before. Its parent is made as needed, but not what that stands in.
void write_folder_atomic(const std::filesystem::path& target, const std::function<void(const std::filesystem::path&)>& fill);

// Renames to a temporary name first, so that a kill leaves no half of it under its own name.
void remove_folder(const std::filesystem::path& folder);

std::vector<std::filesystem::path> temporary_folders(const std::filesystem::path& folder);  // directly in it

// Removes all temporary folders directly in `folder`, and the files that nobody writes (as a fit does without the lock); the
// caller holds the lock. Returns how many.
int remove_temporaries(const std::filesystem::path& folder);

}  // namespace locus
