#include "cli/screen.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/text.h"

namespace locus::cli {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

void wrap_line(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string margin(indent < columns / 2 ? indent : 0, ' ');
  std::string row;
  bool first = true;
  for (const std::string& word : split(line, ' ')) {
    if (!trim(row).empty() && columns_of(row) + 1 + columns_of(word) > columns) {
      out += row + "\n";
      row = margin + word;
    } else {
      row += (first ? "" : " ") + word;
    }
    first = false;
  }
  out += row;
}

}  // namespace

ScreenSize screen_size() {
  for (const int fd : {STDERR_FILENO, STDOUT_FILENO}) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) return {size.ws_col, size.ws_row};
  }
  return {};
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string fit_columns(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t end = 0;
  std::size_t taken = 0;
  for (; end < text.size(); ++end) {
    if (starts_character(text[end]) && taken++ == columns - 1) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string wrap_words(std::string_view text, std::size_t columns) {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    std::string wrapped;
    wrap_line(line, columns, wrapped);
    out += (out.empty() ? "" : "\n") + wrapped;
  }
  return out;
}

std::string fit_parts(std::vector<LinePart> parts, std::size_t columns) {
  const auto line = [&] {
    std::string text;
    for (const LinePart& p : parts) {
      if (!p.text.empty()) text += (text.empty() ? "" : "  ") + p.text;
    }
    return text;
  };
  std::string text = line();
  while (columns_of(text) > columns && parts.size() > 1) {
    // Of equal ranks the last goes first.
    const auto least =
        std::max_element(parts.rbegin(), parts.rend(), [](const LinePart& a, const LinePart& b) { return a.rank < b.rank; });
    parts.erase(std::next(least).base());
    text = line();
  }
  return fit_columns(text, columns);
}

std::string LiveLines::back() const {
  if (drawn_ == 0) return "";
  return drawn_ == 1 ? "\r" : fmt::format("\r\033[{}A", drawn_ - 1);
}

void LiveLines::draw(const std::vector<std::string>& lines) {
  const ScreenSize screen = screen_size();
  if (drawn_ > 0 && screen.columns != columns_) finish();
  columns_ = screen.columns;
  // A block taller than the screen could not be found again: its first rows would have scrolled away.
  const std::size_t shown = std::min(lines.size(), static_cast<std::size_t>(std::max(1, screen.rows - 1)));
  if (shown == 0) return clear();
  std::string out = back();
  for (std::size_t i = 0; i < shown; ++i) {
    // One column stays free: at the last one some terminals have wrapped already.
    out +=
        (i == 0 ? "" : "\n") + fit_columns(lines[i], static_cast<std::size_t>(std::max(1, screen.columns - 1))) + "\033[K";
  }
  out += "\033[J";
  drawn_ = shown;
  std::fwrite(out.data(), 1, out.size(), stderr);
  std::fflush(stderr);
}

void LiveLines::clear() {
  if (drawn_ == 0) return;
  const std::string out = back() + "\033[J";
  drawn_ = 0;
  std::fwrite(out.data(), 1, out.size(), stderr);
  std::fflush(stderr);
}

void LiveLines::finish() {
  if (drawn_ > 0) std::fputc('\n', stderr);
  drawn_ = 0;
}

}  // namespace locus::cli
