#include "convert.h"

#include <fmt/core.h>

#include "core/error.h"

namespace locus::python {
namespace {

template <class T>
using Rows = py::array_t<T, py::array::c_style | py::array::forcecast>;

std::string shape_text(const py::array& a) {
  std::string text;
  for (py::ssize_t i = 0; i < a.ndim(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(a.shape(i));
  return "(" + text + ")";
}

[[noreturn]] void wrong_shape(const char* name, const py::array& a, const std::string& expected) {
  throw DataError({.what = "an array has the wrong shape", .where = name, .got = shape_text(a), .expected = expected});
}

bool is_integer(const py::array& a) { return a.dtype().kind() == 'i' || a.dtype().kind() == 'u' || a.dtype().kind() == 'b'; }

void require_numbers(const py::array& a, const char* name) {
  if (is_integer(a) || a.dtype().kind() == 'f') return;
  throw DataError({.what = "an array does not hold numbers",
                   .where = name,
                   .got = py::str(a.dtype()).cast<std::string>(),
                   .expected = "integers or floating-point numbers"});
}

// Smaller integers than the library's are checked before they are narrowed.
Rows<std::int16_t> ids_of(const py::array& x) {
  if (!is_integer(x))
    throw DataError({.what = "this model reads tokens by number",
                     .where = "X",
                     .got = py::str(x.dtype()).cast<std::string>(),
                     .expected = "an array of integers"});
  if (x.dtype().num() == py::dtype::of<std::int16_t>().num()) return Rows<std::int16_t>(x);
  const Rows<std::int64_t> wide(x);
  for (py::ssize_t i = 0; i < wide.size(); ++i) {
    const std::int64_t v = wide.data()[i];
    if (v < -1 || v > INT16_MAX)
      throw DataError(
          {.what = "no such token", .where = "X", .got = std::to_string(v), .expected = "-1 (blank), 0, 1, ..."});
  }
  return Rows<std::int16_t>(x);
}

}  // namespace

py::object to_python(const Json& json) {
  if (json.is_null()) return py::none();
  if (json.is_boolean()) return py::bool_(json.get<bool>());
  if (json.is_number_integer()) return py::int_(json.get<std::int64_t>());
  if (json.is_number()) return py::float_(json.get<double>());
  if (json.is_string()) return py::str(json.text());
  if (json.is_array()) {
    py::list out;
    for (const Json& item : json) out.append(to_python(item));
    return out;
  }
  py::dict out;
  for (const auto& [key, value] : json.items()) out[py::str(key)] = to_python(value);
  return out;
}

MatrixD matrix_of(const py::array& array) {
  const Rows<double> rows(array);
  if (rows.ndim() != 2) wrong_shape("a matrix", array, "(rows, columns)");
  MatrixD out(rows.shape(0), rows.shape(1));
  std::copy_n(rows.data(), rows.size(), out.values().begin());
  return out;
}

ValueArray values_of(const py::array& x, const char* name) {
  require_numbers(x, name);
  ValueArray out;
  out.array = Rows<float>(x);
  if (out.array.ndim() != 2 && out.array.ndim() != 3)
    wrong_shape(name, x, "(samples, tokens) or (samples, tokens, features)");
  out.count = out.array.shape(0);
  out.tokens = out.array.shape(1);
  out.features = out.array.ndim() == 3 ? out.array.shape(2) : 1;
  return out;
}

Inputs inputs_of(const ModelShape& shape, const py::array& x, const py::object& masked, const py::object& read_token) {
  Inputs in;
  if (shape.ids) {
    const Rows<std::int16_t> ids = ids_of(x);
    if (ids.ndim() != 2 || ids.shape(1) != shape.tokens) wrong_shape("X", x, fmt::format("(samples, {})", shape.tokens));
    in.view.count = ids.shape(0);
    in.view.ids = ids.data();
    in.owner = ids;
  } else {
    const ValueArray values = values_of(x, "X");
    if (values.tokens != shape.tokens || values.features != shape.features)
      wrong_shape("X", x,
                  shape.features == 1 ? fmt::format("(samples, {})", shape.tokens)
                                      : fmt::format("(samples, {}, {})", shape.tokens, shape.features));
    in.view.count = values.count;
    in.view.values = values.array.data();
    in.owner = values.array;
  }
  if (!masked.is_none()) {
    const auto given = py::array::ensure(masked);
    const Rows<bool> flags(given);
    if (flags.ndim() != 2 || flags.shape(0) != in.view.count || flags.shape(1) != shape.tokens)
      wrong_shape("masked", given, fmt::format("({}, {})", in.view.count, shape.tokens));
    in.view.masked = reinterpret_cast<const std::uint8_t*>(flags.data());
    in.masks = flags;
  }
  if (!read_token.is_none()) {
    const Rows<std::int32_t> tokens(read_token);
    if (tokens.ndim() != 1 || tokens.shape(0) != in.view.count)
      wrong_shape("read_token", tokens, fmt::format("({})", in.view.count));
    in.view.read_token = tokens.data();
    in.tokens = tokens;
  }
  return in;
}

}  // namespace locus::python
