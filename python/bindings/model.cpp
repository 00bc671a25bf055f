// A run's model: outputs, inner values and encodings through the engine, with Python's lock released.
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <map>

#include "analyze/analysis_run.h"
#include "cli/environment.h"
#include "config/identity.h"
#include "convert.h"
#include "core/error.h"
#include "data/datasets.h"
#include "infer/evaluate.h"
#include "infer/model_files.h"
#include "infer/predict.h"
#include "module.h"
#include "run/checkpoint.h"
#include "run/data_folder.h"
#include "stats/matrix_correlation.h"
#include "train/optimizers.h"
#include "train/step.h"

namespace locus::python {
namespace {

namespace fs = std::filesystem;

class Model {
 public:
  Model(const std::string& dir, const std::string& name) : run_(load_analysis_run(dir, nullptr, {.snapshots = false})) {
    if (name.empty()) {
      model_ = &run_.require_trained();
    } else {
      AlignedBuffer<float> params(static_cast<std::size_t>(s().layout.floats()));
      load_parameters(s(), load_model_file(fs::path(dir) / name).tensors, params.data());
      add_model(run_, name, params.span());
      model_ = &run_.models.back();
    }
    prepared_ = std::make_unique<Prepared>(s());
    prepared_->update(model_->params.data(), {});
  }

  const ModelStructure& s() const { return *run_.structure; }
  const std::string& name() const { return model_->name; }

  py::array outputs(const py::array& x, const py::object& masked, const py::object& read_token, int threads) const {
    const Inputs in = inputs_of(s().shape, x, masked, read_token);
    MatrixF out;
    {
      const py::gil_scoped_release free;
      ThreadPool pool(cli::thread_count(threads));
      out = predict(s(), *prepared_, in.view, pool);
    }
    return array_of(std::move(out));
  }

  py::dict hidden(const py::array& x, const py::object& masked, const py::object& read_token,
                  const std::vector<std::string>& names) const {
    const Inputs in = inputs_of(s().shape, x, masked, read_token);
    Collector collector(names);
    {
      const py::gil_scoped_release free;
      observe(s(), model_->params.data(), in.view, collector);
    }
    py::dict out;
    for (auto& [name, part] : collector.parts) {
      const std::int64_t rows = static_cast<std::int64_t>(part.values.size()) / std::max<std::int64_t>(1, part.cols);
      MatrixF matrix(rows, part.cols);
      matrix.values() = std::move(part.values);
      py::array array = array_of(std::move(matrix));
      if (rows == in.view.count * s().tokens) array = array.reshape({in.view.count, s().tokens, part.cols});
      out[py::str(name)] = array;
    }
    return out;
  }

  py::array attention(const py::array& x, const py::object& masked, const py::object& read_token) const {
    const Inputs in = inputs_of(s().shape, x, masked, read_token);
    const std::int64_t t = s().tokens;
    py::array_t<float> out({in.view.count, s().layers(), s().heads(), t, t});
    Patterns patterns(s(), out.mutable_data());
    {
      const py::gil_scoped_release free;
      std::fill_n(patterns.to, out.size(), 0.0f);
      observe(s(), model_->params.data(), in.view, patterns);
    }
    return out;
  }

  // Loss and gradient of one batch as a training step computes them, dropout and signs off.
  py::tuple gradients(const py::array& x, const py::object& y, const py::object& masked, const py::object& read_token,
                      int threads) const {
    const Inputs in = inputs_of(s().shape, x, masked, read_token);
    check_inputs(s(), in.view);
    const Examples batch = batch_of(in, y);
    AlignedBuffer<float> grads(static_cast<std::size_t>(s().layout.floats()));
    double loss = 0;
    {
      const py::gil_scoped_release free;
      ThreadPool pool(cli::thread_count(threads));
      StepRunner runner(s(), pool);
      loss = runner.run(*prepared_, batch, {}).loss;
      std::copy_n(runner.gradients(), grads.size(), grads.data());
    }
    return py::make_tuple(loss, tensors(grads.data()));
  }

