#include "data/table/raw_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/atlas.h"
#include "data/table/sample_order.h"
#include "io/array.h"
#include "io/axis_names.h"
#include "io/file.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

Presence presence(HeaderRow header) {
  return header == HeaderRow::kAuto ? Presence::kAuto : header == HeaderRow::kYes ? Presence::kYes : Presence::kNo;
}

bool holds_many(FileFormat format) {
  return format == FileFormat::kNpz || format == FileFormat::kMat || format == FileFormat::kHdf5;
}

// Numbers where every cell is one or missing, else texts as they stand.
RawColumn column_of_cells(std::string name, const Table& table, std::size_t column) {
  RawColumn out;
  out.name = std::move(name);
  for (const auto& row : table.rows) {
    const auto value = parse_cell(row[column]);
    if (!value) {
      out.numbers.clear();
      break;
    }
    out.numbers.push_back(*value);
  }
  if (!out.numbers.empty() || table.rows.empty()) return out;
  for (const auto& row : table.rows) out.texts.emplace_back(is_missing(row[column]) ? "" : trim(row[column]));
  return out;
}

void take_text(const Table& text, RawTable& out) {
  out.format = "text";
  out.samples = static_cast<std::int64_t>(text.rows.size());
  out.lines = text.lines;
  out.has_header = !text.header.empty();
  for (std::size_t c = 0; c < text.columns(); ++c) {
    const std::string name = out.has_header ? std::string(trim(text.header[c])) : std::to_string(c + 1);
    out.columns.push_back(column_of_cells(name, text, c));
  }
}

std::vector<RawColumn> columns_of_matrix(const MatrixD& values, const std::vector<std::string>& names) {
  std::vector<RawColumn> out;
  for (std::ptrdiff_t c = 0; c < values.cols(); ++c) {
    RawColumn column;
    column.name = names.empty() ? std::to_string(c + 1) : names[static_cast<std::size_t>(c)];
    for (std::ptrdiff_t r = 0; r < values.rows(); ++r) column.numbers.push_back(values(r, c));
    out.push_back(std::move(column));
  }
  return out;
}

// The array that holds the samples: named, or the only one of two or three axes that is not spoken for.
std::string samples_array(const TableConfig& config) {
  if (!config.dataset.empty()) return config.dataset;
  std::vector<std::string> fits, all;
  for (const ArrayEntry& e : list_arrays(config.file)) {
    all.push_back(e.name + " " + shape_text(e.shape));
    const bool asked = std::find(config.target.begin(), config.target.end(), e.name) != config.target.end() ||
                       e.name == config.groups || e.name == config.split_column;
    const auto longer = std::count_if(e.shape.begin(), e.shape.end(), [](std::int64_t n) { return n > 1; });
    if (!asked && longer >= 2) fits.push_back(e.name);
  }
  if (fits.size() == 1) return fits[0];
  throw DataError({.what = "which array holds the samples?",
                   .where = config.file,
                   .got = all.empty() ? "no arrays" : join(all, "; "),
                   .expected = "one array of samples x tokens (x features)",
                   .hint = "name it: table.dataset=X"});
}

void take_array(const TableConfig& config, FileFormat format, RawTable& out) {
  MatrixOptions options;
  if (holds_many(format)) options.dataset = samples_array(config);
  NdArray array = read_array(config.file, options);
  if (array.shape.size() < 2 || array.shape.size() > 3) {
    throw DataError({.what = "these are no samples x tokens",
                     .where = config.file,
                     .got = "shape " + shape_text(array.shape),
                     .expected = "two axes, samples x tokens, or three, samples x tokens x features",
                     .hint = "pictures (samples x height x width) are read with images.files"});
  }
  out.samples = array.shape[0];
  if (array.shape.size() == 2) {
    array.values = {};  // the matrix, which has names, is as large again
    const NamedMatrix named = read_matrix(config.file, options);
    out.has_header = !named.column_names.empty();
    out.columns = columns_of_matrix(named.values, named.column_names);
    return;
  }
  out.features = array.shape[2];
  for (std::int64_t t = 0; t < array.shape[1]; ++t) out.vector_names.push_back(std::to_string(t + 1));
  out.vectors = std::move(array.values);
}

// Tokens are known by their names from here on.
void refuse_equal_names(const RawTable& table) {
  std::set<std::string> seen;
  for (const RawColumn& c : table.columns) {
    if (c.name.empty() || seen.insert(c.name).second) continue;
    throw DataError({.what = "two columns have one name",
                     .where = table.source,
                     .got = "'" + c.name + "'",
                     .expected = "a name for each column",
                     .hint = "rename one of them; a file without a header is read with table.header=no"});
  }
}

[[noreturn]] void wrong_length(const RawTable& table, const std::string& name, std::int64_t rows, const std::string& key) {
  throw DataError({.what = fmt::format("{} and the samples do not have the same number of rows", key),
                   .where = name,
                   .got = fmt::format("{} rows", rows),
                   .expected = fmt::format("{}, as many as samples in {}", table.samples, table.source),
                   .hint = "does one of the files have a header that the other lacks? (table.header=yes or no)"});
}

