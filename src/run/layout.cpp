#include "run/layout.h"

#include <fmt/core.h>

#include <charconv>
#include <ctime>

namespace locus {
namespace {

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
}

}  // namespace

std::string snapshot_model(std::int64_t epoch) { return fmt::format("{}/{}", run_files::kSnapshots, epoch); }

bool is_snapshot(std::string_view model) { return is_below(model, run_files::kSnapshots); }

bool is_checkpoint(std::string_view model) { return is_below(model, run_files::kCheckpoints); }

std::filesystem::path sweep_of(const std::filesystem::path& run) {
  const std::filesystem::path cells = run.parent_path();
  std::error_code code;
  const bool in_sweep =
      cells.filename() == sweep_files::kCells && std::filesystem::exists(cells.parent_path() / sweep_files::kPlans, code);
  return in_sweep ? cells.parent_path() : std::filesystem::path();
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("{:010}", step); }

std::optional<std::int64_t> number_of_name(std::string_view name) {
  std::int64_t number = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = result.ec == std::errc() && result.ptr == name.data() + name.size();
  if (!whole || number < 0 || name.front() == '-') return std::nullopt;
  return number;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string one_line(const Error& error) {
  const ErrorParts& p = error.parts();
  std::string text = p.where.empty() ? p.what : p.where + ": " + p.what;
  if (!p.got.empty()) text += " (" + p.got + ")";
  return text;
}

}  // namespace locus
