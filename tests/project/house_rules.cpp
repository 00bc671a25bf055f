// The table of modules and the checks of house_rules.h.
#include "tests/project/house_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
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
constexpr std::size_t kMaxFunctionLines = 60;
constexpr std::string_view kGeneratedHeader = "build_info.h";

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

// Leading blanks of a line; npos for an empty one.
std::size_t indent_of(const std::string& line) { return line.find_first_not_of(' '); }

}  // namespace

// A folder below a module may have its own, stricter row, and may be granted alone.
const std::map<std::string, std::set<std::string>>& module_table() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"core", {}},
      {"stats", {"core"}},
      {"config", {"core"}},
      {"io", {"core"}},
      {"kernels", {"core"}},
      {"model", {"core", "config", "kernels"}},
      {"data", {"core", "stats", "config", "io"}},
      {"run", {"core", "config", "io"}},
      {"infer", {"core", "stats", "config", "io", "model", "data"}},
      {"train", {"core", "stats", "config", "kernels", "model", "data", "run", "infer"}},
      {"analyze/results", {"core", "io"}},
      {"analyze", {"core", "stats", "config", "io", "kernels", "model", "data", "run", "infer"}},
      {"sweep", {"core", "config", "io", "data", "run", "train"}},
      {"tune", {"core", "config", "io", "data", "run", "infer", "train", "analyze", "sweep"}},
      {"results", {"core", "stats", "config", "io", "run", "analyze/results", "sweep"}},
      {"report", {"core", "stats", "config", "io", "run", "analyze/results", "results", "tune"}},
      {"cli",
       {"core", "stats", "config", "io", "model", "data", "run", "infer", "train", "analyze", "sweep", "tune", "results",
        "report"}},
  };
  return table;
}

std::set<std::string> module_names() {
  std::set<std::string> names;
  for (const auto& [name, allowed] : module_table()) {
    if (name.find('/') == std::string::npos) names.insert(name);
  }
  return names;
}

Findings grant_findings(const std::vector<SourceFile>& sources) {
  std::map<std::string, std::string> text_of_module;
  for (const SourceFile& file : sources) {
    if (is_inside(file.path, "src")) text_of_module[module_of(file.path.substr(4))] += file.text;
  }
  Findings found;
  for (const auto& [module, allowed] : module_table()) {
    for (const std::string& name : allowed) {
      if (text_of_module[module].find("#include \"" + name + "/") == std::string::npos) {
        found.push_back(module + " may include " + name + " and does not");
      }
    }
  }
  return found;
}

// Rests on clang-format: the brace that closes a function stands alone, as far in as the line the function begins with.
Findings function_findings(const SourceFile& file) {
  Findings found;
  const auto lines = lines_of(file.text);
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const std::size_t indent = indent_of(lines[end]);
    if (indent > 2 || lines[end].substr(indent) != "}") continue;
    std::size_t begin = end;
    while (begin > 0 && (indent_of(lines[begin - 1]) > indent || lines[begin - 1][0] == '#')) --begin;
    if (begin > 0) --begin;
    while (begin < end && (lines[begin].empty() || lines[begin].back() != '{')) ++begin;
    const std::size_t between = end - std::min(begin + 1, end);
    if (between > kMaxFunctionLines) {
      found.push_back(fmt::format("{}:{}: a function of {} lines, at most {} are allowed", file.path, end + 1, between,
                                  kMaxFunctionLines));
    }
  }
  return found;
}

Findings path_findings(const fs::path& root, const SourceFile& page) {
  static const std::regex named(R"(`((src|tests|docs|cmake|configs|python|fuzz|scripts|bench|\.ci)/[\w./-]*)`)");
  Findings found;
  for (std::sregex_iterator it(page.text.begin(), page.text.end(), named), end; it != end; ++it) {
    const std::string path = (*it)[1];
    if (!fs::exists(root / path)) found.push_back(page.path + ": there is no " + path);
  }
  return found;
}

