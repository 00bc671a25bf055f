#include "run/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// Puts `fresh` where `target` is and leaves the old content under the name `fresh`.
void exchange(const fs::path& fresh, const fs::path& target) {
  const auto swap = [&] { return ::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE); };
  if (uninterrupted(swap) == 0) return;
  constexpr const char* kWhat = "cannot replace the folder";
  if (errno != EINVAL && errno != ENOSYS) throw_system_error(kWhat, target, errno);
  const fs::path old = temporary_name(target);
  rename_path(target, old, kWhat);
  rename_path(fresh, target, kWhat);
  rename_path(old, fresh, kWhat);
}

void put_in_place(const fs::path& fresh, const fs::path& target) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(target, code))) {
    exchange(fresh, target);
    sync_folder(target.parent_path());
    remove_tree(fresh);
  } else {
    rename_path(fresh, target, "cannot put the finished folder in its place");
  }
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

AppendFile::AppendFile(fs::path path) : path_(std::move(path)) {
  fd_ = open_path(path_, O_RDWR | O_APPEND | O_CREAT, 0666);
  if (!fd_.ok()) throw_system_error("cannot open the file for writing", path_, errno);
}

std::uint64_t AppendFile::size() const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) throw_system_error("cannot ask for the size of the file", path_, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

void AppendFile::append(std::string_view text) {
  LOCUS_CHECK(is_open(), "the file is open");
  const std::uint64_t before = size();
  try {
    write_all(fd_, bytes_of(text), path_);
  } catch (const IoError&) {
    truncate(before);
    throw;
  }
}

void AppendFile::truncate(std::uint64_t size) {
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0)
    throw_system_error("cannot shorten the file", path_, errno);
}

void AppendFile::sync() { sync_file(fd_, path_); }

void AppendFile::close() {
  if (fd_.close() != 0) throw_system_error("cannot close the file", path_, errno);
}

std::vector<fs::path> temporary_folders(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (is_temporary_name(it->path().filename().string()) && it->is_directory(ignored)) out.push_back(it->path());
  }
  return out;
}

int remove_temporaries(const fs::path& folder) {
  const std::vector<fs::path> folders = temporary_folders(folder);
  for (const fs::path& f : folders) remove_tree(f);
  return static_cast<int>(folders.size()) + remove_stale_temporaries(folder, FolderOwner::kCaller);
}

void write_folder_atomic(const fs::path& target, const std::function<void(const fs::path&)>& fill) {
  const fs::path parent = target.parent_path();
  make_folder(parent);
  const fs::path fresh = temporary_name(target);
  try {
    if (uninterrupted([&] { return ::mkdir(fresh.c_str(), 0777); }) != 0)
      throw_system_error("cannot make the folder", target, errno);
    fill(fresh);
    sync_folder(fresh);
    put_in_place(fresh, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
  sync_folder(parent);
}

void remove_folder(const fs::path& folder) {
  const fs::path doomed = temporary_name(folder);
  std::error_code code;
  if (!fs::exists(fs::symlink_status(folder, code))) return;
  rename_path(folder, doomed, "cannot remove the folder");
  remove_tree(doomed);
}

}  // namespace locus
