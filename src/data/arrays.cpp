#include "data/arrays.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/tasks.h"
#include "core/error.h"
#include "core/json.h"
#include "data/connectivity.h"
#include "data/frames.h"
#include "data/masking.h"
#include "data/samples.h"

namespace locus {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& where, std::string got, std::string expected) {
  throw DataError({.what = what, .where = where, .got = std::move(got), .expected = std::move(expected)});
}

void require_finite(const std::vector<float>& values, std::int64_t width, const std::string& where) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  refuse("a value is NaN, Inf or too large for single precision", where,
         fmt::format("{} in sample {}", *bad, (bad - values.begin()) / std::max<std::int64_t>(1, width)), "finite numbers");
}

void check_split(const ArrayData& data, const ArraySplit& s) {
  const std::int64_t width = data.tokens * data.features;
  const auto sized = [&](std::size_t size, std::int64_t of_each, const char* what) {
    if (static_cast<std::int64_t>(size) == s.count * of_each) return;
    refuse(fmt::format("the {} do not fit the samples", what), s.name, fmt::format("{} numbers", size),
           fmt::format("{} samples of {}", s.count, of_each));
  };
  if (s.count < 1) refuse("a split has no samples", s.name, "0", "at least 1");
  sized(s.values.size(), width, "values");
  require_finite(s.values, width, s.name);
  if (data.classes > 0) {
    sized(s.labels.size(), 1, "labels");
    for (const std::int32_t label : s.labels) {
      if (label < 0 || label >= data.classes)
        refuse("a label is none of the classes", s.name, fmt::format("{}", label), fmt::format("0 .. {}", data.classes - 1));
    }
  } else if (data.outputs > 0) {
    sized(s.targets.size(), data.outputs, "targets");
    require_finite(s.targets, data.outputs, s.name + " targets");
  }
}

Dataset sized_dataset(const ArrayData& data) {
  Dataset d;
  d.name = "arrays";
  d.task = data.classes > 0 ? "classify" : data.outputs > 0 ? "regress" : "masked";
  d.tokens = data.tokens;
  d.features = data.features;
  d.outputs = data.classes > 0 ? data.classes : data.outputs > 0 ? data.outputs : data.features;
  return d;
}

}  // namespace

std::vector<std::string> arrays_settings(const std::string& task) {
  RunConfig defaults;
  RunConfig config = samples_config({});
  config.study = "arrays";
  config.task = task;
  config.series = defaults.series;
  if (!task_row(task).hides_tokens) config.model.readout = Readout::kMean;
  std::vector<std::string> out;
  const FieldList before = describe(defaults);
  const FieldList list = describe(config);
  for (const Field& f : list.fields()) {
    if (f.text() != before.find(f.path, "").text()) out.push_back(f.path + "=" + f.text());
  }
  return out;
}

Dataset make_arrays_dataset(const RunConfig& config, ArrayData data) {
  if (data.tokens < 1 || data.features < 1)
    refuse("there are no tokens", "the data", fmt::format("{} x {}", data.tokens, data.features), "samples x tokens");
  if (data.splits.empty() || data.splits.front().name != "train")
    refuse("there is no training data", "the data", "", "a first split named train");
  const bool predicts_tokens = data.classes == 0 && data.outputs == 0;
  if (predicts_tokens != config.model.reads_tokens()) {
    throw ConfigError({.what = predicts_tokens
                                   ? "without targets hidden tokens are predicted, which model.readout cannot read"
                                   : "targets of samples do not go with a model.readout that reads every token",
                       .where = "model.readout",
                       .got = std::string(kReadoutNames[static_cast<std::size_t>(config.model.readout)]),
                       .expected = predicts_tokens ? "masked or every" : "mean, cls, flat or token"});
  }
  for (const ArraySplit& s : data.splits) check_split(data, s);
  Dataset d = sized_dataset(data);
  for (ArraySplit& s : data.splits) {
    Examples e;
    e.count = s.count;
    e.values = std::move(s.values);
    e.labels = std::move(s.labels);
    e.targets = std::move(s.targets);
    d.description["samples." + s.name] = fmt::format("{}", e.count);
    d.splits.emplace_back(s.name, std::move(e));
  }
  d.class_names = data.class_names;
  if (!data.class_names.empty()) d.description["classes"] = Json(data.class_names).dump();
  d.description["source"] = "arrays of a program";
  d.tokens_info.names = std::move(data.names);
  d.tokens_info.coordinates = std::move(data.coordinates);
  d.tokens_info.coordinates_are_grid = fills_grid(d.tokens_info.coordinates);
  MatrixD correlation = token_moments(d.split("train"), d.tokens, d.features).correlation();
  d.tokens_info.graph = neighbour_graph(correlation, config.series.graph_neighbours);
  d.tokens_info.truths["correlation"] = std::move(correlation);
  if (predicts_tokens) fill_evaluation_masks(d, config.mask);
  d.hash = content_hash(d);
  return d;
}

Dataset absent_arrays(const RunConfig&, const std::string&) {
  throw DataError({.what = "the data of this run were arrays of another program, which are not kept with it",
                   .where = "study = arrays",
                   .hint = "what needs no data works: locus analyze, report, plot; in Python run.model().predict(X)"});
}

}  // namespace locus