std::vector<std::string> string_literals(const std::string& source) {
  std::vector<std::string> texts;
  std::size_t end_of_last = std::string::npos;
  const auto skip_past = [&](const std::string& mark, std::size_t from) {
    const std::size_t at = source.find(mark, from);
    return at == std::string::npos ? source.size() : at + mark.size();
  };
  for (std::size_t i = 0; i < source.size();) {
    if (source.compare(i, 2, "//") == 0 || source.compare(i, 8, "#include") == 0) {
      i = skip_past("\n", i);
    } else if (source.compare(i, 2, "/*") == 0) {
      i = skip_past("*/", i + 2);
    } else if (source[i] == '\'' && (i == 0 || std::isdigit(static_cast<unsigned char>(source[i - 1])) == 0)) {
      i = source[i + 1] == '\\' ? skip_past("'", i + 3) : i + 3;
    } else if (source[i] == '"') {
      const bool raw = i > 0 && source[i - 1] == 'R';
      const std::size_t open = raw ? source.find('(', i) + 1 : i + 1;
      std::size_t close = open;
      if (raw) {
        close = source.find(")" + source.substr(i + 1, open - i - 2) + "\"", open);
      } else {
        while (close < source.size() && source[close] != '"') close += source[close] == '\\' ? 2 : 1;
      }
      const bool joined = end_of_last != std::string::npos && source.find_first_not_of(" \n", end_of_last) == i;
      if (!joined) texts.emplace_back();
      texts.back() += source.substr(open, close - open);
      i = end_of_last = raw ? skip_past("\"", close) : close + 1;
    } else {
      ++i;
    }
  }
  return texts;
}

std::set<std::string> named_files(const SourceFile& source) {
  static const std::regex constant(R"re(\bk\w+ = "([\w.]+)";)re");
  std::set<std::string> names;
  for (std::sregex_iterator it(source.text.begin(), source.text.end(), constant), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

Findings name_findings(const std::vector<SourceFile>& sources, const SourceFile& home) {
  static const std::regex file_name(R"([\w-]+\.[a-z]+)");
  // These are words as well: names of models, a lock, a stream of random numbers.
  static const std::set<std::string> words = {"init", "final", "lock"};
  std::map<std::string, std::set<std::string>> files_of_name;
  Findings found;
  for (const SourceFile& file : sources) {
    for (const std::string& text : string_literals(file.text)) {
      if (std::regex_match(text, file_name)) files_of_name[text].insert(file.path);
      if (file.path == home.path) continue;
      for (const std::string& name : named_files(home)) {
        const bool folder = name.find('.') == std::string::npos;
        if (words.count(name) == 0 && text.find(folder ? name + "/" : name) != std::string::npos)
          found.push_back(fmt::format("{}: \"{}\" names {}, which has a constant in {}", file.path, text, name, home.path));
      }
    }
  }
  for (const auto& [name, paths] : files_of_name) {
    // A text that begins with a key of the configuration or a measure is none: "model.width", "heldout.accuracy".
    static const std::set<std::string> endings = {"csv", "html",        "json", "jsonl", "npy",
                                                  "npz", "safetensors", "toml", "txt"};
    if (paths.size() > 1 && endings.count(name.substr(name.rfind('.') + 1)) != 0)
      found.push_back(fmt::format("{} stands in {} and {}", name, *paths.begin(), *paths.rbegin()));
  }
  return found;
}

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

Findings registry_findings(const SourceFile& file) {
  static const std::set<std::string> registries = {"src/config/sources.cpp", "src/config/tasks.cpp", "src/data/sources.cpp"};
  static const std::regex by_name(
      R"re(\bStudy::|(\.|->)(study|task)(\(\))?\s*[!=]=(?!\s*(nullptr|TableTask::))|[!=]=\s*\w[\w.>-]*(\.|->)(study|task)\b)re"
      R"re(|[!=]=\s*"(lst|masked|nmar|files|classify)"|case (Source|Study|Task)::)re");
  // Where the data of one source are made, its own settings may be looked at.
  static const std::regex by_kind(R"re([!=]=\s*(LstSource|SeriesSource)::)re");
  Findings found;
  // The oracle of the kernels knows two losses and no registry.
  if (!is_inside(file.path, "src") || is_inside(file.path, "src/kernels") || registries.contains(file.path)) return found;
  const auto lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool named = std::regex_search(lines[i], by_name);
    const bool kind = !is_inside(file.path, "src/data") && std::regex_search(lines[i], by_kind);
    if (named || kind)
      found.push_back(
          fmt::format("{}:{}: goes by the name of a source or task; give their rows what is asked for", file.path, i + 1));
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
