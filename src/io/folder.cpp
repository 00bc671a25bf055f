#include "io/folder.h"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>

#include "core/error.h"
#include "io/system.h"

namespace locus {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> out;
  std::set<fs::path> entered = {fs::canonical(folder)};
  std::error_code code;
  fs::recursive_directory_iterator it(folder, fs::directory_options::follow_directory_symlink, code);
  for (const fs::recursive_directory_iterator end; !code && it != end; it.increment(code)) {
    const fs::path& path = it->path();
    std::error_code ignored;
    if (path.filename().string().starts_with('.')) {
      it.disable_recursion_pending();
    } else if (it->is_directory(ignored)) {
      if (entered.insert(fs::canonical(path)).second) continue;
      throw IoError({.what = "two ways lead into this folder, so that its files would count twice",
                     .where = path.string(),
                     .hint = "remove the link, or name the files"});
    } else if (it->is_regular_file(ignored)) {
      out.push_back(path);
    } else if (it->is_symlink(ignored) && !fs::exists(path, ignored)) {
      throw IoError({.what = "a link to a file that is not there",
                     .where = path.string(),
                     .hint = "bring the file here (git annex get, datalad get), remove the link, or name the files"});
    }
  }
  if (code) throw_system_error("cannot look into the folder", folder, code.value());
  std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return out;
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code);
}

}  // namespace locus
