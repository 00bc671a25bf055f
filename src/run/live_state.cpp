#include "run/live_state.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "core/error.h"
#include "core/json.h"
#include "io/codec.h"
#include "io/file.h"
#include "run/build_info.h"
#include "run/files.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLiveBytes = std::uint64_t{1} << 16;

std::string live_text(const TrainingState& s, const std::string& since) {
  static const std::string host = host_info().host;
  Json json;
  json["pid"] = static_cast<std::int64_t>(::getpid());
  json["host"] = host;
  json["since"] = since;
  json["epoch"] = s.epoch;
  json["step"] = s.step;
  json["total_steps"] = s.total_steps;
  json["epoch_fraction"] = json_value(s.epoch_fraction);
  json["loss"] = json_value(s.loss);
  json["accuracy"] = json_value(s.accuracy);
  json["seconds"] = json_value(s.seconds);
  json["steps_per_second"] = json_value(s.steps_per_second);
  json["seconds_left"] = json_value(s.seconds_left);
  return json.dump() + "\n";
}

LiveState parse_live_text(const std::string& text) {
  LiveState s;
  const Json json = Json::parse(text);
  if (!json.is_object()) return s;
  const auto count = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
  };
  const auto number = [&](const char* key, double otherwise) {
    const auto it = json.find(key);
    return it == json.end() ? otherwise : number_of_json(*it).value_or(otherwise);
  };
  s.pid = count("pid");
  s.host = json.value("host", "");
  s.since = json.value("since", "");
  s.epoch = count("epoch");
  s.step = count("step");
  s.total_steps = count("total_steps");
  s.epoch_fraction = number("epoch_fraction", 0);
  s.loss = number("loss", s.loss);
  s.accuracy = number("accuracy", s.accuracy);
  s.seconds = number("seconds", 0);
  s.steps_per_second = number("steps_per_second", 0);
  s.seconds_left = number("seconds_left", -1);
  return s;
}

}  // namespace

void write_live_state(const fs::path& run, const TrainingState& state, const std::string& since) {
  const fs::path target = run / run_files::kLive;
  const fs::path fresh = temporary_name(target);
  std::ofstream file(fresh, std::ios::binary);
  file << live_text(state, since);
  file.close();
  std::error_code code;
  if (file) fs::rename(fresh, target, code);
  if (!file || code) fs::remove(fresh, code);
}

// What it says counts only while a process holds the run, so that one that stays does no harm; a second try is cheap.
void remove_live_state(const fs::path& run) {
  std::error_code code;
  for (int tries = 0; tries < 2; ++tries) {
    fs::remove(run / run_files::kLive, code);
    if (!code) return;
  }
}

std::optional<LiveState> read_live_state(const fs::path& run) {
  if (!is_locked(run / run_files::kLock)) return std::nullopt;
  const fs::path file = run / run_files::kLive;
  std::error_code code;
  const fs::file_time_type written = fs::last_write_time(file, code);
  if (code) return LiveState();  // the process has not written of itself yet
  LiveState state;
  try {
    state = parse_live_text(read_text_file(file, kMaxLiveBytes));
  } catch (const Error&) {
    return state;  // it ended just now, or the file is not ours
  }
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - written;
  state.heard_ago = std::max(0.0, age.count());  // clocks of machines differ
  return state;
}

}  // namespace locus
