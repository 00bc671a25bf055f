#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/screen.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/text.h"

namespace locus::cli {
namespace {

std::atomic<int> stop_signal{0};

extern "C" void on_stop_signal(int number) { stop_signal.store(number); }

std::atomic<const char*> words_of_a_stop{""};

extern "C" void on_stop_at_once(int) {
  const char* words = words_of_a_stop.load();
  if (::write(STDERR_FILENO, words, std::strlen(words)) < 0) ::_exit(kExitAgain);
  ::_exit(kExitAgain);
}

void handle_stop_signals(void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int s : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) sigaction(s, &action, nullptr);
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }
bool colour_allowed() {
  const char* no = std::getenv("NO_COLOR");
  return stdout_is_terminal() && (no == nullptr || *no == '\0');
}

void open_closed_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken, which is fd.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) != fd) ::_exit(kExitFailed);
  }
}

namespace {

bool pipe_closed = false;  // whoever closed the pipe has read enough

[[noreturn]] void throw_output_error(int code) {
  throw IoError({.what = "cannot write the output",
                 .where = "standard output",
                 .got = std::strerror(code),
                 .hint = "the files of the command are written; only what it prints is lost"});
}

}  // namespace

std::string next_steps(const std::string& out) {
  return fmt::format("What was learned, in sentences and figures:\n  locus analyze {0}\n  locus report {0}", out);
}

void print_line(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fputc('\n', stdout) != EOF &&
                       std::fflush(stdout) == 0;
  if (written) return;
  if (errno != EPIPE) throw_output_error(errno);
  pipe_closed = true;
}

void close_output() {
  errno = 0;
  // Some file systems tell of a full disk at the close only. What print_line could not write it has told of.
  const bool failed = std::fclose(stdout) != 0;
  if (failed && !pipe_closed && errno != EPIPE) throw_output_error(errno);
}

void print_wrapped(const std::string& text) {
  constexpr int kWidestLine = 100;  // longer ones are hard to read
  const int columns = std::min(kWidestLine, stdout_is_terminal() ? screen_size().columns - 1 : kWidestLine);
  print_line(wrap_words(text, static_cast<std::size_t>(columns)));
}

void message_line(const std::string& message) {
  const std::string text =
      stderr_is_terminal() ? wrap_words(message, static_cast<std::size_t>(screen_size().columns - 1)) : message;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

std::string text_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::string& h : header) widths.push_back(columns_of(h));
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) widths[c] = std::max(widths[c], columns_of(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string pad(widths[c] - columns_of(cells[c]), ' ');
      out += c == 0 ? cells[c] + pad : "  " + pad + cells[c];
    }
    return out + "\n";
  };
  std::string out = line(header);
  std::size_t total = 0;
  for (const std::size_t w : widths) total += w + 2;
  for (std::size_t i = 0; i + 2 < total; ++i) out += "─";
  out += "\n";
  for (const auto& row : rows) out += line(row);
  return out;
}

void install_early_stop() { stop_at_once("stopped before anything was begun; the same command starts it\n"); }

void stop_at_once(const char* words) {
  words_of_a_stop.store(words);
  handle_stop_signals(on_stop_at_once);
  // One that came while it only set the flag counts now.
  if (stop_signal.load() != 0) on_stop_at_once(stop_signal.load());
}

const std::atomic<int>& install_stop_signals() {
  handle_stop_signals(on_stop_signal);
  signal(SIGPIPE, SIG_IGN);
  return stop_signal;
}

}  // namespace locus::cli
