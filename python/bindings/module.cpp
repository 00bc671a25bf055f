// The extension module: errors, configurations and what the program says of itself.
#include "module.h"

#include <cstdlib>

#include "cli/environment.h"
#include "config/load.h"
#include "convert.h"
#include "core/error.h"
#include "core/isa.h"
#include "run/build_info.h"

namespace locus::python {
namespace {

// The class of locus/errors.py for an error, with its parts.
void raise(const char* name, const Error& e) {
  const ErrorParts& p = e.parts();
  const py::object type = py::module_::import("locus.errors").attr(name);
  const py::object error =
      type(py::str(e.what()), py::str(p.what), py::str(p.where), py::str(p.got), py::str(p.expected), py::str(p.hint));
  PyErr_SetObject(type.ptr(), error.ptr());
}

py::list key_list() {
  RunConfig config;
  py::list out;
  const FieldList list = describe(config);
  for (const Field& f : list.fields()) {
    py::dict row;
    row["key"] = f.path;
    row["type"] = f.type_name();
    row["default"] = f.text();
    row["help"] = f.help;
    out.append(row);
  }
  return out;
}

}  // namespace

void add_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const ConfigError& e) {
      raise("ConfigError", e);
    } catch (const DataError& e) {
      raise("DataError", e);
    } catch (const IoError& e) {
      raise("IoError", e);
    } catch (const DivergenceError& e) {
      raise("DivergenceError", e);
    } catch (const Error& e) {
      raise("Error", e);
    }
  });
}

void add_config(py::module_& m) {
  py::class_<RunConfig>(m, "Config")
      .def(py::init([](const std::string& path, const std::vector<std::string>& overrides, bool check) {
             RunConfig config;
             if (!path.empty()) load_toml_file(config, path);
             for (const std::string& o : overrides) apply_override(config, o);
             if (check) validate(config);
             return config;
           }),
           py::arg("path"), py::arg("overrides"), py::arg("check") = true)
      .def("toml", [](const RunConfig& c) { return to_toml(c); })
      .def("values", [](const RunConfig& c) { return to_python(to_json(c)); });
  m.def("keys", key_list);
  m.def("thread_count", &cli::thread_count);
  m.def("build", [] {
    const BuildInfo& info = build_info();
    py::dict out;
    out["version"] = info.version;
    out["commit"] = info.commit;
    out["compiler"] = info.compiler;
    out["isa"] = std::string(isa_name(isa_in_use()));
    return out;
  });
}

}  // namespace locus::python

PYBIND11_MODULE(_locus, m) {
  using namespace locus::python;
  // As the program does: an empty variable counts as none.
  if (const char* isa = std::getenv("LOCUS_ISA"); isa != nullptr && *isa != '\0')
    locus::use_isa(locus::parse_isa(isa, "LOCUS_ISA"));
  add_errors(m);
  add_config(m);
  add_runs(m);
  add_model(m);
  add_training(m);
  add_tools(m);
}
