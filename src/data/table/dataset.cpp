#include "data/table/dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "config/sources.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "data/connectivity.h"
#include "data/frames.h"
#include "data/masking.h"
#include "data/table/images.h"
#include "data/table/splits.h"
#include "data/table/suspicions.h"
#include "data/table/token_table.h"

namespace locus {
namespace {

constexpr std::int64_t kFewestSamples = 20;
constexpr std::size_t kShownClasses = 8;

// Pictures are the source with settings for them.
bool is_images(const RunConfig& config) {
  const auto& sections = source_of(config).sections;
  return std::any_of(sections.begin(), sections.end(), [](const ConfigSection& s) { return s.name == "images"; });
}

// All tokens of a sample as bytes: equal samples have equal ones.
std::vector<std::string> rows_of(const RawTokens& raw) {
  std::vector<std::string> rows(static_cast<std::size_t>(raw.samples));
  for (const RawToken& t : raw.tokens) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (t.is_category()) {
        rows[i] += t.texts[i] + '\0';
        continue;
      }
      for (std::size_t f = 0; f < static_cast<std::size_t>(raw.features); ++f) {
        const auto value = static_cast<float>(t.numbers[i * static_cast<std::size_t>(raw.features) + f]);
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        rows[i].append(bytes, sizeof value);
      }
    }
  }
  return rows;
}

RawColumn one_column(const RawTable& table, const std::string& name, const std::string& key) {
  std::vector<RawColumn> columns = outside_columns(table, name, key);
  if (columns.size() == 1) return std::move(columns[0]);
  throw ConfigError({.what = key + " is one column",
                     .where = name,
                     .got = fmt::format("{} columns", columns.size()),
                     .expected = "one value a sample"});
}

// Groups by number, in the order of their first sample.
std::vector<std::int32_t> numbered(const RawTable& table, const RawColumn& column, const std::string& key,
                                   std::size_t& count) {
  std::map<std::string, std::int32_t> number;
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < column.size(); ++i) {
    if (column.is_missing(i)) {
      throw DataError({.what = fmt::format("the group of a sample is missing in '{}'", column.name),
                       .where = fmt::format("{}, {}", table.source, table.place(i)),
                       .expected = "a group for every sample (" + key + ")",
                       .hint = "remove these samples, or give each a group of its own"});
    }
    out.push_back(number.try_emplace(column.text(i), static_cast<std::int32_t>(number.size())).first->second);
  }
  count = number.size();
  return out;
}

SplitInput split_input(const RawData& raw, const RawTarget& target, const TableConfig& config, DataAudit& audit) {
  SplitInput in;
  in.samples = raw.tokens.samples;
  in.twin = first_equal_rows(rows_of(raw.tokens));
  in.labels = target.labels;
  in.classes = target.classes;
  in.source = raw.tokens.source;
  in.places = raw.tokens.sample_names;
  std::int64_t twins = 0;
  for (std::size_t i = 0; i < in.twin.size(); ++i) twins += in.twin[i] == static_cast<std::int64_t>(i) ? 0 : 1;
  if (twins > 0) audit.note("samples", fmt::format("{} equal an earlier one in every token", twins));
  if (!config.groups.empty() && config.groups != "none") {
    std::size_t count = 0;
    in.groups =
        numbered(raw.outside, one_column(raw.outside, config.groups, "table.groups"), "table.groups (--groups)", count);
    audit.fact("groups", fmt::format("{} of '{}'", count, config.groups));
  }
  if (!config.split_column.empty()) {
    const RawColumn column = one_column(raw.outside, config.split_column, "table.split_column");
    for (std::int64_t i = 0; i < column.size(); ++i) in.given.push_back(column.text(i));
  }
  return in;
}

void say_split(const SampleSplit& split, const TableConfig& config, DataAudit& audit) {
  static const std::map<TableSplit, std::string> kWords = {
      {TableSplit::kRandom, "drawn at random"},
      {TableSplit::kStratified, "drawn from each class alike"},
      {TableSplit::kGroup, "whole groups"},
      {TableSplit::kTime, "the end of the table (table.split=random draws samples instead)"},
      {TableSplit::kGiven, "as given"}};
  const std::string seed =
      split.kind == TableSplit::kTime || split.kind == TableSplit::kGiven ? "" : fmt::format(", seed {}", config.split_seed);
  audit.fact("split", fmt::format("{} train, {} validation, {} test: {}{}", split.samples_of(Side::kTrain).size(),
                                  split.samples_of(Side::kValidation).size(), split.samples_of(Side::kTest).size(),
                                  kWords.at(split.kind), seed));
}

