// locus watch: runs and sweeps while they train. Reads files only; what trains does not know of it.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/watch_view.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"

namespace locus::cli {
namespace {

constexpr double kShareOfACore = 0.015;
constexpr std::size_t kMostPoints = 64;

std::atomic<bool> ended{false};

extern "C" void on_end(int) { ended.store(true); }
extern "C" void on_resize(int) {}  // only interrupts the wait

void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

// A screen of its own, which gives the user's back at the end; keys come one by one.
class OwnScreen {
 public:
  OwnScreen() {
    std::fputs("\033[?1049h\033[?25l\033[H\033[2J", stdout);
    std::fflush(stdout);
    if (isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      keys_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
  }
  ~OwnScreen() {
    if (keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    std::fputs("\033[?25h\033[?1049l", stdout);
    std::fflush(stdout);
  }
  OwnScreen(const OwnScreen&) = delete;
  OwnScreen& operator=(const OwnScreen&) = delete;

  void draw(const std::vector<std::string>& lines) {
    std::string out = "\033[H";
    for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : "\r\n") + lines[i] + "\033[K";
    out += "\033[J";
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
  }

  // Until a key, a change of size or the end of the time. True when the user wants to leave.
  bool wait(double seconds) const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int found = ::poll(&input, keys_ ? 1 : 0, static_cast<int>(1000 * seconds));
    if (found <= 0) return ended.load();
    char key = 0;
    return ended.load() || ::read(STDIN_FILENO, &key, 1) == 0 || key == 'q' || key == 'Q' || key == '\003';
  }

 private:
  termios before_{};
  bool keys_ = false;
};

std::pair<std::string, std::vector<double>> curve_of(const RunRow& row) {
  std::vector<double> values;
  const MetricsTable metrics = RunReader(row.path).thinned_metrics(kMostPoints);
  const std::string name = followed_measure(metrics.names());
  for (const auto& [epoch, value] : metrics.series(name)) values.push_back(value);
  return {name, std::move(values)};
}

// Nothing trains and nothing waits: there is nothing more to see.
bool is_over(const WatchCounts& counts) { return counts.all > 0 && counts.training == 0 && counts.waiting() == 0; }

class Looker {
 public:
  explicit Looker(const WatchOptions& options) : options_(options) {}

  RunTable look() {
    const auto began = std::chrono::steady_clock::now();
    RunTable table = read_run_table(options_.dirs);
    seconds_ = seconds_since(began);
    return table;
  }
  // Looking at many runs takes time of its own: the rest between two looks grows with it.
  double pause() const { return std::max(options_.every, seconds_ / kShareOfACore); }

 private:
  const WatchOptions& options_;
  double seconds_ = 0;
};

int watch_on_terminal(const WatchOptions& options) {
  Looker looker(options);
  RunTable table = looker.look();
  {
    OwnScreen screen;
    while (!is_over(count_runs(table))) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(looker.pause());
      bool leave = false;
      do {  // a change of the window's size draws what is known again, without a new look
        std::vector<std::string> lines = watch_lines(table, join(options.dirs, " "), {curve_of, screen_size()});
        if (lines.size() + 1 < static_cast<std::size_t>(screen_size().rows))
          lines.insert(lines.end(), {"", "q leaves; training goes on"});
        screen.draw(lines);
        const std::chrono::duration<double> rest = until - std::chrono::steady_clock::now();
        leave = rest.count() > 0 && screen.wait(rest.count());
      } while (!leave && std::chrono::steady_clock::now() < until);
      if (leave) break;
      table = looker.look();
    }
  }
  for (const std::string& line : watch_lines(table, join(options.dirs, " "), {curve_of, screen_size()})) print_line(line);
  return kExitDone;
}

// A line at every change, and once in ten minutes.
int watch_in_lines(const WatchOptions& options) {
  Looker looker(options);
  WatchCounts last;
  auto told = std::chrono::steady_clock::now() - std::chrono::hours(1);
  while (!ended) {
    const WatchCounts counts = count_runs(looker.look());
    const bool news = counts.done != last.done || counts.failed != last.failed || counts.training != last.training;
    if (news || std::chrono::steady_clock::now() - told > std::chrono::minutes(10)) {
      print_line(watch_status(counts));
      told = std::chrono::steady_clock::now();
    }
    last = counts;
    if (options.once || is_over(counts)) break;
    ::poll(nullptr, 0, static_cast<int>(1000 * looker.pause()));
  }
  return kExitDone;
}

Json watch_json(const RunTable& table) {
  const WatchCounts c = count_runs(table);
  Json json = {{"runs", c.all}, {"done", c.done}, {"training", c.training}, {"failed", c.failed}, {"waiting", c.waiting()}};
  if (c.seconds_left >= 0) json["seconds_left"] = json_value(c.seconds_left);
  return json;
}

}  // namespace

int run_watch(const WatchOptions& options) {
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) handle(s, on_end);
  handle(SIGWINCH, on_resize);
  const RunTable first = read_run_table(options.dirs);
  if (first.rows.empty()) throw IoError({.what = "no runs here", .where = join(options.dirs, ", ")});
  if (options.json) {
    print_line(watch_json(first).dump(1));
    return kExitDone;
  }
  if (stdout_is_terminal() && !options.once) return watch_on_terminal(options);
  if (options.once && stdout_is_terminal()) {
    for (const std::string& line : watch_lines(first, join(options.dirs, " "), {curve_of, screen_size()})) print_line(line);
    return kExitDone;
  }
  return watch_in_lines(options);
}

}  // namespace locus::cli
