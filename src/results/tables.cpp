#include "results/tables.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "config/toml_depth.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "results/keep.h"
#include "results/kept_runs.h"
#include "stats/bootstrap.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/small_samples.h"
#include "stats/tests.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> texts(const toml::table& table, const char* key) {
  std::vector<std::string> out;
  if (const toml::array* array = table[key].as_array()) {
    for (const toml::node& item : *array) out.push_back(item.value_or(std::string{}));
  }
  return out;
}

// A column: "key", or "key | title | scale | digits | form"; a key may be a ratio, "a / b"; form "each" lists all runs in
// place of mean and deviation.
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

// `runs`: how many could have a value; where some have none the cell says so.
std::string cell(const std::vector<double>& values, const Column& column, std::size_t runs) {
  if (values.empty()) return "–";
  const std::string some = values.size() < runs ? fmt::format(" ({} of {})", values.size(), runs) : "";
  const auto number = [&](double x) { return fmt::format("{:.{}f}", x * column.scale, column.digits); };
  if (column.each) {
    std::vector<std::string> all;
    for (const double x : values) all.push_back(number(x));
    return join(all, ", ") + some;
  }
  const std::string mean = number(stats::mean(values));
  return (values.size() < 2 ? mean : mean + " ± " + number(stats::sd(values))) + some;
}

struct Group {
  std::string label;
  std::vector<const KeptRun*> runs;

  // Of the runs that have it; "a / b" is the ratio of two values.
  std::vector<double> values(const std::string& key) const {
    std::vector<double> out;
    for (const KeptRun* run : runs) {
      if (const auto value = kept_value(*run, key)) out.push_back(*value);
    }
    return out;
  }
};

// A mean is over seeds, and over the keys that the table names: runs that differ in anything else are no repetitions.
void require_repetitions(const Group& group, const std::vector<std::string>& over) {
  for (const KeptRun* run : group.runs) {
    const KeptRun& first = *group.runs.front();
    std::vector<std::string> keys;
    for (const std::string& key : differing_keys(first.config, run->config)) {
      if (key != "seed" && std::find(over.begin(), over.end(), key) == over.end()) keys.push_back(key);
    }
    // The hash of data covers what was made of them, so it differs with a key such as the subject that was left out.
    const bool other_data = over.empty() && first.data_hash != run->data_hash;
    if (keys.empty() && !other_data) continue;
    throw DataError({.what = "a row of a table would average runs that are no repetitions of each other",
                     .where = group.label,
                     .got = fmt::format("{} and {} differ in {}", first.file, run->file,
                                        keys.empty() ? std::string("their data") : join(keys, ", ")),
                     .hint = "choose runs with where = [\"key=value\"], or name keys to average over: over = [\"key\"]"});
  }
}

// Runs of one encoding together, by name; where: conditions "key=value" that all must hold.
std::vector<Group> grouped(const std::vector<KeptRun>& runs, const std::vector<std::string>& where,
                           const std::vector<std::string>& over) {
  std::map<std::string, Group> groups;
  for (const KeptRun& run : runs) {
    if (!matches_all(run.config, where)) continue;
    const std::string label = encoding_label(run.config);
    Group& group = groups[label];
    group.label = label;
    group.runs.push_back(&run);
  }
  std::vector<Group> out;
  for (auto& [label, group] : groups) {
    require_repetitions(group, over);
    out.push_back(std::move(group));
  }
  return out;
}

