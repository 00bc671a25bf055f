#include "run/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/file.h"
#include "run/layout.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxMetricsBytes = std::uint64_t{256} << 20;
constexpr std::size_t kProblemsNamed = 5;
constexpr std::int64_t kTailBytes = std::int64_t{16} << 10;
constexpr std::string_view kReserved[] = {"epoch", "step", "seconds", "lr", "grad_norm"};

bool is_reserved(std::string_view key) {
  return std::find(std::begin(kReserved), std::end(kReserved), key) != std::end(kReserved);
}

void check_row(const MetricRow& row) {
  std::set<std::string_view> seen;
  for (const auto& [key, value] : row.values) {
    LOCUS_CHECK(!key.empty() && !is_reserved(key) && seen.insert(key).second, "bad or repeated metric name: " + key);
  }
}

double number_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) throw IoError({.what = fmt::format("'{}' is missing", key)});
  const auto number = number_of_json(*it);
  if (!number) throw IoError({.what = fmt::format("'{}' is no number", key)});
  return *number;
}

std::int64_t count_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer() || it->get<std::int64_t>() < 0) {
    throw IoError({.what = fmt::format("'{}' is missing or no count", key)});
  }
  return it->get<std::int64_t>();
}

// What a run writes has all of the first five; a line from elsewhere is read without times and rates, too.
enum class Need { kAll, kPlace };

MetricRow parse_row(std::string_view line, Need need = Need::kAll) {
  const Json object = Json::parse(line);
  if (!object.is_object()) throw IoError({.what = "no JSON object"});
  const auto measured = [&](const char* key) {
    return need == Need::kAll || object.contains(key) ? number_at(object, key) : std::numeric_limits<double>::quiet_NaN();
  };
  MetricRow row;
  row.epoch = count_at(object, "epoch");
  row.step = count_at(object, "step");
  row.seconds = measured("seconds");
  row.lr = measured("lr");
  row.grad_norm = measured("grad_norm");
  for (const auto& [key, value] : object.items()) {
    if (!is_reserved(key)) row.values.emplace_back(key, number_at(object, key.c_str()));
  }
  return row;
}

// Bytes up to and with the `count`-th newline; npos when there are fewer.
std::size_t length_of_lines(std::string_view text, std::int64_t count) {
  std::size_t length = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t newline = text.find('\n', length);
    if (newline == std::string_view::npos) return newline;
    length = newline + 1;
  }
  return length;
}

[[noreturn]] void throw_unlike_checkpoint(const fs::path& where, std::string what, std::string got,
                                          std::string expected = {}) {
  throw IoError({.what = std::move(what),
                 .where = where.string(),
                 .got = std::move(got),
                 .expected = std::move(expected),
                 .hint = "put the file back as it was, or choose another --out and start anew"});
}

// The CSV that goes with some JSON lines.
std::string csv_of_lines(std::string_view lines, const fs::path& where) {
  std::string csv = lines.empty() ? "" : std::string(kMetricsCsvHeader);
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < lines.size();) {
    ++number;
    const std::size_t newline = lines.find('\n', begin);
    try {
      csv += metrics_csv_lines(parse_row(lines.substr(begin, newline - begin)));
    } catch (const IoError& e) {
      throw_unlike_checkpoint(where, "a row of the metrics is damaged", fmt::format("line {}: {}", number, e.parts().what));
    }
    begin = newline + 1;
  }
  return csv;
}

// The first line of `a` that `b` has not at its place.
std::string first_difference(std::string_view a, std::string_view b) {
  const std::vector<std::string> x = split(a, '\n');
  const std::vector<std::string> y = split(b, '\n');
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i >= y.size() || x[i] != y[i])
      return fmt::format("\"{}\" where {} has \"{}\"", x[i], run_files::kMetricsCsv, i < y.size() ? y[i] : "");
  }
  return fmt::format("fewer rows than {}", run_files::kMetricsCsv);
}

}  // namespace

std::optional<double> MetricRow::find(std::string_view name) const {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return std::nullopt;
}

MetricKey parse_metric_key(std::string_view key) {
  const std::size_t first = key.find('.');
  if (first == std::string_view::npos) return {"", std::string(key), ""};
  const std::size_t second = key.find('.', first + 1);
  if (second == std::string_view::npos) return {std::string(key.substr(0, first)), std::string(key.substr(first + 1)), ""};
  return {std::string(key.substr(0, first)), std::string(key.substr(first + 1, second - first - 1)),
          std::string(key.substr(second + 1))};
}

