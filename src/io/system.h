// Calls of the operating system that files are made of: descriptors, folders, renaming and removing. A call that a signal
// interrupts is made again; errors are IoErrors with a hint.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "io/bytes.h"

namespace locus {

[[noreturn]] void throw_system_error(std::string what, const std::filesystem::path& path, int code);

// The result of `call`, which is made again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Owns a file descriptor. Moves, does not copy.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int close();  // 0, or -1 with errno

 private:
  int fd_ = -1;
};

Descriptor open_path(const std::filesystem::path& path, int flags, int mode = 0);  // not ok() and errno on failure

void write_all(const Descriptor& fd, ByteSpan bytes, const std::filesystem::path& path);
void sync_file(const Descriptor& fd, const std::filesystem::path& path);
void sync_folder(const std::filesystem::path& folder);

// Whether the name still leads to the file or folder that is open.
bool is_at(const Descriptor& fd, const std::filesystem::path& path);

// Makes the folder; false when it is there already. The parent must be there and is synced.
bool make_folder(const std::filesystem::path& path);
void make_folders(const std::filesystem::path& path);  // with its parents

void rename_path(const std::filesystem::path& from, const std::filesystem::path& to, const char* what);
bool remove_file(const std::filesystem::path& path);  // false when it is not there
void remove_tree(const std::filesystem::path& path);  // a file or a folder with all that is in it, if it is there

}  // namespace locus