  // Time that the library's own evaluation takes for the same samples: what `outputs` is measured against.
  double evaluator_seconds(const py::array& x, int threads) const {
    const Inputs in = inputs_of(s().shape, x, py::none(), py::none());
    Examples e;
    e.count = in.view.count;
    e.values.assign(in.view.values, in.view.values + e.count * s().shape.tokens * s().shape.features);
    e.labels.assign(static_cast<std::size_t>(e.count), 0);
    const py::gil_scoped_release free;
    const auto begun = std::chrono::steady_clock::now();
    ThreadPool pool(threads);
    Evaluator(s(), &pool).run(*prepared_, e);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }

  py::list codes() const {
    py::list out;
    for (LayerCode& code : layer_codes(run_, *model_))
      out.append(py::make_tuple(code.layer, array_of(std::move(code.code))));
    return out;
  }

  py::dict parameters() const { return tensors(model_->params.data()); }

  // Of a checkpoint: its step, and what the optimiser keeps for each tensor ("moment1", ...).
  py::tuple optimizer_states() const {
    const LoadedCheckpoint c = read_checkpoint(run_.path / name(), config_identity(run_.config, run_.data_hash));
    py::list states;
    for (const Tensor* state = nullptr; (state = c.state.find(optimizer_state_name(states.size()))) != nullptr;) {
      if (state->count() != static_cast<std::size_t>(s().layout.floats()))
        throw IoError({.what = "the optimiser's state does not fit the model", .where = c.state.source});
      states.append(tensors(state->as<float>().data()));
    }
    return py::make_tuple(c.step, states);
  }

  py::dict shape() const {
    py::dict out;
    out["tokens"] = s().shape.tokens;
    out["features"] = s().shape.features;
    out["outputs"] = s().shape.outputs;
    out["ids"] = s().shape.ids;
    out["regression"] = s().shape.regression;
    out["readout"] = std::string(kReadoutNames[static_cast<std::size_t>(s().config.model.readout)]);
    out["layers"] = s().layers();
    out["token_names"] = run_.info.names;
    return out;
  }

  // The measures of the run's own splits, as `locus eval` makes them.
  py::dict evaluate_run(std::vector<std::string> splits, int threads) const {
    std::vector<std::pair<std::string, double>> measures;
    {
      const py::gil_scoped_release free;
      const Dataset dataset = make_dataset(run_.config, cli::cache_folder());
      require_data_of_run(run_.path, run_.data_hash, dataset.hash);
      ThreadPool pool(cli::thread_count(threads));
      if (splits.empty()) {
        for (const auto& [split, examples] : dataset.splits) splits.push_back(split);
      }
      for (const std::string& split : splits) {
        if (!dataset.has_split(split)) throw ConfigError({.what = "no such split", .where = "splits", .got = split});
        const Evaluation e = evaluate(s(), *prepared_, dataset, split, {}, pool);
        for (auto& m : evaluation_metrics(dataset, split, e)) measures.push_back(std::move(m));
      }
    }
    py::dict out;
    for (const auto& [key, value] : measures) out[py::str(key)] = value;
    return out;
  }

 private:
  py::dict tensors(const float* arena) const {
    py::dict out;
    for (const TensorSlot& slot : s().layout.slots()) {
      py::array_t<float> array(slot.shape);
      std::copy_n(arena + slot.offset, slot.size, array.mutable_data());
      out[py::str(slot.name)] = array;
    }
    return out;
  }

