#include "sweep/batch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/text.h"

namespace locus {
namespace {

// Starting a task, its program and its plan takes seconds; a task of a quarter of an hour makes that a hundredth.
constexpr double kGoodTaskSeconds = 900;
// Cells differ, nodes too: what is expected to fill a limit to this part ends in time.
constexpr double kPartOfLimit = 0.7;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> slurm_seconds(std::string_view text) {
  if (text == "infinite" || text == "INFINITE" || text == "UNLIMITED" || text == "unlimited") return 0;
  double days = 0;
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  if (with_days) {
    const auto n = whole_number(text.substr(0, dash));
    if (!n) return std::nullopt;
    days = static_cast<double>(*n);
    text = text.substr(dash + 1);
  }
  std::vector<double> parts;
  for (const std::string& part : split(text, ':')) {
    const auto n = whole_number(part);
    if (!n) return std::nullopt;
    parts.push_back(static_cast<double>(*n));
  }
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  parts.resize(3, 0);
  // With days: hours, minutes, seconds. Without: one number is minutes, two are minutes and seconds.
  if (!with_days && std::count(text.begin(), text.end(), ':') < 2) parts = {0, parts[0], parts[1]};
  return days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
}

std::string slurm_time(double seconds) {
  const auto total = static_cast<std::int64_t>(std::ceil(seconds));
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", total / 3600 % 24, total / 60 % 60, total % 60);
  return total >= 86400 ? fmt::format("{}-{}", total / 86400, clock) : clock;
}

std::optional<double> slurm_bytes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double unit = 1 << 20;
  static constexpr std::string_view kUnits = "KMGT";
  const char last = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  if (const std::size_t at = kUnits.find(last); at != std::string_view::npos) {
    unit = std::pow(1024.0, static_cast<double>(at + 1));
    text.remove_suffix(1);
  }
  const auto n = whole_number(text);
  if (!n) return std::nullopt;
  return static_cast<double>(*n) * unit;
}

std::optional<std::int64_t> scontrol_number(std::string_view config, std::string_view key) {
  for (const std::string& line : split(config, '\n')) {
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos || trim(std::string_view(line).substr(0, equal)) != key) continue;
    const std::string_view value = trim(std::string_view(line).substr(equal + 1));
    return whole_number(value.substr(0, value.find(' ')));
  }
  return std::nullopt;
}

Packing pack_cells(const PackingWish& wish, const CellNeeds& needs) {
  Packing out;
  const std::int64_t cells = std::max<std::int64_t>(1, wish.cells);
  const std::int64_t most_tasks = std::max<std::int64_t>(1, wish.max_tasks - 1);
  const std::int64_t jobs = std::max(1, wish.jobs_per_task);
  std::int64_t each = wish.cells_per_task;
  if (each <= 0) {
    each = jobs;
    if (needs.seconds > 0) {
      double good = kGoodTaskSeconds;
      if (wish.limit_seconds > 0)
        good = std::min(std::max(good, 0.1 * wish.limit_seconds), kPartOfLimit * wish.limit_seconds);
      // Whole rounds of the cells that run at once.
      each = std::max<std::int64_t>(1, static_cast<std::int64_t>(good / needs.seconds)) * jobs;
    }
  }
  each = std::clamp<std::int64_t>(each, (cells + most_tasks - 1) / most_tasks, cells);
  out.tasks = (cells + each - 1) / each;
  out.cells_per_task = (cells + out.tasks - 1) / out.tasks;
  if (needs.seconds > 0) {
    out.task_seconds = needs.seconds * std::ceil(static_cast<double>(out.cells_per_task) / static_cast<double>(jobs));
    out.needs_requeue = wish.limit_seconds > 0 && out.task_seconds > wish.limit_seconds;
  }
  return out;
}

std::string shell_word(std::string_view text) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

