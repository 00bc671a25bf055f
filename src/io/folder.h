// The files of a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace locus {

// Regular files of a folder and the folders in it, behind links too, in byte order; hidden files and folders (.git) are
// none of them. IoError for links that lead nowhere or to a folder a second time, and for folders that cannot be read.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

bool is_folder(const std::filesystem::path& path);  // false also where it may not be looked at

}  // namespace locus
