// Run folders as Python reads them.
#include <filesystem>
#include <limits>

#include "analyze/analyze.h"
#include "convert.h"
#include "module.h"
#include "run/run_reader.h"

namespace locus::python {
namespace {

namespace fs = std::filesystem;

// Columns of all rows; NaN where a row has no value.
py::dict metric_columns(const MetricsTable& table) {
  py::dict out;
  const auto column = [&](const char* name, const auto& value) {
    py::list values;
    for (const MetricRow& row : table.rows) values.append(value(row));
    out[name] = values;
  };
  column("epoch", [](const MetricRow& r) { return r.epoch; });
  column("step", [](const MetricRow& r) { return r.step; });
  column("seconds", [](const MetricRow& r) { return r.seconds; });
  column("lr", [](const MetricRow& r) { return r.lr; });
  column("grad_norm", [](const MetricRow& r) { return r.grad_norm; });
  for (const std::string& name : table.names())
    column(name.c_str(),
           [&](const MetricRow& r) { return r.find(name).value_or(std::numeric_limits<double>::quiet_NaN()); });
  return out;
}

py::dict state_of(const RunState& s) {
  py::dict out;
  out["status"] = s.status;
  out["reason"] = s.reason;
  out["epochs"] = s.epochs;
  out["steps"] = s.steps;
  out["seconds"] = s.seconds;
  out["measures"] = s.measures;
  return out;
}

py::dict run_dict(const std::string& path) {
  const RunReader reader(path);
  RunState state;
  {
    const py::gil_scoped_release free;
    reader.read_all();
    state = reader.state();
  }
  py::dict out;
  out["config"] = reader.config() ? py::cast(*reader.config()) : py::none();
  out["manifest"] = to_python(reader.manifest());
  out["metrics"] = metric_columns(reader.metrics());
  out["state"] = state_of(state);
  py::list models;
  for (const ModelEntry& m : reader.models()) models.append(m.name);
  out["models"] = models;
  out["problems"] = reader.problems();
  out["notes"] = reader.notes();
  return out;
}

}  // namespace

void add_runs(py::module_& m) {
  m.def("read_run", run_dict);
  m.def("find_runs", [](const std::vector<std::string>& dirs) {
    std::vector<std::string> out;
    for (const fs::path& p : find_runs(std::vector<fs::path>(dirs.begin(), dirs.end()))) out.push_back(p.string());
    return out;
  });
  m.def("read_analysis",
        [](const std::string& folder, const std::string& name) { return to_python(read_analysis(folder, name)); });
}

}  // namespace locus::python
