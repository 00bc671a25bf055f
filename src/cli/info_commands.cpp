// locus version, encodings, selfcheck, config, inspect.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "config/renamed_keys.h"
#include "config/signature_pins.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/json.h"
#include "core/text.h"
#include "io/array.h"
#include "io/codec.h"
#include "io/safetensors.h"
#include "model/pe/encoding.h"
#include "run/build_info.h"
#include "run/checkpoint.h"
#include "run/layout.h"
#include "run/run_reader.h"
#include "train/signature.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

struct TensorStats {
  double norm = 0, low = 0, high = 0;
  std::int64_t broken = 0;
};

TensorStats stats_of(const std::vector<double>& values) {
  TensorStats s;
  bool first = true;
  for (const double v : values) {
    if (!std::isfinite(v)) {
      ++s.broken;
      continue;
    }
    s.norm += v * v;
    s.low = first ? v : std::min(s.low, v);
    s.high = first ? v : std::max(s.high, v);
    first = false;
  }
  s.norm = std::sqrt(s.norm);
  return s;
}

void inspect_tensors(const TensorFile& file, bool json) {
  Json out;
  out["file"] = file.source;
  out["checksum"] = file.verified ? "verified" : "none";
  out["tensors"] = Json::array();
  std::vector<std::vector<std::string>> rows;
  double total = 0;
  for (const Tensor& t : file.tensors) {
    const TensorStats s = stats_of(t.to_doubles());
    total += static_cast<double>(t.count());
    out["tensors"].push_back({{"name", t.name},
                              {"dtype", dtype_name(t.dtype)},
                              {"shape", t.shape},
                              {"norm", s.norm},
                              {"min", s.low},
                              {"max", s.high},
                              {"not_finite", s.broken}});
    rows.push_back({t.name, std::string(dtype_name(t.dtype)), fmt::format("({})", fmt::join(t.shape, ", ")),
                    fmt::format("{:.4g}", s.norm), fmt::format("{:.4g}", s.low), fmt::format("{:.4g}", s.high),
                    s.broken > 0 ? std::to_string(s.broken) : ""});
  }
  if (json) return print_line(out.dump(1));
  print_line(fmt::format("{}: {} tensors, {:.0f} values, checksum {}", file.source, file.tensors.size(), total,
                         file.verified ? "verified" : "none"));
  print_line(text_table({"tensor", "type", "shape", "norm", "min", "max", "not finite"}, rows));
}

void inspect_arrays(const std::string& path, const std::vector<ArrayEntry>& arrays, bool json) {
  const std::string format(format_name(detect_format(path)));
  Json out{{"file", path}, {"format", format}, {"arrays", Json::array()}};
  std::vector<std::vector<std::string>> rows;
  for (const ArrayEntry& a : arrays) {
    out["arrays"].push_back({{"name", a.name}, {"shape", a.shape}, {"type", a.type}});
    rows.push_back({a.name, a.type, fmt::format("({})", fmt::join(a.shape, ", "))});
  }
  if (json) return print_line(out.dump(1));
  print_line(fmt::format("{}: {}, {} arrays", path, format, arrays.size()));
  print_line(text_table({"array", "type", "shape"}, rows));
}

void inspect_run(const std::string& dir, bool json) {
  const RunReader run(dir);
  run.read_all();
  const RunState state = run.state();
  Json out;
  out["run"] = dir;
  out["config_hash"] = run.config_hash();
  out["status"] = state.status;
  out["problems"] = run.problems();
  out["unverified"] = run.notes();
  out["epochs"] = state.epochs;
  out["steps"] = state.steps;
  for (const auto& [name, value] : state.measures) out["measures"][name] = json_value(value);
  if (json) {
    print_line(out.dump(1));
  } else {
    print_line(fmt::format("run {}  config {}  {}: {}", dir, run.config_hash(), state.status, state.reason));
    for (const std::string& p : run.problems()) print_line("problem: " + p);
    for (const std::string& n : run.notes()) print_line("note: " + n);
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : state.measures) rows.push_back({name, fmt::format("{:.4f}", value)});
    if (!rows.empty()) print_line(text_table({"measure", "value"}, rows));
  }
  const fs::path model = fs::path(dir) / run_files::kFinal / run_files::kModel;
  if (!json && fs::exists(model)) inspect_tensors(read_safetensors(model), json);
}

}  // namespace

int run_version(const CommonOptions& options) {
  const BuildInfo& b = build_info();
  std::vector<std::string_view> all;
  for (const Isa isa : isas_in_program()) all.push_back(isa_name(isa));
  const std::string_view used = isa_name(isa_in_use());
  if (options.json) {
    print_line(Json{{"version", b.version},
                    {"commit", b.commit},
                    {"compiler", b.compiler},
                    {"isa", used},
                    {"isas", all},
                    {"build", b.build_type}}
                   .dump());
  } else {
    print_line(fmt::format("locus {} ({}, {}, {}), uses {} of {}", b.version, b.commit, b.compiler, b.build_type, used,
                           fmt::join(all, ", ")));
  }
  return kExitDone;
}

