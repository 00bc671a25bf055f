#include "run/manifest.h"

#include <fmt/core.h>

#include <chrono>
#include <map>

#include "config/load.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/isa.h"
#include "core/json.h"
#include "io/codec.h"
#include "io/file.h"
#include "io/temporary.h"
#include "run/build_info.h"
#include "run/layout.h"
#include "run/run_directory.h"

namespace locus {
namespace {

constexpr std::uint64_t kMaxTextBytes = std::uint64_t{256} << 20;

// The part that every start of a process adds anew.
void add_start(Json& json, const RunIdentity& identity) {
  const BuildInfo& build = build_info();
  const HostInfo machine = host_info();
  json["version"] = build.version;
  json["commit"] = build.commit;
  json["compiler"] = build.compiler;
  json["isa"] = isa_name(isa_in_use());
  json["host"] = machine.host;
  json["cpu"] = machine.cpu;
  json["threads"] = identity.threads;
  json["command"] = identity.command;
  json["started"] = utc_now();
}

// Tells runs of one configuration apart, such as cells that differ in their stop rules only.
std::string fresh_run_id(const RunIdentity& identity) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return sha256_hex(fmt::format("{} {} {} {}", identity.hashes.current, now, host_info().host, random_hex())).substr(0, 16);
}

}  // namespace

Json make_manifest(const RunIdentity& identity) {
  Json json;
  json["format"] = kRunFormat;
  json["config_hash"] = identity.hashes.current;
  json["data_hash"] = identity.data_hash;
  json["signature"] = identity.signature.hash;
  json["run_id"] = fresh_run_id(identity);
  add_start(json, identity);
  json["study"] = identity.config.study;
  json["data"] = identity.data;
  json["preprocessing"] = identity.preprocessing;
  json["parameters"] = Json::array();
  for (const ParameterInfo& p : identity.parameters) {
    Json entry;
    entry["name"] = p.name;
    entry["shape"] = p.shape;
    entry["trained"] = p.trained;
    entry["lr"] = json_value(p.lr);
    entry["weight_decay"] = json_value(p.weight_decay);
    json["parameters"].push_back(std::move(entry));
  }
  json["resumed"] = Json::array();
  return json;
}

void note_resume(Json& manifest, const RunIdentity& identity) {
  Json entry;
  add_start(entry, identity);
  if (!same_behaviour(manifest_text(manifest, "signature"), identity.signature))
    entry["signature"] = identity.signature.hash;
  if (manifest_text(manifest, "run_id").empty()) manifest["run_id"] = fresh_run_id(identity);
  if (!manifest.contains("resumed") || !manifest["resumed"].is_array()) manifest["resumed"] = Json::array();
  manifest["resumed"].push_back(std::move(entry));
}

void write_manifest(const std::filesystem::path& file, const Json& manifest) {
  write_file_atomic(file, manifest.dump(2) + "\n");
}

Json read_manifest(const std::filesystem::path& file) {
  Json json = Json::parse(read_text_file(file, kMaxTextBytes));
  if (!json.is_object() || manifest_text(json, "config_hash").empty()) {
    throw IoError({.what = "damaged, or not the manifest of a run", .where = file.string()});
  }
  const auto format = json.find("format");
  if (format == json.end() || *format != kRunFormat) {
    throw IoError({.what = "a run directory of another format",
                   .where = file.string(),
                   .got = format == json.end() ? "none" : format->dump(),
                   .expected = std::to_string(kRunFormat),
                   .hint = "use the version of the program that wrote it"});
  }
  return json;
}

std::string manifest_text(const Json& manifest, const char* key) {
  const auto it = manifest.find(key);
  return it != manifest.end() && it->is_string() ? it->get<std::string>() : std::string();
}

RunConfig read_config_file(const std::filesystem::path& file) {
  RunConfig config;
  load_toml_text(config, read_text_file(file, kMaxTextBytes), file.string());
  return config;
}

std::vector<std::string> identity_differences(const RunConfig& asked, const RunConfig& there) {
  RunConfig asked_copy = asked;
  RunConfig there_copy = there;
  const FieldList ours = describe(asked_copy);
  const FieldList theirs = describe(there_copy);
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < ours.fields().size(); ++i) {
    const Field& a = ours.fields()[i];
    const Field& b = theirs.fields()[i];
    if (a.identity && a.text() != b.text()) {
      differences.push_back(fmt::format("{} = {} (there: {})", a.path, a.text(), b.text()));
    }
  }
  return differences;
}

}  // namespace locus