void say_target(const RawTarget& target, DataAudit& audit) {
  if (!target.is_given()) {
    audit.fact("target", "none: the values of hidden tokens are predicted (--target names a column)");
    return;
  }
  if (target.task == TableTask::kRegress) {
    audit.fact("target", fmt::format("{}: numbers ({})", few_of(target.names), target.why));
    return;
  }
  std::vector<std::int64_t> count(target.classes.size());
  for (const std::int32_t l : target.labels) ++count[static_cast<std::size_t>(l)];
  std::vector<std::string> shown;
  for (std::size_t c = 0; c < std::min(kShownClasses, count.size()); ++c)
    shown.push_back(fmt::format("{} {}", target.classes[c], count[c]));
  audit.fact("target", fmt::format("{}: {} classes ({}): {}{}", target.names[0], target.classes.size(), target.why,
                                   join(shown, ", "), count.size() > kShownClasses ? ", ..." : ""));
}

// A part of the samples, with answers.
Examples examples_of(const TableCoder& coder, const RawData& raw, const RawTarget& target,
                     const std::vector<std::int64_t>& samples) {
  Examples e = code_samples(coder, raw.tokens, samples);
  const auto outputs = static_cast<std::size_t>(target.values.cols());
  for (const std::int64_t i : samples) {
    if (!target.labels.empty()) e.labels.push_back(target.labels[static_cast<std::size_t>(i)]);
    for (std::size_t o = 0; target.task == TableTask::kRegress && o < outputs; ++o) {
      const double v = target.values(i, static_cast<std::ptrdiff_t>(o));
      e.targets.push_back(static_cast<float>((v - coder.target_mean[o]) / coder.target_sd[o]));
    }
  }
  return e;
}

// Samples without any value say nothing: they would be hidden as a whole.
void refuse_empty_samples(const RawTokens& raw) {
  for (std::int64_t i = 0; i < raw.samples; ++i) {
    bool any = false;
    for (std::size_t t = 0; t < raw.tokens.size() && !any; ++t) any = !raw.is_missing(i, t);
    if (any) continue;
    throw DataError({.what = "a sample has no value at all",
                     .where = fmt::format("{}, {}", raw.source, raw.sample_names[static_cast<std::size_t>(i)]),
                     .expected = "a value in one column at least",
                     .hint = "remove the sample"});
  }
}

void refuse_few_samples(const RawTokens& raw) {
  if (raw.samples >= kFewestSamples) return;
  throw DataError({.what = "too few samples to learn from",
                   .where = raw.source,
                   .got = fmt::format("{} samples of {} tokens", raw.samples, raw.tokens.size()),
                   .expected = fmt::format("at least {} rows, one sample each", kFewestSamples),
                   .hint = "rows are samples and columns are tokens: is the table transposed?"});
}

// The tokens at these places.
TokenInfo part_of(const TokenInfo& all, const std::vector<std::size_t>& places) {
  TokenInfo out;
  out.label_names = all.label_names;
  if (all.coordinates.rows() > 0)
    out.coordinates = MatrixD(static_cast<std::ptrdiff_t>(places.size()), all.coordinates.cols());
  for (std::size_t t = 0; t < places.size(); ++t) {
    out.names.push_back(all.names[places[t]]);
    if (!all.labels.empty()) out.labels.push_back(all.labels[places[t]]);
    if (!all.hemispheres.empty()) out.hemispheres.push_back(all.hemispheres[places[t]]);
    for (std::ptrdiff_t x = 0; x < out.coordinates.cols(); ++x)
      out.coordinates(static_cast<std::ptrdiff_t>(t), x) = all.coordinates(static_cast<std::ptrdiff_t>(places[t]), x);
  }
  return out;
}

// What is known of the tokens that are left: names, places, labels, and how alike they are in training.
void describe_tokens(const RawData& raw, const RunConfig& config, const TableCoder& coder, Dataset& d) {
  TokenInfo all = raw.tokens.places;
  std::map<std::string, std::size_t> place;
  for (const RawToken& t : raw.tokens.tokens) {
    place[t.name] = all.names.size();
    all.names.push_back(t.name);
  }
  if (const std::string& file = table_settings(config).labels; !file.empty()) add_token_table(file, all);
  std::vector<std::size_t> kept;
  for (const TokenCode& t : coder.tokens) kept.push_back(place.at(t.name));
  TokenInfo& info = d.tokens_info;
  info = part_of(all, kept);
  info.coordinates_are_grid = fills_grid(info.coordinates);
  if (!info.labels.empty()) info.truths["networks"] = same_label_matrix(info.labels);
  const auto is_category = [](const TokenCode& c) { return c.is_category(); };
  if (std::any_of(coder.tokens.begin(), coder.tokens.end(), is_category)) return;
  MatrixD correlation = token_moments(d.split("train"), d.tokens, d.features).correlation();
  info.graph = neighbour_graph(correlation, config.series.graph_neighbours);
  info.truths["correlation"] = std::move(correlation);
}

