// Training within Python: its lock is released, callbacks and Ctrl-C are heard between steps, and whatever ends a training
// early leaves a checkpoint first.
#include <csignal>

#include "cli/environment.h"
#include "convert.h"
#include "core/error.h"
#include "data/arrays.h"
#include "data/datasets.h"
#include "module.h"
#include "train/trainer.h"

namespace locus::python {
namespace {

// Hears Python between steps; what it raises stops the training and is raised again at the end.
class Listener {
 public:
  Listener(py::object progress, py::object message) : progress_(std::move(progress)), message_(std::move(message)) {}

  TrainHooks hooks() {
    TrainHooks h;
    h.stop_signal = &stop_;
    h.progress = [this](const Progress& p) { hear([&] { on_progress(p); }); };
    h.message = [this](const std::string& text) {
      hear([&] {
        if (!message_.is_none()) message_(text);
      });
    };
    return h;
  }
  // With Python's lock held.
  void raise_what_was_raised() {
    if (error_) std::rethrow_exception(error_);
    check_signals();
  }
  bool raised() const { return static_cast<bool>(error_); }

 private:
  template <class Body>
  void hear(const Body& body) {
    if (stop_ != 0) return;
    const py::gil_scoped_acquire lock;
    try {
      body();
      check_signals();
    } catch (const py::error_already_set& e) {
      stop_ = e.matches(PyExc_KeyboardInterrupt) ? SIGINT : -1;
      error_ = std::current_exception();
    }
  }
  static void check_signals() {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

  void on_progress(const Progress& p) {
    if (progress_.is_none()) return;
    py::dict d;
    d["epoch"] = p.epoch;
    d["step"] = p.step;
    d["total_steps"] = p.total_steps;
    d["loss"] = p.loss;
    d["accuracy"] = p.accuracy;
    d["steps_per_second"] = p.steps_per_second;
    d["seconds_left"] = p.seconds_left;
    d["metrics"] = py::none();
    if (p.metrics != nullptr) {
      py::dict metrics;
      metrics["lr"] = p.metrics->lr;
      metrics["grad_norm"] = p.metrics->grad_norm;
      for (const auto& [name, value] : p.metrics->values) metrics[py::str(name)] = value;
      d["metrics"] = metrics;
    }
    progress_(d);
  }

  py::object progress_, message_;
  std::atomic<int> stop_{0};
  std::exception_ptr error_;
};

ArraySplit split_of(const py::tuple& given, const ArrayData& data) {
  ArraySplit s;
  s.name = given[0].cast<std::string>();
  const ValueArray x = values_of(given[1].cast<py::array>(), "X");
  if (x.tokens != data.tokens || x.features != data.features)
    throw DataError({.what = "splits have different tokens", .where = s.name});
  s.count = x.count;
  s.values.assign(x.array.data(), x.array.data() + x.array.size());
  if (data.classes > 0) {
    const auto y = given[2].cast<py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>>();
    s.labels.assign(y.data(), y.data() + y.size());
  } else if (data.outputs > 0) {
    const auto y = given[2].cast<py::array_t<float, py::array::c_style | py::array::forcecast>>();
    s.targets.assign(y.data(), y.data() + y.size());
  }
  return s;
}

ArrayData array_data(const py::dict& given) {
  ArrayData data;
  data.classes = given["classes"].cast<std::int64_t>();
  data.outputs = given["outputs"].cast<std::int64_t>();
  data.class_names = given["class_names"].cast<std::vector<std::string>>();
  data.names = given["names"].cast<std::vector<std::string>>();
  if (!given["coordinates"].is_none()) data.coordinates = matrix_of(given["coordinates"].cast<py::array>());
  const auto splits = given["splits"].cast<py::list>();
  if (!splits.empty()) {
    const ValueArray first = values_of(splits[0].cast<py::tuple>()[1].cast<py::array>(), "X");
    data.tokens = first.tokens;
    data.features = first.features;
  }
  for (const py::handle s : splits) data.splits.push_back(split_of(s.cast<py::tuple>(), data));
  return data;
}

py::dict train_run(const RunConfig& given, const py::object& arrays, const std::string& out, int threads,
                   const py::object& progress, const py::object& message, bool baselines, const std::string& command) {
  RunConfig config = given;
  std::optional<ArrayData> data;
  if (!arrays.is_none()) {
    data = array_data(arrays.cast<py::dict>());
    const auto given_task = arrays["task"].cast<std::string>();
    config.study = "arrays";
    config.task = given_task;
  }
  validate(config);
  Listener listener(progress, message);
  TrainOutcome outcome;
  {
    const py::gil_scoped_release free;
    RunDirectory::probe(out, config);
    Dataset dataset = data ? make_arrays_dataset(config, std::move(*data)) : make_dataset(config, cli::cache_folder());
    TrainSetup setup;
    setup.config = config;
    setup.dataset = &dataset;
    setup.out = out;
    setup.command = command;
    setup.threads = cli::thread_count(threads);
    if (baselines) {
      ThreadPool pool(setup.threads);
      add_baselines(dataset, pool);
    }
    outcome = train(setup, listener.hooks());
  }
  listener.raise_what_was_raised();
  py::dict result;
  result["status"] = std::string(kRunStatusNames[static_cast<std::size_t>(outcome.summary.status)]);
  result["resumed"] = outcome.resumed;
  return result;
}

}  // namespace

void add_training(py::module_& m) {
  // Settings for arrays without a configuration, as text over the defaults.
  m.def("array_settings", arrays_settings);
  m.def("learning_rate", [](const RunConfig& c, std::int64_t step) { return scheduled_lr(c.optim, step); });
  // Factors on learning rate and weight decay of tensors by name.
  m.def("tensor_factors", [](const RunConfig& c, const std::vector<std::string>& names) {
    ParamLayout layout;
    for (const std::string& name : names) layout.add(name, {1});
    std::vector<std::pair<double, double>> out;
    for (const TensorGroup& g : tensor_groups(c.optim, layout)) out.emplace_back(g.lr_factor, g.decay_factor);
    return out;
  });
  m.def("train", train_run, py::arg("config"), py::arg("data"), py::arg("out"), py::arg("threads"), py::arg("progress"),
        py::arg("message"), py::arg("baselines"), py::arg("command"));
}

}  // namespace locus::python