namespace {

std::string sbatch_line(std::string_view option, std::string_view value) {
  return value.empty() ? "" : fmt::format("#SBATCH {}{}\n", option, shell_word(value));
}

std::string common_lines(const BatchScript& b, const std::string& name) {
  std::string text =
      sbatch_line("--job-name=", name) + sbatch_line("--partition=", b.partition) + sbatch_line("--account=", b.account);
  for (const std::string& option : b.options) text += "#SBATCH " + option + "\n";
  return text;
}

// What a task runs. Exit code 75 and "the same command goes on" hold for both.
std::string command_line(const BatchScript& b) {
  std::string text = shell_word(b.program) + (b.searches() ? " tune" : " sweep");
  for (const std::string& argument : b.sweep) text += " " + shell_word(argument);
  text += " \\\n  --out " + shell_word(b.folder);
  if (b.searches()) {
    text += " --budget " + shell_word(b.budget);
  } else {
    text += fmt::format(" --cells {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --no-collect", shell_word(b.cells_file),
                        b.packing.tasks);
  }
  text += fmt::format(" \\\n  --jobs {} --threads {}", b.jobs, b.threads);
  if (!b.isa.empty()) text += " --isa " + b.isa;
  if (b.ranks > 1) text += fmt::format(" --ranks {} --launcher {}", b.ranks, shell_word(b.launcher));
  return text;
}

std::string heading(const BatchScript& b) {
  if (b.searches()) return fmt::format("a search in one task, {} runs at once", b.jobs);
  return fmt::format("cells of a sweep in {} tasks of at most {} cells, {} at once in a task", b.packing.tasks,
                     b.packing.cells_per_task, b.jobs);
}

}  // namespace

std::string array_script(const BatchScript& b) {
  const std::string limit = b.at_once > 0 ? fmt::format("%{}", b.at_once) : "";
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# Written by `locus submit`: {}.\n"
      "# To run it again by hand: sbatch {}/array.sh   (what is finished is passed over, what is begun goes on)\n",
      heading(b), shell_word(b.logs));
  text += common_lines(b, b.name);
  text += fmt::format("#SBATCH --array=0-{}{}\n", b.packing.tasks - 1, limit);
  text += fmt::format("#SBATCH --ntasks={} --cpus-per-task={}\n", b.ranks, b.jobs * b.threads);
  text += sbatch_line("--time=", b.time) + sbatch_line(b.memory_per_core ? "--mem-per-cpu=" : "--mem=", b.memory);
  text += "#SBATCH --requeue --open-mode=append\n" + sbatch_line("--output=", b.logs + "/%a.log");
  text += fmt::format("# So many seconds before the time limit the cells write checkpoints.\n#SBATCH --signal=B:USR1@{}\n",
                      b.warning_seconds);
  text += fmt::format("\ncd {}\n", shell_word(b.work));
  text += command_line(b) + " &\n";
  text +=
      "\n# The warning before the time limit, scancel and preemption reach this shell; it waits for the checkpoints.\n"
      "pid=$! why=\n"
      "trap 'why=time; kill -USR1 $pid 2>/dev/null' USR1\n"
      "trap 'why=${why:-end}; kill -TERM $pid 2>/dev/null' TERM\n"
      "wait $pid; code=$?\n"
      "while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done\n"
      "\n# 75: checkpointed, run me again. Who cancelled does not want that, and who preempts queues the job himself.\n"
      "# Only this element of the array: its plain job id may stand for the whole array.\n"
      "if [ $code -eq 75 ] && [ \"$why\" = time ] &&\n"
      "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"; then\n"
      "  sleep 60   # until Slurm ends this start\n"
      "fi\n"
      "exit $code\n";
  return text;
}

std::string collect_script(const BatchScript& b) {
  std::string text =
      "#!/bin/bash\n# Written by `locus submit`: gathers the results when every task has ended, however it ended.\n";
  text += common_lines(b, b.name + "-collect");
  text += "#SBATCH --ntasks=1 --cpus-per-task=1 --requeue --open-mode=append\n" +
          sbatch_line("--output=", b.logs + "/collect.log");
  text += fmt::format("\nexec {} collect {}\n", shell_word(b.program), shell_word(b.folder));
  return text;
}

}  // namespace locus