std::vector<RawColumn> columns_of_file(const std::string& file) {
  const FileFormat format = detect_format(file);
  if (format == FileFormat::kText) {
    RawTable table;
    table.source = file;
    take_text(read_table(file), table);
    return table.columns;
  }
  if (format == FileFormat::kNpy) {
    RawColumn texts;
    texts.name = fs::path(file).stem().string();
    texts.texts = npy_texts(read_file(file), file);
    if (!texts.texts.empty()) return {texts};
  }
  const NamedMatrix named = read_matrix(file);
  std::vector<RawColumn> out = columns_of_matrix(named.values, named.column_names);
  if (out.size() == 1) out[0].name = fs::path(file).stem().string();
  return out;
}

// An array beside the samples: texts, a vector of numbers, or several columns of numbers.
std::vector<RawColumn> columns_of_array(const RawTable& table, const std::string& name) {
  RawColumn texts;
  texts.name = name;
  try {
    texts.texts = read_texts(table.source, name, {});
  } catch (const Error&) {  // numbers
  }
  if (!texts.texts.empty()) return {texts};
  MatrixD values = to_matrix(read_array(table.source, {.dataset = name}), table.source);
  if (values.rows() == 1 && values.cols() == table.samples) {  // MATLAB's row vectors
    MatrixD column(values.cols(), 1);
    for (std::ptrdiff_t i = 0; i < values.cols(); ++i) column(i, 0) = values(0, i);
    values = std::move(column);
  }
  std::vector<std::string> names;
  for (std::ptrdiff_t c = 0; c < values.cols(); ++c)
    names.push_back(values.cols() == 1 ? name : fmt::format("{} {}", name, c + 1));
  return columns_of_matrix(values, names);
}

bool has_array(const RawTable& table, const std::string& name) {
  if (!fs::is_regular_file(table.source) || !holds_many(detect_format(table.source))) return false;
  const auto arrays = list_arrays(table.source);
  return std::any_of(arrays.begin(), arrays.end(), [&](const ArrayEntry& e) { return e.name == name; });
}

}  // namespace

bool RawColumn::is_missing(std::int64_t sample) const {
  const auto i = static_cast<std::size_t>(sample);
  return is_text() ? texts[i].empty() : std::isnan(numbers[i]);
}

std::string RawColumn::text(std::int64_t sample) const {
  const auto i = static_cast<std::size_t>(sample);
  if (is_text()) return texts[i];
  return std::isnan(numbers[i]) ? "" : shortest(numbers[i] + 0.0);
}

std::string RawTable::place(std::int64_t sample) const {
  if (!lines.empty()) return fmt::format("line {}", lines[static_cast<std::size_t>(sample)]);
  return fmt::format("sample {}", sample + 1);
}

RawTable read_raw_table(const TableConfig& config) {
  RawTable out;
  out.source = config.file;
  const FileFormat format = detect_format(config.file);
  out.format = format_name(format);
  if (format == FileFormat::kText) {
    take_text(read_table(config.file, {.header = presence(config.header)}), out);
  } else {
    take_array(config, format, out);
  }
  refuse_equal_names(out);
  if (out.samples == 0) {
    throw DataError(
        {.what = "the table holds no samples", .where = config.file, .got = "no rows", .expected = "one sample a row"});
  }
  return out;
}

std::int64_t find_column(const RawTable& table, const std::string& name) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].name == name) return static_cast<std::int64_t>(c);
  }
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = code == std::errc() && end == name.data() + name.size();
  return is_number && number >= 1 && number <= static_cast<std::int64_t>(table.columns.size()) ? number - 1 : -1;
}

std::int64_t require_column(const RawTable& table, const std::string& name, const std::string& key) {
  if (const std::int64_t found = find_column(table, name); found >= 0) return found;
  std::vector<std::string> names;
  for (const RawColumn& c : table.columns) names.push_back(c.name);
  const std::string near = nearest_name(name, names);
  throw ConfigError({.what = fmt::format("{} names a column that the table does not have", key),
                     .where = table.source,
                     .got = name,
                     .expected = table.has_header
                                     ? some_of(names)
                                     : fmt::format("a number from 1 to {}: the table has no header", names.size()),
                     .hint = near.empty() ? "" : "did you mean " + near + "?"});
}

std::vector<RawColumn> outside_columns(const RawTable& table, const std::string& name, const std::string& key) {
  std::vector<RawColumn> out;
  if (const std::int64_t c = find_column(table, name); c >= 0) {
    out = {table.columns[static_cast<std::size_t>(c)]};
  } else if (has_array(table, name)) {
    out = columns_of_array(table, name);
  } else if (fs::is_regular_file(name)) {
    out = in_order_of_samples(table, columns_of_file(name), name, key);
  } else {
    if (name.find('/') != std::string::npos || fs::path(name).has_extension()) require_regular_file(name);
    require_column(table, name, key);
  }
  for (const RawColumn& c : out) {
    if (c.size() != table.samples) wrong_length(table, name, c.size(), key);
  }
  return out;
}

}  // namespace locus