std::string metrics_json_line(const MetricRow& row) {
  std::string line = fmt::format(R"({{"epoch":{},"step":{},"seconds":{},"lr":{},"grad_norm":{})", row.epoch, row.step,
                                 json_number(row.seconds), json_number(row.lr), json_number(row.grad_norm));
  for (const auto& [key, value] : row.values) line += fmt::format(",{}:{}", json_text(key), json_number(value));
  return line + "}\n";
}

std::string metrics_csv_lines(const MetricRow& row) {
  std::string lines;
  const auto add = [&](const MetricKey& key, double value) {
    lines += fmt::format("{},{},{},{},{},{}\n", row.epoch, row.step, csv_field(key.split), csv_field(key.condition),
                         csv_field(key.measure), shortest(value));
  };
  add({"train", "lr", ""}, row.lr);
  add({"train", "grad_norm", ""}, row.grad_norm);
  for (const auto& [key, value] : row.values) add(parse_metric_key(key), value);
  return lines;
}

MetricsWriter::MetricsWriter(const fs::path& folder)
    : jsonl_(folder / run_files::kMetricsJsonl), csv_(folder / run_files::kMetricsCsv) {
  const std::string text = read_text_file(jsonl_.path());
  rows_ = std::count(text.begin(), text.end(), '\n');
  if (csv_.size() > 0) csv_hash_.update(read_text_file(csv_.path()));
}

void MetricsWriter::append(const MetricRow& row) {
  check_row(row);
  const std::uint64_t before = jsonl_.size();
  jsonl_.append(metrics_json_line(row));
  const std::string lines = (csv_.size() == 0 ? std::string(kMetricsCsvHeader) : std::string()) + metrics_csv_lines(row);
  try {
    csv_.append(lines);
  } catch (...) {
    jsonl_.truncate(before);
    throw;
  }
  csv_hash_.update(lines);
  ++rows_;
}

MetricsPosition MetricsWriter::position() const {
  Sha256 hash = csv_hash_;
  return {rows_, static_cast<std::int64_t>(csv_.size()), hash.hex()};
}

MetricsWriter::Cut MetricsWriter::plan_cut(const MetricsPosition& position) const {
  LOCUS_CHECK(position.rows >= 0 && position.csv_bytes >= 0, "a position is not negative");
  const std::string text = read_text_file(jsonl_.path());
  const std::size_t length = length_of_lines(text, position.rows);
  if (length == std::string_view::npos) {
    throw_unlike_checkpoint(jsonl_.path(), "the metrics do not reach as far as the checkpoint",
                            fmt::format("{} rows", std::count(text.begin(), text.end(), '\n')),
                            fmt::format("{} rows", position.rows));
  }
  const std::string_view kept = std::string_view(text).substr(0, length);
  const std::string csv = read_text_file(csv_.path());
  const auto csv_length = static_cast<std::size_t>(position.csv_bytes);
  const std::string_view csv_kept = std::string_view(csv).substr(0, csv_length);
  const std::string from_json = csv_of_lines(kept, jsonl_.path());
  Cut cut;
  bool csv_is_good = csv.size() >= csv_length && (csv_length == 0 ? position.rows == 0 : csv_kept.back() == '\n');
  if (!position.csv_sha256.empty()) {
    csv_is_good = csv_is_good && sha256_hex(csv_kept) == position.csv_sha256;
    if (sha256_hex(from_json) != position.csv_sha256) {
      throw_unlike_checkpoint(
          jsonl_.path(), "the rows of the metrics are not those that were written",
          csv_is_good ? first_difference(from_json, csv_kept) : fmt::format("{} is damaged, too", run_files::kMetricsCsv));
    }
  } else if (csv_is_good && from_json != csv_kept) {
    throw_unlike_checkpoint(jsonl_.path(),
                            fmt::format("{} and {} do not say the same", run_files::kMetricsJsonl, run_files::kMetricsCsv),
                            first_difference(from_json, csv_kept));
  } else if (position.rows > 0) {
    cut.note = "the metrics so far are unverified: the checkpoint is from before their checksum was recorded";
  }
  if (!csv_is_good)
    cut.note = fmt::format("{} was damaged and is made again from {}", run_files::kMetricsCsv, run_files::kMetricsJsonl);
  cut.csv = csv_is_good ? std::string(csv_kept) : from_json;
  cut.json_bytes = length;
  if (position.rows > 0) {
    const std::size_t last = length_of_lines(kept, position.rows - 1);
    cut.seconds = parse_row(kept.substr(last, length - last - 1)).seconds;
  }
  return cut;
}

