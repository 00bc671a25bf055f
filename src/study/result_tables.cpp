#include "study/result_tables.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/tests.h"
#include "study/results.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct KeptRun {
  RunConfig config;
  std::map<std::string, double> values;
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

struct Group {
  std::string label;
  std::vector<const KeptRun*> runs;

  std::vector<double> values(const std::string& key) const {
    std::vector<double> out;
    for (const KeptRun* run : runs) {
      if (const auto found = run->values.find(key); found != run->values.end()) out.push_back(found->second);
    }
    return out;
  }
};

// Runs of one encoding together, by name; where: conditions "key=value" that all must hold.
std::vector<Group> grouped(const std::vector<KeptRun>& runs, const std::vector<std::string>& where) {
  std::map<std::string, Group> groups;
  for (const KeptRun& run : runs) {
    if (!std::all_of(where.begin(), where.end(), [&](const std::string& c) { return matches(run.config, c); })) continue;
    const std::string label = encoding_label(run.config);
    Group& group = groups[label];
    group.label = label;
    group.runs.push_back(&run);
  }
  std::vector<Group> out;
  for (auto& [label, group] : groups) out.push_back(std::move(group));
  return out;
}

class Table {
 public:
  explicit Table(std::vector<std::string> titles) : columns_(titles.size()) {
    add(titles);
    text_ += "|";
    for (std::size_t i = 0; i < columns_; ++i) text_ += "---|";
    text_ += "\n";
  }
  void add(const std::vector<std::string>& cells) { text_ += "| " + join(cells, " | ") + " |\n"; }
  const std::string& text() const { return text_; }

 private:
  std::size_t columns_;
  std::string text_;
};

// One row an encoding: measures as mean and standard deviation over seeds.
std::string mean_table(const std::vector<Group>& groups, const std::vector<Column>& columns, const toml::table* published) {
  std::vector<std::string> titles = {"encoding", "seeds"};
  for (const Column& column : columns) titles.push_back(column.title);
  if (published != nullptr) titles.emplace_back("published");
  Table table(titles);
  for (const Group& group : groups) {
    std::vector<std::string> cells = {group.label, std::to_string(group.runs.size())};
    for (const Column& column : columns) cells.push_back(cell(group.values(column.key), column));
    if (published != nullptr) cells.push_back((*published)[group.label].value_or(std::string("–")));
    table.add(cells);
  }
  return table.text();
}

// One row a measure: its rank correlation with `target` over runs, and over the means of encodings.
std::string relation_table(const std::vector<Group>& groups, const std::vector<Column>& columns, const std::string& target,
                           const toml::table* published) {
  Table table({"measure", "runs", "ρ over runs", "encodings", "ρ over their means", "published"});
  const auto rho = [](const std::vector<double>& x, const std::vector<double>& y) {
    return x.size() < 3 ? std::string("–") : fmt::format("{:.2f}", stats::spearman(x, y).r);
  };
  for (const Column& column : columns) {
    std::vector<double> x, y, mean_x, mean_y;
    for (const Group& group : groups) {
      std::vector<double> group_x, group_y;
      for (const KeptRun* run : group.runs) {
        const auto has_x = run->values.find(column.key);
        const auto has_y = run->values.find(target);
        if (has_x == run->values.end() || has_y == run->values.end()) continue;
        group_x.push_back(has_x->second);
        group_y.push_back(has_y->second);
      }
      if (group_x.empty()) continue;
      mean_x.push_back(stats::mean(group_x));
      mean_y.push_back(stats::mean(group_y));
      x.insert(x.end(), group_x.begin(), group_x.end());
      y.insert(y.end(), group_y.begin(), group_y.end());
    }
    table.add({column.title, std::to_string(x.size()), rho(x, y), std::to_string(mean_x.size()), rho(mean_x, mean_y),
               published == nullptr ? "–" : (*published)[column.title].value_or(std::string("–"))});
  }
  return table.text();
}

// One row an encoding: the difference of the first measure to the encoding `against`, runs of the same seed paired.
std::string difference_table(const std::vector<Group>& groups, const Column& column, const std::string& against) {
  const auto reference = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.label == against; });
  Table table({"encoding", "pairs", column.title + " minus that of " + against, "p, paired t"});
  if (reference == groups.end()) return table.text();
  const auto of_seed = [&](const Group& group, std::int64_t seed) -> const double* {
    for (const KeptRun* run : group.runs) {
      const auto found = run->values.find(column.key);
      if (run->config.seed == seed && found != run->values.end()) return &found->second;
    }
    return nullptr;
  };
  for (const Group& group : groups) {
    if (group.label == against) continue;
    std::vector<double> differences;
    for (const KeptRun* run : group.runs) {
      const double* own = of_seed(group, run->config.seed);
      const double* other = of_seed(*reference, run->config.seed);
      if (own != nullptr && other != nullptr) differences.push_back(*own - *other);
    }
    const std::string p = differences.size() < 2 ? "–" : fmt::format("{:.2g}", stats::one_sample_t(differences).p);
    table.add({group.label, std::to_string(differences.size()), cell(differences, column), p});
  }
  return table.text();
}

// A table of the tables file: means by default, `relate` for rank correlations, `against` for paired differences.
std::string make_table(const toml::table& spec, const fs::path& root) {
  const std::vector<KeptRun> runs = read_kept((root / spec["from"].value_or(std::string{})).string());
  std::vector<Column> columns;
  for (const std::string& text : texts(spec, "measures")) {
    columns.push_back(
        parse_column(text, spec["scale"].value_or(1.0), static_cast<int>(spec["digits"].value_or(std::int64_t{1}))));
  }
  if (columns.empty()) throw DataError({.what = "a table without measures", .expected = "measures = [\"key | title\"]"});
  const std::vector<Group> groups = grouped(runs, texts(spec, "where"));
  const toml::table* published = spec["published"].as_table();
  if (const auto target = spec["relate"].value<std::string>()) return relation_table(groups, columns, *target, published);
  if (const auto against = spec["against"].value<std::string>()) return difference_table(groups, columns[0], *against);
  return mean_table(groups, columns, published);
}

}  // namespace

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
