#include "sweep/jobs.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/file.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRecord = "job.json";

std::vector<fs::path> job_folders(const SweepFolder& folder) {
  std::vector<fs::path> out;
  std::error_code code;
  for (fs::directory_iterator it(folder.path() / sweep_files::kJobs, code), end; !code && it != end; it.increment(code)) {
    if (number_of_name(it->path().filename().string())) out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

fs::path next_job_folder(const SweepFolder& folder) {
  const std::vector<fs::path> there = job_folders(folder);
  const std::int64_t last = there.empty() ? 0 : *number_of_name(there.back().filename().string());
  return folder.path() / sweep_files::kJobs / fmt::format("{:04}", last + 1);
}

void write_job(const JobRecord& job) {
  std::string cells;
  for (const std::string& hash : job.cells) cells += hash + "\n";
  write_file_atomic(job.folder / sweep_files::kCellList, cells);
  Json json;
  json["array"] = job.array;
  json["collect"] = job.collect;
  json["time"] = job.time;
  json["tasks"] = job.tasks;
  write_file_atomic(job.folder / kRecord, json.dump(1) + "\n");
}

std::vector<JobRecord> read_jobs(const SweepFolder& folder) {
  std::vector<JobRecord> out;
  for (const fs::path& path : job_folders(folder)) {
    try {
      const Json json = Json::parse(read_text_file(path / kRecord));
      JobRecord job;
      job.folder = path;
      job.array = json.at("array").text();
      job.collect = json.at("collect").text();
      job.time = json.at("time").text();
      job.tasks = json.at("tasks").get<std::int64_t>();
      for (const std::string& line : split(read_text_file(path / sweep_files::kCellList), '\n')) {
        if (!trim(line).empty()) job.cells.emplace_back(trim(line));
      }
      if (job.tasks > 0) out.push_back(std::move(job));
    } catch (const Error&) {
      continue;  // a submission that was cut off: nothing of it runs, or squeue knows it without us
    }
  }
  return out;
}

std::vector<QueuedTask> parse_queue(std::string_view answer) {
  std::vector<QueuedTask> out;
  for (const std::string& line : split(answer, '\n')) {
    const std::vector<std::string> parts = split(line, '|');
    if (parts.size() != 6) continue;
    QueuedTask task;
    task.job = trim(parts[0]);
    const std::string index(trim(parts[1]));
    if (!index.empty() && index.find_first_not_of("0123456789") == std::string::npos) task.index = std::stoll(index);
    task.state = trim(parts[2]);
    task.time_left = trim(parts[3]);
    task.node = trim(parts[4]);
    task.reason = trim(parts[5]);
    out.push_back(std::move(task));
  }
  return out;
}

}  // namespace locus