class Table {
 public:
  explicit Table(const std::vector<std::string>& titles) : columns_(titles.size()) {
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

// One row an encoding: measures as mean and standard deviation over its runs.
std::string mean_table(const std::vector<Group>& groups, const std::vector<Column>& columns, const std::string& unit,
                       const toml::table* published) {
  std::vector<std::string> titles = {"encoding", "n (" + unit + ")"};
  for (const Column& column : columns) titles.push_back(column.title);
  if (published != nullptr) titles.emplace_back("published");
  Table table(titles);
  for (const Group& group : groups) {
    std::vector<std::string> cells = {group.label, std::to_string(group.runs.size())};
    for (const Column& column : columns) cells.push_back(cell(group.values(column.key), column, group.runs.size()));
    if (published != nullptr) cells.push_back((*published)[group.label].value_or(std::string("–")));
    table.add(cells);
  }
  return table.text();
}

// What a relation is made of: one entry a run.
struct RelationData {
  std::vector<double> x, y, sigma;
  std::vector<int> seed;
  std::vector<double> mean_x, mean_y;  // one an encoding
};

RelationData relation_data(const std::vector<Group>& groups, const std::string& measure, const std::string& target) {
  RelationData out;
  for (const Group& group : groups) {
    std::vector<double> group_x, group_y;
    for (const KeptRun* run : group.runs) {
      const auto has_x = run->values.find(measure);
      const auto has_y = run->values.find(target);
      if (has_x == run->values.end() || has_y == run->values.end()) continue;
      group_x.push_back(has_x->second);
      group_y.push_back(has_y->second);
      out.sigma.push_back(run->config.pe.sigma);
      out.seed.push_back(static_cast<int>(run->config.seed));
    }
    if (group_x.empty()) continue;
    out.mean_x.push_back(stats::mean(group_x));
    out.mean_y.push_back(stats::mean(group_y));
    out.x.insert(out.x.end(), group_x.begin(), group_x.end());
    out.y.insert(out.y.end(), group_y.begin(), group_y.end());
  }
  return out;
}

std::string rho(const std::vector<double>& x, const std::vector<double>& y) {
  return x.size() < 3 ? "–" : fmt::format("{:.2f}", stats::spearman(x, y).r);
}

// Whether the measure says more than sigma does; nothing where sigma does not vary or leaves nothing.
std::string rho_given_sigma(const RelationData& d) {
  const std::set<double> sigmas(d.sigma.begin(), d.sigma.end());
  if (d.x.size() < 5 || sigmas.size() < 2) return "–";
  const ConstMatD covariate(d.sigma.data(), std::ssize(d.sigma), 1);
  return fmt::format("{:.2f}", stats::partial(d.x, d.y, covariate, stats::CorrelationKind::kSpearman).r);
}

// Runs of one seed share their initial draw and order of data: seeds are resampled, not runs.
std::string rho_interval(const RelationData& d) {
  const std::set<int> seeds(d.seed.begin(), d.seed.end());
  if (d.x.size() < 5 || seeds.size() < 3) return "–";
  const auto statistic = [&](std::span<const std::size_t> rows) {
    std::vector<double> x, y;
    for (const std::size_t row : rows) {
      x.push_back(d.x[row]);
      y.push_back(d.y[row]);
    }
    return stats::spearman(x, y).r;
  };
  stats::BootstrapOptions options;
  options.kind = stats::BootstrapKind::kPercentile;
  const stats::Interval interval = stats::bootstrap_clusters(d.seed, statistic, options).interval;
  return fmt::format("{:.2f} to {:.2f}", interval.lo, interval.hi);
}

// One row a measure: its rank correlation with `target` over runs, given sigma, and over the means of encodings.
std::string relation_table(const std::vector<Group>& groups, const std::vector<Column>& columns, const std::string& target,
                           const toml::table& spec) {
  const toml::table* published = spec["published"].as_table();
  Table table({"measure", "n (" + spec["unit"].value_or(std::string{}) + ")", "ρ over runs", "95 %, seeds resampled",
               "ρ given σ", "encodings", "ρ over their means", "published"});
  for (const Column& column : columns) {
    const RelationData d = relation_data(groups, column.key, target);
    table.add({column.title, std::to_string(d.x.size()), rho(d.x, d.y), rho_interval(d), rho_given_sigma(d),
               std::to_string(d.mean_x.size()), rho(d.mean_x, d.mean_y),
               published == nullptr ? "–" : (*published)[column.title].value_or(std::string("–"))});
  }
  return table.text();
}

// Student's t; where the difference is the same in every pair its p would be 0, however few they are: then p counts signs.
std::string p_of(const std::vector<double>& differences) {
  if (differences.size() < 2) return "–";
  const std::vector<double> none(differences.size(), 0.0);
  const stats::LocationTest exact = stats::paired_location_test(differences, none);
  return fmt::format("{:.2g}", exact.constant ? exact.p : stats::one_sample_t(differences).p);
}

// One row an encoding: the difference of the first measure to the encoding `against`, runs of the same seed (and of the same
// values of the keys averaged over) paired.
std::string difference_table(const std::vector<Group>& groups, const Column& column, const std::string& against,
                             const std::string& unit, const std::vector<std::string>& over) {
  const auto reference = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.label == against; });
  Table table({"encoding", "n (pairs of " + unit + ")", column.title + " minus that of " + against, "p, paired t"});
  if (reference == groups.end()) return table.text();
  const auto value_of = [&](const KeptRun& run) -> const double* {
    const auto found = run.values.find(column.key);
    return found == run.values.end() ? nullptr : &found->second;
  };
  const auto pair_of = [&](const KeptRun& run) -> const double* {
    for (const KeptRun* other : reference->runs) {
      const std::vector<std::string> keys = differing_keys(run.config, other->config);
      const bool same = std::none_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return key == "seed" || std::find(over.begin(), over.end(), key) != over.end();
      });
      if (same) return value_of(*other);
    }
    return nullptr;
  };
  for (const Group& group : groups) {
    if (group.label == against) continue;
    std::vector<double> differences;
    for (const KeptRun* run : group.runs) {
      const double* own = value_of(*run);
      const double* other = pair_of(*run);
      if (own != nullptr && other != nullptr) differences.push_back(*own - *other);
    }
    table.add(
        {group.label, std::to_string(differences.size()), cell(differences, column, differences.size()), p_of(differences)});
  }
  return table.text();
}

