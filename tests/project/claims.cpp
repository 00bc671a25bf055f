#include "tests/project/claims.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace locus::house {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

std::vector<std::string> parts_of(const std::string& text, const std::string& mark) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(mark, from)) != std::string::npos; from = at + mark.size())
    out.push_back(trimmed(text.substr(from, at - from)));
  out.push_back(trimmed(text.substr(from)));
  return out;
}

// "| a | b |" without its outer bars.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out = parts_of(line, "|");
  if (out.size() < 2) return {};
  return {out.begin() + 1, out.end() - 1};
}

std::string without_commas(const std::string& text) {
  static const std::regex thousands(R"((\d),(\d{3}))");
  return std::regex_replace(text, thousands, "$1$2");
}

constexpr const char* kAllBefore = "all before ";
constexpr const char* kMinus = "−";

// Every number of a text with its sign, as written but for the minus.
std::vector<std::string> numbers_of(const std::string& text) {
  static const std::regex number(R"((−|-)?\d+(\.\d+)?(e-?\d+)?)");
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    const std::string sign = (*it)[1].matched ? "-" : "";
    out.push_back(sign + it->str().substr((*it)[1].str().size()));
  }
  return out;
}

// Whether `shown` is `wanted` or rounds to it. A number stated without a sign may be a loss that a table shows as negative.
bool rounds_to(const std::string& shown, std::string wanted) {
  const bool negative = wanted.starts_with(kMinus);
  if (negative) wanted = "-" + wanted.substr(std::string(kMinus).size());
  const std::string value = negative || shown[0] != '-' ? shown : shown.substr(1);
  if (value == wanted) return true;
  const auto digits = [](const std::string& text) {
    const std::size_t point = text.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
  };
  if (digits(value) < digits(wanted)) return false;
  char rounded[64];
  std::snprintf(rounded, sizeof rounded, "%.*f", digits(wanted), std::strtod(value.c_str(), nullptr));
  return wanted == rounded;
}

bool any_rounds_to(const std::string& text, const std::string& wanted) {
  for (const std::string& number : numbers_of(without_commas(text))) {
    if (rounds_to(number, wanted)) return true;
  }
  return false;
}

// The text of cell "PAGE.TABLE; ROW; COLUMN"; nothing where there is no such cell.
std::optional<std::string> cell_text(const std::string& where, const Pages& pages) {
  const std::vector<std::string> parts = parts_of(where, ";");
  const std::size_t dot = parts[0].find('.');
  if (parts.size() != 3 || dot == std::string::npos) return std::nullopt;
  const auto page = pages.find("docs/experiments/" + parts[0].substr(0, dot) + ".md");
  if (page == pages.end()) return std::nullopt;
  const auto tables = made_tables(page->second);
  const auto table = tables.find(parts[0].substr(dot + 1));
  if (table == tables.end()) return std::nullopt;
  const auto row = table->second.find(parts[1]);
  if (row == table->second.end()) return std::nullopt;
  const auto cell = row->second.find(parts[2]);
  return cell == row->second.end() ? std::nullopt : std::optional(cell->second);
}

std::string wrong_with_cell(const std::string& where, const std::string& number, const Pages& pages) {
  const std::optional<std::string> cell = cell_text(where, pages);
  if (!cell) return "there is no cell \"" + where + "\"";
  return any_rounds_to(*cell, number) ? "" : "the cell \"" + where + "\" shows " + *cell;
}

// "above A / B": 100 (a / b - 1) of the first number of each cell.
std::string wrong_with_ratio(const std::string& where, const std::string& number, const Pages& pages) {
  const std::vector<std::string> parts = parts_of(where, " / ");
  if (parts.size() != 2) return "not two cells with / between them";
  double values[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<std::string> cell = cell_text(parts[i], pages);
    if (!cell || numbers_of(*cell).empty()) return "there is no number in the cell \"" + parts[i] + "\"";
    values[i] = std::strtod(numbers_of(*cell)[0].c_str(), nullptr);
  }
  char percent[64];
  std::snprintf(percent, sizeof percent, "%.6f", 100 * (values[0] / values[1] - 1));
  return rounds_to(percent, number) ? "" : std::string("the first cell is ") + percent + " % above the second";
}

std::string wrong_with_file(const std::string& path, const std::string& number, const std::filesystem::path& root) {
  const std::string text = read_source(root, path).text;
  if (text.empty()) return "there is no file " + path;
  return any_rounds_to(text, number) ? "" : path + " does not show it";
}

std::string wrong_with_page(const std::string& path, const std::string& number, const std::filesystem::path& root) {
  std::istringstream in(read_source(root, path).text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("|") && any_rounds_to(line, number)) return "";
  }
  return "no table of " + path + " shows it";
}

