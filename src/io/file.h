// Whole files: bounded reading, writing that never leaves a half-written file, globs, hashes, disk space.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "io/limits.h"

namespace locus {

// IoError for what is missing or cannot be read again and again: folders, pipes, sockets, devices. Never blocks.
void require_regular_file(const std::filesystem::path& path);

// The whole file; IoError when it is missing, no regular file, or larger than `max_bytes`.
Bytes read_file(const std::filesystem::path& path, std::uint64_t max_bytes = ReadLimits{}.file_bytes);
std::string read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes = ReadLimits{}.file_bytes);

// Writes a temporary file in the same folder, syncs it, renames it over `path` and syncs the folder. After a failure
// (IoError) or a kill, `path` is either the old or the new file.
void write_file_atomic(const std::filesystem::path& path, std::span<const ByteSpan> parts);
void write_file_atomic(const std::filesystem::path& path, ByteSpan bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

// Makes the directory (and its parents) if needed and proves by a small write that it takes files.
void ensure_writable_directory(const std::filesystem::path& path);

// Bytes that this user may still write to the file system of `path` (which need not exist yet).
std::uint64_t disk_free(const std::filesystem::path& path);

// Files that match a shell pattern (* ? [..] {a,b}), in byte order; a path without wildcards stands for itself.
// IoError when nothing matches.
std::vector<std::filesystem::path> expand_glob(const std::string& pattern);

std::string file_sha256(const std::filesystem::path& path);

}  // namespace locus