// One row a number of a publication: what it is, theirs, ours, how far apart and whether that is within `within`; rows that
// say a status of their own and name no measure (not done, not comparable) need no runs.
std::string reproduction_table(const toml::array& rows, const fs::path& root, const std::string& unit) {
  Table table({"what", "published", "ours", "n (" + unit + ")", "deviation", "status", "how, or why not"});
  for (const toml::node& node : rows) {
    const toml::table* row = node.as_table();
    if (row == nullptr)
      throw DataError({.what = "a row of a reproduction is no table", .expected = "{ what = ..., published = ... }"});
    const auto text = [&](const char* key) { return (*row)[key].value_or(std::string{}); };
    const std::string status = text("status");
    if (text("measure").empty()) {
      table.add({text("what"), text("published"), text("ours").empty() ? "–" : text("ours"), "–", "–", status, text("how")});
      continue;
    }
    std::vector<double> values;
    const std::vector<KeptRun> runs = read_kept_runs(root / text("from"));
    for (const Group& group : grouped(runs, texts(*row, "where"), texts(*row, "over"))) {
      if (group.label == text("label")) values = group.values(text("measure"));
    }
    const Column column{text("measure"), "", (*row)["scale"].value_or(1.0),
                        static_cast<int>((*row)["digits"].value_or(std::int64_t{1})), false};
    const auto published = (*row)["number"].value<double>();
    if (values.empty() || !published) {
      throw DataError(
          {.what = "a reproduced number without kept runs or without the published number", .got = text("what")});
    }
    const double deviation = stats::mean(values) * column.scale - *published;
    const bool holds = std::abs(deviation) <= (*row)["within"].value_or(0.0);
    table.add({text("what"), text("published"), cell(values, column, values.size()), std::to_string(values.size()),
               fmt::format("{:+.{}f}", deviation, column.digits),
               !status.empty() ? status
               : holds         ? "reproduced"
                               : "not reproduced",
               text("how")});
  }
  return table.text();
}

// A table of the tables file: means by default, `relate` for rank correlations, `against` for paired differences.
std::string make_table(const toml::table& spec, const fs::path& root) {
  const std::string unit = spec["unit"].value_or(std::string{});
  if (unit.empty()) {
    throw DataError(
        {.what = "a table without a unit: what does n count?", .expected = "unit = \"seeds\", or graphs, people ..."});
  }
  if (const toml::array* rows = spec["rows"].as_array()) return reproduction_table(*rows, root, unit);
  const std::vector<KeptRun> runs = read_kept_runs(root / spec["from"].value_or(std::string{}));
  std::vector<Column> columns;
  for (const std::string& text : texts(spec, "measures")) {
    columns.push_back(
        parse_column(text, spec["scale"].value_or(1.0), static_cast<int>(spec["digits"].value_or(std::int64_t{1}))));
  }
  if (columns.empty()) throw DataError({.what = "a table without measures", .expected = "measures = [\"key | title\"]"});
  const std::vector<std::string> over = texts(spec, "over");
  const std::vector<Group> groups = grouped(runs, texts(spec, "where"), over);
  if (const auto target = spec["relate"].value<std::string>()) return relation_table(groups, columns, *target, spec);
  if (const auto against = spec["against"].value<std::string>())
    return difference_table(groups, columns[0], *against, unit, over);
  return mean_table(groups, columns, unit, spec["published"].as_table());
}

}  // namespace

std::string fill_tables(const std::string& document_path) {
  const fs::path document(document_path);
  const fs::path spec_path = fs::path(document).replace_extension(".tables.toml");
  const std::string spec_text = read_text_file(spec_path);
  require_shallow_toml(spec_text, spec_path.string());
  toml::table spec;
  try {
    spec = toml::parse(spec_text, spec_path.string());
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