  Examples batch_of(const Inputs& in, const py::object& y) const {
    const ModelShape& shape = s().shape;
    Examples e;
    e.count = in.view.count;
    const std::int64_t places = e.count * shape.tokens;
    if (in.view.ids != nullptr) e.ids.assign(in.view.ids, in.view.ids + places);
    if (in.view.values != nullptr) e.values.assign(in.view.values, in.view.values + places * shape.features);
    if (in.view.masked != nullptr) e.masks.assign(in.view.masked, in.view.masked + places);
    if (in.view.read_token != nullptr) e.read_token.assign(in.view.read_token, in.view.read_token + e.count);
    const auto sized = [&](auto& to, std::int64_t size) {
      if (static_cast<std::int64_t>(to.size()) != size)
        throw DataError({.what = "y does not fit X", .got = std::to_string(to.size()), .expected = std::to_string(size)});
    };
    if (!shape.regression) {
      const auto labels = y.cast<py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>>();
      e.labels.assign(labels.data(), labels.data() + labels.size());
      sized(e.labels, e.count);
    } else if (!s().config.model.reads_tokens()) {
      const auto targets = y.cast<py::array_t<float, py::array::c_style | py::array::forcecast>>();
      e.targets.assign(targets.data(), targets.data() + targets.size());
      sized(e.targets, e.count * shape.outputs);
    }
    return e;
  }

  struct Part {
    std::int64_t cols = 0;
    std::vector<float> values;
  };
  struct Collector : Observer {
    explicit Collector(const std::vector<std::string>& names) : wanted(names) {}
    const std::vector<std::string>& wanted;  // empty: all
    std::vector<std::pair<std::string, Part>> parts;
    void on_activation(const Activation& a) override {
      if (a.head >= 0) return;
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), a.name) == wanted.end()) return;
      auto at = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == a.name; });
      if (at == parts.end()) at = parts.insert(at, {a.name, {a.values.cols, {}}});
      for (std::int64_t r = 0; r < a.values.rows; ++r)
        at->second.values.insert(at->second.values.end(), a.values.row(r), a.values.row(r) + a.values.cols);
    }
  };
  struct Patterns : Observer {
    Patterns(const ModelStructure& structure, float* out) : s(structure), to(out) {}
    void on_activation(const Activation& a) override {
      if (a.head < 0) return;
      const std::int64_t layer = std::stoll(a.name.substr(std::string_view("blocks.").size()));
      const std::int64_t place = ((a.first_sequence * s.layers() + layer) * s.heads() + a.head) * s.tokens + a.first_query;
      for (std::int64_t r = 0; r < a.values.rows; ++r)
        std::copy_n(a.values.row(r), a.values.cols, to + (place + r) * s.tokens);
    }
    const ModelStructure& s;
    float* to;
  };

  AnalysisRun run_;
  const AnalysisModel* model_ = nullptr;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace

void add_model(py::module_& m) {
  m.def("similarity", [](const py::array& rows) {
    return array_of(stats::cosine_similarity(stats::centre_rows(matrix_of(rows).view()).view()));
  });
  const auto none = py::none();
  py::class_<Model>(m, "Model")
      .def(py::init<const std::string&, const std::string&>(), py::arg("dir"), py::arg("name") = "",
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("name", &Model::name)
      .def_property_readonly("shape", &Model::shape)
      .def("outputs", &Model::outputs, py::arg("x"), py::arg("masked") = none, py::arg("read_token") = none,
           py::arg("threads") = 0)
      .def("hidden", &Model::hidden, py::arg("x"), py::arg("masked") = none, py::arg("read_token") = none,
           py::arg("names") = std::vector<std::string>{})
      .def("attention", &Model::attention, py::arg("x"), py::arg("masked") = none, py::arg("read_token") = none)
      .def("gradients", &Model::gradients, py::arg("x"), py::arg("y") = none, py::arg("masked") = none,
           py::arg("read_token") = none, py::arg("threads") = 0)
      .def("evaluator_seconds", &Model::evaluator_seconds)
      .def("codes", &Model::codes)
      .def("parameters", &Model::parameters)
      .def("optimizer_states", &Model::optimizer_states)
      .def("evaluate", &Model::evaluate_run, py::arg("splits"), py::arg("threads") = 0);
}

}  // namespace locus::python
