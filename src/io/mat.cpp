#include "io/mat.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/mat5.h"

namespace locus {
namespace {

// v4 has no file header: a small type number, so one of its first four bytes is zero. v5 begins with text.
bool is_version4(ByteSpan bytes) {
  const ByteSpan front = bytes.first(std::min<std::size_t>(4, bytes.size()));
  return std::find(front.begin(), front.end(), std::byte{0}) != front.end();
}

std::vector<Mat5Entry> scan(ByteSpan bytes, std::string_view file) {
  return is_version4(bytes) ? scan_mat4(bytes, file) : scan_mat5(bytes, file);
}

std::vector<MatVariable> variables_of(const std::vector<Mat5Entry>& entries) {
  std::vector<MatVariable> variables;
  variables.reserve(entries.size());
  for (const Mat5Entry& entry : entries) variables.push_back(entry.variable);
  return variables;
}

std::vector<MatVariable> variables_of(const std::vector<Hdf5Dataset>& datasets) {
  std::vector<MatVariable> variables;
  for (const Hdf5Dataset& d : datasets) {
    if (d.name.starts_with("#")) continue;  // MATLAB's own #refs# and #subsystem#
    const bool text = d.matlab_class == "char" || d.matlab_class == "cell";
    variables.push_back({.name = d.name,
                         .shape = {d.shape.rbegin(), d.shape.rend()},
                         .class_name = d.matlab_class.empty() ? d.type : d.matlab_class,
                         .numeric = d.numeric && !text});
  }
  return variables;
}

std::string described(const std::vector<MatVariable>& variables) {
  std::vector<std::string> lines;
  for (const MatVariable& v : variables) {
    if (lines.size() == 20) {
      lines.push_back(fmt::format("and {} more", variables.size() - 20));
      break;
    }
    lines.push_back(fmt::format("{} {} {}", v.name, shape_text(v.shape), v.class_name));
  }
  return lines.empty() ? "no variables" : join(lines, "; ");
}

}  // namespace

std::size_t choose_mat_variable(const std::vector<MatVariable>& variables, std::string_view name, std::string_view file) {
  if (!name.empty()) {
    std::vector<std::string> names;
    names.reserve(variables.size());
    for (const MatVariable& v : variables) names.push_back(v.name);
    const auto it = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<std::size_t>(it - names.begin());
    if (it == names.end()) {
      const std::string near = nearest_name(name, names);
      throw IoError({.what = "no variable of this name",
                     .where = std::string(file),
                     .got = std::string(name),
                     .expected = "one of: " + described(variables),
                     .hint = near.empty() ? "" : "did you mean " + near + "?"});
    }
    if (!variables[index].numeric) {
      throw IoError({.what = "the variable does not hold real numbers",
                     .where = fmt::format("{}: variable '{}'", file, name),
                     .got = variables[index].class_name});
    }
    return index;
  }
  for (const bool matrix_only : {true, false}) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const auto& shape = variables[i].shape;
      const bool matrix = std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n > 1; }) == 2;
      if (variables[i].numeric && (matrix || !matrix_only)) found.push_back(i);
    }
    if (found.size() == 1) return found[0];
    if (found.size() > 1) break;
  }
  throw IoError({.what = "which variable is meant?",
                 .where = std::string(file),
                 .got = described(variables),
                 .hint = "name the variable, e.g. dataset = \"tc\""});
}

std::vector<MatVariable> list_mat5(ByteSpan bytes, std::string_view file, const ReadLimits&) {
  return variables_of(scan(bytes, file));
}

MatArray parse_mat5(ByteSpan bytes, std::string_view file, std::string_view name, const ReadLimits& limits) {
  const std::vector<Mat5Entry> entries = scan(bytes, file);
  const Mat5Entry& entry = entries[choose_mat_variable(variables_of(entries), name, file)];
  const std::string where = fmt::format("{}: variable '{}'", file, entry.variable.name);
  const ReadLimits bounds = limits.for_file(bytes.size());
  return {entry.variable, entry.version4 ? load_mat4(entry, where, bounds) : load_mat5(entry, where, bounds)};
}

std::vector<MatVariable> list_mat(const std::filesystem::path& path, const ReadLimits& limits) {
  if (is_hdf5(path)) return variables_of(list_hdf5(path, limits));
  return list_mat5(read_file(path, limits.file_bytes), path.string(), limits);
}

std::vector<std::string> read_mat_texts(const std::filesystem::path& path, std::string_view name, const ReadLimits& limits) {
  if (is_hdf5(path)) return read_hdf5_texts(path, name, limits);
  const Bytes bytes = read_file(path, limits.file_bytes);
  const std::string where = fmt::format("{}: variable '{}'", path.string(), name);
  for (const Mat5Entry& entry : scan(bytes, path.string())) {
    if (entry.variable.name == name && !entry.version4) return load_mat5_texts(entry, where, limits.for_file(bytes.size()));
  }
  return {};
}

MatArray read_mat(const std::filesystem::path& path, std::string_view name, const ReadLimits& limits) {
  if (!is_hdf5(path)) return parse_mat5(read_file(path, limits.file_bytes), path.string(), name, limits);
  const std::vector<MatVariable> variables = variables_of(list_hdf5(path, limits));
  const MatVariable& variable = variables[choose_mat_variable(variables, name, path.string())];
  Hdf5Array stored = read_hdf5(path, variable.name, limits);
  return {variable, {variable.shape, fortran_to_c_order(stored.array.values, variable.shape), stored.array.stored_type}};
}

}  // namespace locus