double MetricsWriter::truncate(const MetricsPosition& position) {
  const Cut cut = plan_cut(position);
  note_ = cut.note;
  replace_csv(cut.csv);
  jsonl_.truncate(cut.json_bytes);
  rows_ = position.rows;
  return cut.seconds;
}

void MetricsWriter::replace_csv(const std::string& text) {
  const fs::path path = csv_.path();
  if (text.size() <= csv_.size() && read_text_file(path).starts_with(text)) {
    csv_.truncate(text.size());
  } else {
    csv_.close();
    write_file_atomic(path, text);
    csv_ = AppendFile(path);
  }
  csv_hash_ = Sha256();
  csv_hash_.update(text);
}

void MetricsWriter::sync() {
  jsonl_.sync();
  csv_.sync();
}

std::vector<std::string> MetricsTable::names() const {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const MetricRow& row : rows) {
    for (const auto& [key, value] : row.values) {
      if (seen.insert(key).second) names.push_back(key);
    }
  }
  return names;
}

std::optional<double> MetricsTable::last(std::string_view name) const {
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (const auto value = row->find(name)) return value;
  }
  return std::nullopt;
}

std::vector<std::pair<std::int64_t, double>> MetricsTable::series(std::string_view name) const {
  std::vector<std::pair<std::int64_t, double>> points;
  for (const MetricRow& row : rows) {
    if (const auto value = row.find(name)) points.emplace_back(row.epoch, *value);
  }
  return points;
}

MetricsTable read_metrics(const fs::path& jsonl, std::vector<std::string>& problems, std::size_t most) {
  MetricsTable table;
  std::error_code code;
  if (!fs::exists(jsonl, code)) return table;
  const std::string text = read_text_file(jsonl, kMaxMetricsBytes);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  std::size_t stride = 1;
  while (lines / stride > most) stride *= 2;
  table.evaluations = lines;
  std::size_t begin = 0;
  std::size_t bad = 0;
  for (std::size_t number = 1; number <= lines; ++number) {
    const std::size_t newline = text.find('\n', begin);
    const std::string_view line = std::string_view(text).substr(begin, newline - begin);
    begin = newline + 1;
    if ((number - 1) % stride != 0 && number != lines) continue;
    try {
      table.rows.push_back(parse_row(line, Need::kPlace));
    } catch (const IoError& e) {
      if (++bad <= kProblemsNamed)
        problems.push_back(fmt::format("{}: line {} is left out: {}", jsonl.string(), number, e.parts().what));
    }
  }
  if (bad > kProblemsNamed)
    problems.push_back(fmt::format("{}: {} more lines are left out", jsonl.string(), bad - kProblemsNamed));
  if (begin < text.size())
    problems.push_back(fmt::format("{}: line {} is incomplete and left out", jsonl.string(), lines + 1));
  return table;
}

std::optional<MetricRow> read_last_metrics(const fs::path& jsonl) {
  std::error_code code;
  if (!fs::exists(jsonl, code)) return std::nullopt;
  require_regular_file(jsonl);
  std::ifstream file(jsonl, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::int64_t>(file.tellg());
  for (std::int64_t part = kTailBytes; size > 0; part *= 16) {
    const std::int64_t start = std::max<std::int64_t>(0, size - part);
    std::string text(static_cast<std::size_t>(size - start), '\0');
    file.seekg(start);
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return std::nullopt;
    // The first line is whole where the file begins or a line ends before it.
    for (std::size_t end = text.rfind('\n'); end != std::string::npos && end > 0;) {
      const std::size_t before = text.rfind('\n', end - 1);
      if (before == std::string::npos && start > 0) break;
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      try {
        return parse_row(std::string_view(text).substr(begin, end - begin), Need::kPlace);
      } catch (const IoError&) {
        end = before;
      }
    }
    if (start == 0 || part > static_cast<std::int64_t>(kMaxMetricsBytes)) break;
  }
  return std::nullopt;
}

}  // namespace locus
