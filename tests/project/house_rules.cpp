// The table of modules and the checks of house_rules.h.
#include "tests/project/house_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

namespace locus::house {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLines = 500;
constexpr std::string_view kGeneratedHeader = "build_info.h";

// What a module may include besides itself. A folder below a module may have its own, stricter row, and may be granted
// alone.
const std::map<std::string, std::set<std::string>>& module_table() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"core", {}},
      {"stats", {"core"}},
      {"config", {"core"}},
      {"io", {"core"}},
      {"kernels", {"core"}},
      {"model", {"core", "config", "kernels"}},
      {"data", {"core", "config", "io"}},
      {"run", {"core", "config", "io"}},
      {"train", {"core", "config", "io", "kernels", "model", "data", "run"}},
      {"analyze/results", {"core"}},
      {"analyze", {"core", "stats", "config", "io", "kernels", "model", "data", "run"}},
      {"study", {"core", "stats", "config", "io", "kernels", "model", "data", "run", "train", "analyze"}},
      {"report", {"core", "stats", "config", "io", "run", "analyze/results"}},
      {"cli", {"core", "stats", "config", "io", "kernels", "model", "data", "run", "train", "analyze", "study", "report"}},
  };
  return table;
}

bool is_inside(const std::string& path, const std::string& folder) { return path.rfind(folder + "/", 0) == 0; }

// The row with the longest name that holds the path (from src/), or "".
std::string module_of(const std::string& path) {
  std::string best;
  for (const auto& [name, allowed] : module_table()) {
    if (is_inside(path, name) && name.size() > best.size()) best = name;
  }
  return best;
}

bool may_include(const std::string& module, const std::string& included) {
  if (is_inside(included, module)) return true;
  const auto& allowed = module_table().at(module);
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& name) { return is_inside(included, name); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A comment, or, in a .cpp, the include of its own header, which has one.
bool tells_purpose(const std::string& path, const std::vector<std::string>& lines) {
  if (lines.empty()) return false;
  const std::string own_header = path.substr(4, path.size() - 8) + ".h";
  const bool is_cpp = fs::path(path).extension() == ".cpp";
  return lines[0].rfind("// ", 0) == 0 || (is_cpp && lines[0] == "#include \"" + own_header + "\"");
}

}  // namespace

SourceFile read_source(const fs::path& root, const std::string& path) {
  std::ifstream in(root / path, std::ios::binary);
  return {path, std::string(std::istreambuf_iterator<char>(in), {})};
}

std::vector<SourceFile> read_tree(const fs::path& root, const std::string& folder,
                                  const std::vector<std::string>& extensions) {
  std::vector<SourceFile> files;
  if (!fs::exists(root / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const bool wanted = std::count(extensions.begin(), extensions.end(), entry.path().extension().string()) > 0;
    if (!entry.is_regular_file() || !wanted) continue;
    files.push_back(read_source(root, entry.path().lexically_relative(root).generic_string()));
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

Findings include_findings(const SourceFile& file) {
  static const std::regex quoted(R"re(^\s*#\s*include\s*"([^"]*)")re");
  Findings found;
  const std::string below_src = is_inside(file.path, "src") ? file.path.substr(4) : file.path;
  const std::string module = module_of(below_src);
  if (module.empty()) return {fmt::format("{}: its folder has no row in the table of modules", file.path)};
  const auto lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_search(lines[i], match, quoted)) continue;
    const std::string included = match[1];
    const std::string where = fmt::format("{}:{}: ", file.path, i + 1);
    if (included == kGeneratedHeader) continue;
    if (included.find("..") != std::string::npos) {
      found.push_back(where + "relative include \"" + included + "\"");
    } else if (module_of(included).empty()) {
      found.push_back(where + "include \"" + included + "\" is not written from the root of src/");
    } else if (!may_include(module, included)) {
      found.push_back(where + module + " must not include \"" + included + "\"");
    }
  }
  return found;
}

Findings form_findings(const SourceFile& file) {
  // Put together from halves: this file obeys the rule it checks.
  static const std::regex unfinished(std::string(R"(\b(TO)") + "DO|FIX" + "ME|XX" + R"(X)\b)");
  Findings found;
  const auto lines = lines_of(file.text);
  if (lines.size() > kMaxLines) {
    found.push_back(fmt::format("{}: {} lines, at most {} are allowed", file.path, lines.size(), kMaxLines));
  }
  if (is_inside(file.path, "src") && !tells_purpose(file.path, lines)) {
    found.push_back(file.path + ": the first line is not a comment that tells the purpose");
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], unfinished)) found.push_back(fmt::format("{}:{}: unfinished work", file.path, i + 1));
  }
  return found;
}

Findings link_findings(const fs::path& root, const SourceFile& page) {
  static const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  Findings found;
  for (std::sregex_iterator it(page.text.begin(), page.text.end(), link), end; it != end; ++it) {
    const std::string target = (*it)[1];
    if (target.find("://") != std::string::npos || target.rfind("mailto:", 0) == 0) continue;
    const fs::path full = root / fs::path(page.path).parent_path() / target;
    if (!fs::exists(full)) found.push_back(page.path + ": link to " + target + " leads nowhere");
  }
  return found;
}

Findings command_findings(const SourceFile& page, const std::vector<std::string>& commands) {
  static const std::regex named(R"(\./run ([a-z][a-z-]*))");
  Findings found;
  for (std::sregex_iterator it(page.text.begin(), page.text.end(), named), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (std::count(commands.begin(), commands.end(), name) == 0) {
      found.push_back(page.path + ": ./run " + name + " is not a command");
    }
  }
  return found;
}

std::vector<std::string> commands_of_help(const std::string& help) {
  static const std::regex line_form(R"(^\s+\./run ([a-z][a-z-]*).*)");
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(help)) {
    std::smatch match;
    if (std::regex_match(line, match, line_form)) commands.push_back(match[1]);
  }
  return commands;
}

}  // namespace locus::house