int run_encodings(const CommonOptions& options) {
  Json json = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const EncodingRow& e : encoding_rows()) {
    const std::string keys = e.field_list();
    json.push_back({{"kind", std::string(e.name())}, {"summary", std::string(e.summary)}, {"parameters", keys}});
    if (!options.json)
      print_line(fmt::format("{:<11} {}{}", e.name(), e.summary, keys.empty() ? "" : "\n            keys: " + keys));
  }
  if (options.json) print_line(json.dump(1));
  return kExitDone;
}

int run_selfcheck(const CommonOptions& options) {
  Json json;
  const std::vector<SignatureLine> lines = behaviour_lines();
  for (const SignatureLine& line : lines) {
    json["losses"][line.name()] = line.losses;
    if (options.json) continue;
    std::string text = fmt::format("{:<18}", line.name());
    for (const double loss : line.losses) text += fmt::format(" {:.4f}", loss);
    print_line(text);
  }
  bool as_pinned = true;
  for (const std::string_view encoding : kPeKindNames) {
    const std::string got = encoding_signature(lines, encoding);
    const std::string expected = pinned_signature(encoding).hash;
    json["encodings"][std::string(encoding)] = {{"computed", got}, {"pinned", expected}};
    as_pinned = as_pinned && got == expected;
    if (!options.json)
      print_line(fmt::format("{:<18} {} {}", encoding, got, got == expected ? "as pinned" : "pinned is " + expected));
  }
  for (const EngineLine& line : engine_lines()) {
    const EngineVerdict verdict = check_engine_line(line, isa_name(isa_in_use()), build_info().compiler);
    const std::string got = engine_signature(line);
    json["engine"][line.encoding] = {{"computed", got}, {"pinned", verdict.pinned}, {"difference", verdict.difference}};
    as_pinned = as_pinned && verdict.agrees;
    if (options.json) continue;
    const std::string held = verdict.pinned.empty() ? "as the scalar path" : "as pinned";
    print_line(fmt::format("{:<18} {} engine, {}: {}", line.encoding, got, isa_name(isa_in_use()),
                           verdict.agrees ? held : "NOT " + held));
  }
  json["signature"] = signature_of(lines);
  json["as_pinned"] = as_pinned;
  print_line(options.json ? json.dump(1) : "signature " + signature_of(lines));
  return as_pinned ? kExitDone : kExitFailed;
}

int run_config(const ConfigOptions& options) {
  RunConfig config;
  if (!options.config.empty()) load_toml_file(config, config_file(options.config));
  for (const std::string& o : options.overrides) apply_override(config, o);
  if (options.json) {
    print_line(to_json(config).dump(1));
    return kExitDone;
  }
  if (!options.config.empty() || !options.overrides.empty()) {
    print_line(to_toml(config));
    return kExitDone;
  }
  const FieldList list = describe(config);
  bool any = false;
  for (const Field& f : list.fields()) {
    if (!options.key.empty() && f.path.find(options.key) == std::string::npos) continue;
    any = true;
    print_line(fmt::format("{} = {}\n    {} ({}{})", f.path, f.text(), f.help, f.type_name(),
                           f.identity ? "" : "; not part of the identity"));
  }
  if (!any) throw unknown_key(options.key, "--key", list.names());
  return kExitDone;
}

int run_inspect(const InspectOptions& options) {
  if (!fs::exists(options.path)) {
    throw IoError(
        {.what = "no such file or folder", .where = options.path, .got = "", .expected = "a run directory or a data file"});
  }
  if (is_run_directory(options.path)) {
    inspect_run(options.path, options.json);
  } else if (fs::is_directory(options.path)) {
    inspect_tensors(load_model_file(options.path).tensors, options.json);
  } else if (options.path.ends_with(".safetensors")) {
    inspect_tensors(read_safetensors(options.path), options.json);
  } else if (const std::vector<ArrayEntry> arrays = list_arrays(options.path);
             arrays.size() > 1 || (arrays.size() == 1 && arrays[0].shape.size() > 2)) {
    inspect_arrays(options.path, arrays, options.json);
  } else {
    const NamedMatrix m = read_matrix(options.path, {});
    const TensorStats s = stats_of(m.values.values());
    if (options.json) {
      print_line(Json{
          {"file", options.path},
          {"format", m.format},
          {"dataset", m.dataset},
          {"rows", m.values.rows()},
          {"columns", m.values.cols()},
          {"min", s.low},
          {"max", s.high},
          {"not_finite",
           s.broken}}.dump(1));
    } else {
      print_line(fmt::format("{}: {} {}, {} x {}, {:.4g} .. {:.4g}, {} not finite", options.path, m.format, m.dataset,
                             m.values.rows(), m.values.cols(), s.low, s.high, s.broken));
    }
  }
  return kExitDone;
}

}  // namespace locus::cli
