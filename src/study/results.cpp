#include "study/results.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "config/load.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "run/build_info.h"
#include "run/run_record.h"
#include "stats/descriptive.h"
#include "study/kept_analyses.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct KeptRun {
  RunConfig config;
  std::map<std::string, double> values;
  std::string status;
};

std::vector<KeptRun> read_kept(const std::string& folder) {
  std::vector<fs::path> files;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<KeptRun> runs;
  for (const fs::path& file : files) {
    const Json json = Json::parse(read_text_file(file));
    KeptRun run;
    run.config = run_config_from_json(nlohmann::json(json.at("config")), file.string());
    run.status = json.at("summary").at("status");
    for (const char* part : {"summary", "analyses"}) {
      if (!json.contains(part)) continue;
      for (const auto& [key, value] : json[part].items()) {
        if (value.is_number()) run.values[key] = value.get<double>();
      }
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

bool matches(const RunConfig& config, const std::string& condition) {
  const std::size_t equals = condition.find('=');
  RunConfig copy = config;
  RunConfig wanted = config;
  apply_override(wanted, condition);
  const FieldList here = describe(copy);
  const FieldList there = describe(wanted);
  const std::string key = condition.substr(0, equals);
  return here.find(key, "table").text() == there.find(key, "table").text();
}

std::vector<std::string> texts(const toml::table& table, const char* key) {
  std::vector<std::string> out;
  if (const toml::array* array = table[key].as_array()) {
    for (const toml::node& item : *array) out.push_back(item.value_or(std::string{}));
  }
  return out;
}

// A column: "key", or "key | title | scale | digits | form"; form "each" lists all runs in place of mean and deviation.
struct Column {
  std::string key;
  std::string title;
  double scale = 1;
  int digits = 1;
  bool each = false;
};

Column parse_column(const std::string& text, double scale, int digits) {
  std::vector<std::string> parts;
  for (const std::string& part : split(text, '|')) parts.emplace_back(trim(part));
  Column column{parts[0], parts[0], scale, digits, false};
  try {
    if (parts.size() > 1) column.title = parts[1];
    if (parts.size() > 2) column.scale = std::stod(parts[2]);
    if (parts.size() > 3) column.digits = std::stoi(parts[3]);
  } catch (const std::logic_error&) {
    throw DataError({.what = "a column's scale or digits is no number", .got = text, .expected = "key | title | 100 | 1"});
  }
  column.each = parts.size() > 4 && parts[4] == "each";
  return column;
}

std::string cell(const std::vector<double>& values, const Column& column) {
  if (values.empty()) return "–";
  const auto number = [&](double x) { return fmt::format("{:.{}f}", x * column.scale, column.digits); };
  if (column.each) {
    std::vector<std::string> all;
    for (const double x : values) all.push_back(number(x));
    return join(all, ", ");
  }
  const std::string mean = number(stats::mean(values));
  return values.size() < 2 ? mean : mean + " ± " + number(stats::sd(values));
}

// A table of the tables file: which runs, one row an encoding, measures as mean and standard deviation over seeds.
std::string make_table(const toml::table& spec, const fs::path& root) {
  const std::vector<KeptRun> runs = read_kept((root / spec["from"].value_or(std::string{})).string());
  const std::vector<std::string> where = texts(spec, "where");
  std::vector<Column> columns;
  std::vector<std::string> titles;
  for (const std::string& text : texts(spec, "measures")) {
    columns.push_back(
        parse_column(text, spec["scale"].value_or(1.0), static_cast<int>(spec["digits"].value_or(std::int64_t{1}))));
    titles.push_back(columns.back().title);
  }
  const toml::table* published = spec["published"].as_table();
  std::vector<std::string> order;
  std::map<std::string, std::vector<const KeptRun*>> groups;
  for (const KeptRun& run : runs) {
    if (!std::all_of(where.begin(), where.end(), [&](const std::string& c) { return matches(run.config, c); })) continue;
    const std::string label = encoding_label(run.config);
    if (!groups.contains(label)) order.push_back(label);
    groups[label].push_back(&run);
  }
  std::sort(order.begin(), order.end());
  std::string out =
      "| encoding | seeds | " + join(titles, " | ") + (published != nullptr ? " | published |\n" : " |\n") + "|---|---|";
  for (std::size_t i = 0; i < columns.size() + (published != nullptr ? 1 : 0); ++i) out += "---|";
  out += "\n";
  for (const std::string& label : order) {
    std::vector<std::string> cells = {label, std::to_string(groups[label].size())};
    for (const Column& column : columns) {
      std::vector<double> values;
      for (const KeptRun* run : groups[label]) {
        if (const auto found = run->values.find(column.key); found != run->values.end()) values.push_back(found->second);
      }
      cells.push_back(cell(values, column));
    }
    if (published != nullptr) cells.push_back((*published)[label].value_or(std::string("–")));
    out += "| " + join(cells, " | ") + " |\n";
  }
  return out;
}

}  // namespace

std::string encoding_label(const RunConfig& c) {
  std::string label(kPeKindNames[static_cast<std::size_t>(c.pe.kind)]);
  if (c.pe.kind == PeKind::kLearned) {
    label = fmt::format("{} sigma {}", c.pe.is_trained() ? "learned" : "random", shortest(c.pe.sigma));
    if (c.pe.init == PeInit::kFile) label = c.pe.is_trained() ? "transplanted, trained" : "transplanted, frozen";
  }
  if (c.pe.kind == PeKind::kSinusoidal && c.pe.is_trained()) label += " learnable";
  if (c.pe.kind != PeKind::kLearned && c.pe.kind != PeKind::kNone && c.pe.kind != PeKind::kLaplacian) {
    label += c.pe.positions == PePositions::kIndex ? " 1-D" : c.pe.positions == PePositions::kGrid ? " 2-D" : " 3-D";
  }
  if (c.model.layers == 0) label = c.model.head_hidden > 0 ? "MLP baseline" : "logistic baseline";
  if (c.model.attention_mask == AttentionMask::kCausal) label += ", causal";
  if (c.pe.dropout_at_eval) label += ", dropout at evaluation";
  if (c.train.freeze_pe_after >= 0) label += fmt::format(", frozen after {}", c.train.freeze_pe_after);
  if (c.train.pe_norm_clamp > 0) label += ", norm clamped";
  return label;
}

KeptResults keep_results(const std::vector<std::string>& dirs, const std::string& to) {
  ensure_writable_directory(to);
  KeptResults kept;
  std::vector<fs::path> folders(dirs.begin(), dirs.end());
  for (const fs::path& path : find_runs(folders)) {
    const RunRecord run = read_run(path);
    const bool complete = run.summary && run.config &&
                          (run.summary->status == RunStatus::kFinished || run.summary->status == RunStatus::kConverged);
    if (!complete) {
      kept.skipped.push_back(path.string());
      continue;
    }
    Json json;
    json["config"] = to_json(*run.config);
    // Folders of this machine say nothing to a reader.
    json["config"]["lst"]["dir"] = run.config->lst.source == LstSource::kAuthors ? "authors" : "";
    json["config"]["series"]["files"] = Json::array();
    json["config"]["series"]["atlas"] = "";
    json["summary"] = Json::parse(read_text_file(path / "summary.json"));
    if (const Json analyses = flat_analyses(path.string()); !analyses.empty()) json["analyses"] = analyses;
    json["commit"] = build_info().commit;
    const std::string label = std::regex_replace(encoding_label(*run.config), std::regex("[^A-Za-z0-9.]+"), "-");
    const std::string file =
        (fs::path(to) / fmt::format("{}-seed{}-{}.json", label, run.config->seed, run.config_hash.substr(0, 8))).string();
    write_file_atomic(file, json.dump(1) + "\n");
    kept.written.push_back(file);
  }
  return kept;
}

std::string fill_tables(const std::string& document_path) {
  const fs::path document(document_path);
  const fs::path spec_path = fs::path(document).replace_extension(".tables.toml");
  toml::table spec;
  try {
    spec = toml::parse(read_text_file(spec_path), spec_path.string());
  } catch (const toml::parse_error& e) {
    throw DataError({.what = std::string("not valid TOML: ") + std::string(e.description()), .where = spec_path.string()});
  }
  const fs::path root = document.parent_path() / spec["root"].value_or(std::string("../.."));
  std::string text = read_text_file(document);
  std::size_t from = 0;
  constexpr std::string_view kBegin = "<!-- table ";
  constexpr std::string_view kEnd = "<!-- end -->";
  while ((from = text.find(kBegin, from)) != std::string::npos) {
    const std::size_t close = text.find("-->", from);
    const std::size_t end = text.find(kEnd, from);
    if (close == std::string::npos || end == std::string::npos)
      throw DataError({.what = "a table without an end", .where = document_path});
    const std::string name(trim(std::string_view(text).substr(from + kBegin.size(), close - from - kBegin.size())));
    const toml::table* table = spec[name].as_table();
    if (table == nullptr) throw DataError({.what = "no such table: " + name, .where = spec_path.string()});
    const std::string filled = "\n" + make_table(*table, root);
    text.replace(close + 3, end - close - 3, filled);
    from = close + 3 + filled.size() + kEnd.size();
  }
  return text;
}

}  // namespace locus
