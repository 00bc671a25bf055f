// The parts of the extension module `locus._locus`, one function each. Thin: every function calls the library.
#pragma once

#include <pybind11/pybind11.h>

namespace locus::python {

void add_errors(pybind11::module_& m);
void add_config(pybind11::module_& m);
void add_runs(pybind11::module_& m);
void add_model(pybind11::module_& m);
void add_training(pybind11::module_& m);
void add_tools(pybind11::module_& m);

}  // namespace locus::python