void size_dataset(const RunConfig& config, const RawTarget& target, const TableCoder& coder, Dataset& d) {
  d.name = config.study;
  d.task = kTableTaskNames[static_cast<std::size_t>(target.task)];
  d.tokens = static_cast<std::int64_t>(coder.tokens.size());
  d.features = coder.features;
  d.outputs = target.task == TableTask::kClassify  ? static_cast<std::int64_t>(target.classes.size())
              : target.task == TableTask::kRegress ? static_cast<std::int64_t>(target.names.size())
                                                   : d.features;
  d.class_names = target.classes;
  d.output_names = target.task == TableTask::kRegress ? target.names : std::vector<std::string>{};
}

}  // namespace

TableConfig table_settings(const RunConfig& config) {
  TableConfig out = config.own.of<TableConfig>();
  const auto found = std::find(kTableTaskNames.begin(), kTableTaskNames.end(), config.task);
  if (found != kTableTaskNames.end()) out.task = static_cast<TableTask>(found - kTableTaskNames.begin());
  return out;
}

RawData read_raw_data(const RunConfig& config, DataAudit& audit) {
  if (is_images(config)) {
    RawImages images = read_images(config.own.of<ImagesConfig>(), audit);
    return {std::move(images.outside), std::move(images.tokens)};
  }
  const TableConfig table = table_settings(config);
  RawData out;
  out.outside = read_raw_table(table);
  audit.fact("file", fmt::format("{} ({}): {} samples{}", table.file, out.outside.format, out.outside.samples,
                                 out.outside.lines.empty() ? ""
                                 : out.outside.has_header  ? ", the first row names the columns"
                                                           : ", no header"));
  out.tokens = pick_tokens(out.outside, table, audit);
  return out;
}

std::string task_of_target(const RunConfig& config) {
  const TableConfig table = table_settings(config);
  RawTable outside;
  if (is_images(config)) {
    DataAudit unsaid;
    outside = read_images(config.own.of<ImagesConfig>(), unsaid).outside;
  } else {
    outside = read_raw_table(table);
  }
  return std::string(kTableTaskNames[static_cast<std::size_t>(read_target(outside, table).task)]);
}

Examples code_samples(const TableCoder& coder, const RawTokens& raw, const std::vector<std::int64_t>& samples) {
  CodedTokens coded = coder.encode(raw, samples);
  Examples e;
  e.count = static_cast<std::int64_t>(samples.size());
  e.ids = std::move(coded.ids);
  e.values = std::move(coded.values);
  e.missing = std::move(coded.missing);
  return e;
}

TableData read_table_data(const RunConfig& config, DataAudit& audit) {
  const TableConfig table = table_settings(config);
  const RawData raw = read_raw_data(config, audit);
  const RawTarget target = read_target(raw.outside, table);
  say_target(target, audit);
  refuse_few_samples(raw.tokens);
  refuse_empty_samples(raw.tokens);
  const SplitInput input = split_input(raw, target, table, audit);
  const SampleSplit split = split_samples(input, table, audit);
  say_split(split, table, audit);
  const std::vector<std::int64_t> train = split.samples_of(Side::kTrain);
  TableData out;
  out.coder = fit_coder({raw.tokens, target, train}, table, audit);
  look_for_suspicions({raw.tokens, target, train}, out.coder, table, audit);
  Dataset& d = out.dataset;
  size_dataset(config, target, out.coder, d);
  bool missing = false;
  for (std::size_t s = 0; s < kSideNames.size(); ++s) {
    const std::vector<std::int64_t> samples = split.samples_of(static_cast<Side>(s));
    if (samples.empty()) continue;
    Examples e = examples_of(out.coder, raw, target, samples);
    for (const std::int64_t i : samples) {
      if (!input.groups.empty()) e.cluster.push_back(input.groups[static_cast<std::size_t>(i)]);
    }
    missing = missing || !e.missing.empty();
    d.splits.emplace_back(std::string(kSideNames[s]), std::move(e));
  }
  for (auto& [name, e] : d.splits) {
    if (missing && e.missing.empty()) e.missing.assign(static_cast<std::size_t>(e.count * d.tokens), 0);
    hide_missing(e, d.tokens, Hiding::kMissingOnly);
    d.description["samples." + name] = fmt::format("{}", e.count);
  }
  describe_tokens(raw, config, out.coder, d);
  if (!target.is_given()) fill_evaluation_masks(d, config.mask);
  d.description["source"] = raw.tokens.source;
  d.description[kAuditKey] = audit.to_json().dump();
  d.description[kCoderKey] = out.coder.to_json().dump();
  d.hash = content_hash(d);
  return out;
}

Dataset make_table_dataset(const RunConfig& config, const std::string&) {
  DataAudit audit;
  TableData data = read_table_data(config, audit);
  audit.require_no_doubts(data.dataset.description.at("source"));
  return std::move(data.dataset);
}

}  // namespace locus