// What is no finding: names, links, commands, dimensions and values of sigma.
std::string without_asides(const std::string& line) {
  static const std::string sigma = R"((0\.01|0\.05|0\.[1-9]|[123]\.5|[123])(?![0-9]|\.[0-9]))";
  static const std::regex aside(
      R"(`[^`]*`|\]\([^)]*\)|https?://\S+|arXiv:? ?\d+\.\d+|\b\d{4}\.\d{5}\b|\b\d-D\b|\bx86-64\b|\bAVX-?\d+\b|\bAAL2\b|^ *\d+\. |)"
      "σ (≥ |≤ |> |< |up to |above )?" +
      sigma + "((, | and | or | to )" + sigma + ")*");
  return std::regex_replace(line, aside, " ");
}

}  // namespace

std::map<std::string, PageTable> made_tables(const std::string& page) {
  std::map<std::string, PageTable> out;
  std::istringstream in(page);
  std::string name;
  std::vector<std::string> titles;
  for (std::string line; std::getline(in, line);) {
    static const std::regex begin(R"(<!-- table (\S+) -->)");
    std::smatch match;
    if (std::regex_match(line, match, begin)) {
      name = match[1];
      titles.clear();
    } else if (line == "<!-- end -->") {
      name.clear();
    } else if (!name.empty() && line.starts_with("|") && !line.starts_with("|---")) {
      const std::vector<std::string> cells = cells_of(line);
      if (titles.empty()) {
        titles = cells;
        continue;
      }
      for (std::size_t i = 0; i < std::min(titles.size(), cells.size()); ++i) out[name][cells[0]][titles[i]] = cells[i];
    }
  }
  return out;
}

std::vector<std::string> stated_numbers(const std::string& page, bool tables) {
  static const std::regex claim(R"((^|[^\w.])((−)?\d+(\.\d+)?(e-?\d+)?)(?![\w]|\.\d))");
  std::vector<std::string> out;
  std::istringstream in(page);
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) code = !code;
    if (code || (line.starts_with("|") && !tables) || line.starts_with("    ")) continue;
    const std::string prose = without_commas(without_asides(line));
    for (std::sregex_iterator it(prose.begin(), prose.end(), claim), end; it != end; ++it) out.push_back((*it)[2]);
  }
  return out;
}

std::vector<Statement> read_statements(const std::string& text, Findings& found) {
  std::vector<Statement> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = parts_of(line, " | ");
    if (parts.size() != 3 || parts[2].size() < 8) {
      found.push_back("not \"page | number, number | origin\": " + line);
      continue;
    }
    const bool part = parts[1].starts_with(kAllBefore);
    for (const std::string& number : part ? std::vector{parts[1]} : parts_of(parts[1], ","))
      out.push_back({parts[0], number, parts[2]});
  }
  return out;
}

std::string wrong_with(const Statement& s, const Pages& pages, const std::filesystem::path& root) {
  const auto rest = [&](const char* kind) { return trimmed(s.origin.substr(std::string(kind).size())); };
  if (s.origin.starts_with("cell ")) return wrong_with_cell(rest("cell "), s.number, pages);
  if (s.origin.starts_with("above ")) return wrong_with_ratio(rest("above "), s.number, pages);
  if (s.origin.starts_with("page ")) return wrong_with_page(rest("page "), s.number, root);
  if (s.origin.starts_with("file ")) return wrong_with_file(rest("file "), s.number, root);
  for (const char* kind : {"published: ", "setting: ", "seen: "}) {
    if (s.origin.starts_with(kind)) return "";
  }
  return "no such origin: " + s.origin;
}

std::string part_with_findings(const std::string& path, const std::string& page, const std::vector<Statement>& statements) {
  for (const Statement& s : statements) {
    if (s.page != path || !s.number.starts_with(kAllBefore)) continue;
    const std::size_t at = page.find("\n" + s.number.substr(std::string(kAllBefore).size()) + "\n");
    return at == std::string::npos ? page : page.substr(at);
  }
  return page;
}

Findings unexplained(const std::string& path, const std::vector<std::string>& numbers,
                     const std::vector<Statement>& statements) {
  Findings found;
  for (const std::string& number : numbers) {
    bool known = false;
    for (const Statement& s : statements) known = known || (s.page == path && s.number == number);
    if (!known) {
      found.push_back(path + " states " + number + ": docs/experiments/stated.txt does not say whence it is. Add \"" + path +
                      " | " + number + " | cell PAGE.TABLE; ROW; COLUMN\" (or above, page, file, published, setting)");
    }
  }
  return found;
}

}  // namespace locus::house
