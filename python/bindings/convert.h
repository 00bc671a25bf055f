// Between Python's objects and the library's: JSON, matrices, arrays of inputs.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/matrix.h"
#include "infer/predict.h"

namespace locus::python {

namespace py = pybind11;

py::object to_python(const Json& json);

// An array over the matrix's own memory, which it takes over.
template <class T>
py::array_t<T> array_of(Matrix<T>&& matrix) {
  auto* kept = new std::vector<T>(std::move(matrix.values()));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>({matrix.rows(), matrix.cols()}, kept->data(), owner);
}

MatrixD matrix_of(const py::array& array);  // 2-D

// Inputs of a model, and the arrays that own them. What is already int16 or float32 in rows is not copied.
struct Inputs {
  InputView view;
  py::array owner, masks, tokens;
};
Inputs inputs_of(const ModelShape& shape, const py::array& x, const py::object& masked, const py::object& read_token);

// (count, T, F) numbers of x: (count, T), or (count, T, F).
struct ValueArray {
  py::array_t<float, py::array::c_style | py::array::forcecast> array;
  std::int64_t count = 0, tokens = 0, features = 0;
};
ValueArray values_of(const py::array& x, const char* name);

}  // namespace locus::python
