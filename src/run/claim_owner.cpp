#include "run/claim_owner.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/json.h"
#include "core/text.h"
#include "run/build_info.h"

namespace locus {
namespace {

struct Job {
  std::string id;
  std::int64_t restarts = 0;
};
Job& this_job() {
  static Job job;
  return job;
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string link_text(const char* path) {
  std::array<char, 128> buffer{};
  const ssize_t n = ::readlink(path, buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : "";
}

struct ProcessState {
  char state = '?';
  std::uint64_t started = 0;
};

// The name of the program, in brackets, may hold anything: what counts stands behind the last bracket.
std::optional<ProcessState> process_state(std::int64_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(bracket + 1));
  ProcessState out;
  rest >> out.state;
  std::uint64_t number = 0;
  std::string skipped;
  for (int field = 4; field < 22; ++field) rest >> skipped;  // 22 is the start
  if (rest >> number) out.started = number;
  return out;
}

std::string random_text() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) value = static_cast<std::uint64_t>(::getpid());
  return fmt::format("{:016x}", value);
}

bool process_is_gone(const ClaimOwner& owner) {
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return true;
  const std::optional<ProcessState> there = process_state(owner.pid);
  if (!there) return false;
  if (there->state == 'Z' || there->state == 'X') return true;
  return owner.started != 0 && there->started != 0 && there->started != owner.started;
}

}  // namespace

void set_claim_job(std::string job, std::int64_t restarts) { this_job() = {std::move(job), restarts}; }

ClaimOwner this_owner(ClaimKind kind) {
  static const std::string host = host_info().host;
  static const std::string machine = first_line("/etc/machine-id");
  static const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  ClaimOwner me;
  me.kind = kind;
  me.host = host;
  me.machine = machine;
  me.boot = boot;
  me.pid_namespace = link_text("/proc/self/ns/pid");
  me.pid = ::getpid();
  if (const auto state = process_state(me.pid)) me.started = state->started;
  me.job = this_job().id;
  me.restarts = this_job().restarts;
  me.nonce = random_text();
  return me;
}

std::string ClaimOwner::text() const {
  Json json;
  json["kind"] = kind == ClaimKind::kLease ? "lease" : "lock";
  json["host"] = host;
  json["machine"] = machine;
  json["boot"] = boot;
  json["pid_namespace"] = pid_namespace;
  json["pid"] = pid;
  json["started"] = started;
  json["job"] = job;
  json["restarts"] = restarts;
  json["nonce"] = nonce;
  if (released) json["released"] = true;
  return json.dump() + "\n";
}

std::optional<ClaimOwner> ClaimOwner::parse(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const Json json = Json::parse(text.substr(0, end));
  if (!json.is_object()) return std::nullopt;
  ClaimOwner out;
  out.kind = json.value("kind", std::string()) == "lease" ? ClaimKind::kLease : ClaimKind::kLock;
  out.host = json.value("host", std::string());
  out.machine = json.value("machine", std::string());
  out.boot = json.value("boot", std::string());
  out.pid_namespace = json.value("pid_namespace", std::string());
  out.pid = json.value("pid", std::int64_t{0});
  out.started = json.value("started", std::uint64_t{0});
  out.job = json.value("job", std::string());
  out.restarts = json.value("restarts", std::int64_t{0});
  out.nonce = json.value("nonce", std::string());
  out.released = json.value("released", false);
  if (out.pid <= 0 || out.nonce.empty()) return std::nullopt;
  return out;
}

std::string ClaimOwner::describe() const {
  return fmt::format("pid {} on {}{}", pid, host, job.empty() ? "" : ", job " + job);
}

bool provably_dead(const ClaimOwner& owner, const ClaimOwner& me, bool still) {
  if (owner.released) return true;
  const bool same_kernel = !owner.boot.empty() && owner.boot == me.boot;
  if (same_kernel && !owner.pid_namespace.empty() && owner.pid_namespace == me.pid_namespace) return process_is_gone(owner);
  // Only a lease has a heartbeat that can be watched.
  if (!still || owner.kind != ClaimKind::kLease) return false;
  const bool rebooted = !owner.boot.empty() && !me.boot.empty() && !same_kernel && !owner.machine.empty() &&
                        owner.machine == me.machine && owner.host == me.host;
  const bool job_began_again = !owner.job.empty() && owner.job == me.job && owner.restarts < me.restarts;
  return rebooted || job_began_again;
}

}  // namespace locus
