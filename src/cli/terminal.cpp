#include "cli/terminal.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/parallel.h"
#include "core/text.h"

namespace locus::cli {
namespace {

std::atomic<int> stop_signal{0};

extern "C" void on_stop_signal(int number) { stop_signal.store(number); }

extern "C" void on_early_stop(int) {
  constexpr char kMessage[] = "stopped before anything was begun; the same command starts it\n";
  if (::write(STDERR_FILENO, kMessage, sizeof kMessage - 1) < 0) ::_exit(kExitAgain);
  ::_exit(kExitAgain);
}

void handle_stop_signals(void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int s : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) sigaction(s, &action, nullptr);
}

// Width on screen: code points, not bytes.
std::size_t columns_of(const std::string& s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

int environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const int n = std::atoi(text);
  return n > 0 ? n : 0;
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }
bool colour_allowed() {
  const char* no = std::getenv("NO_COLOR");
  return stdout_is_terminal() && (no == nullptr || *no == '\0');
}

void print_line(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void message_line(const std::string& text) {
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

int thread_count(const CommonOptions& options) {
  if (options.threads > 0) return options.threads;
  if (const int n = environment_number("SLURM_CPUS_PER_TASK")) return n;
  if (const int n = environment_number("OMP_NUM_THREADS")) return n;
  return usable_cores();
}

std::string cache_folder() {
  const auto from = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string own = from("LOCUS_CACHE"); !own.empty()) return own;
  if (const std::string cache = from("XDG_CACHE_HOME"); !cache.empty()) return cache + "/locus";
  if (const std::string home = from("HOME"); !home.empty()) return home + "/.cache/locus";
  return "";
}

void install_early_stop() { handle_stop_signals(on_early_stop); }

const std::atomic<int>& install_stop_signals() {
  handle_stop_signals(on_stop_signal);
  signal(SIGPIPE, SIG_IGN);
  return stop_signal;
}

ProgressLine::ProgressLine(bool quiet, std::string label)
    : quiet_(quiet), live_(stderr_is_terminal()), label_(std::move(label)) {}

void ProgressLine::update(const Progress& p) {
  if (quiet_) return;
  if (p.metrics != nullptr) {
    measured_.clear();
    for (const auto& [name, value] : p.metrics->values) {
      const MetricKey key = parse_metric_key(name);
      if (key.split == "train" || !key.condition.empty()) continue;
      if (key.measure == "accuracy") measured_ += fmt::format("  {} {:.1f} %", key.split, 100 * value);
      if (key.measure == "mse") measured_ += fmt::format("  {} mse {:.4f}", key.split, value);
    }
  }
  if (!live_ && p.metrics == nullptr) return;
  std::string text = fmt::format("{}epoch {}  step {}", label_.empty() ? "" : label_ + "  ", p.epoch, p.step);
  if (p.total_steps > 0) text += fmt::format("/{}", p.total_steps);
  text += fmt::format("  loss {:.4f}", p.loss);
  if (p.accuracy > 0) text += fmt::format("  train {:.1f} %", 100 * p.accuracy);
  text += measured_;
  text += fmt::format("  {:.1f} steps/s", p.steps_per_second);
  if (p.seconds_left >= 0) text += fmt::format("  {} left", human_seconds(p.seconds_left));
  if (!live_) return message_line(text);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  open_ = true;
}

void ProgressLine::finish() {
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

}  // namespace locus::cli
