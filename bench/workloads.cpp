#include "bench/workloads.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "config/load.h"
#include "core/error.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "io/file.h"
#include "io/safetensors.h"

namespace locus::bench {
namespace {

constexpr std::uint64_t kSeed = 4;

// Sizes of a workload.
struct Sizes {
  std::int64_t tokens, width, layers, heads, batch;
};

Workload sized(const std::string& name, const Sizes& s) {
  Workload w;
  w.name = name;
  w.config.model.width = s.width;
  w.config.model.layers = s.layers;
  w.config.model.heads = s.heads;
  w.config.train.batch = s.batch;
  w.shape.tokens = s.tokens;
  return w;
}

// Latin squares: symbols 0..3 and the target as ids, answer read at the last token.
Workload symbols(const std::string& name, const Sizes& s) {
  Workload w = sized(name, s);
  w.shape.features = 5;
  w.shape.outputs = 4;
  w.shape.ids = true;
  w.config.model.readout = Readout::kToken;
  return w;
}

// Region or network activity: one value per token, half of them hidden and to be told.
Workload masked(const std::string& name, const Sizes& s) {
  Workload w = sized(name, s);
  w.config.study = "masked";
  w.shape.features = w.shape.outputs = 1;
  w.shape.regression = true;
  w.config.model.readout = Readout::kMasked;
  return w;
}

// A wide classifier of dense tokens, averaged over tokens, so that no token may be left out.
Workload averaged(const std::string& name, const Sizes& s) {
  Workload w = sized(name, s);
  w.shape.features = 16;
  w.shape.outputs = 10;
  w.config.model.readout = Readout::kMean;
  return w;
}

// One of the main workloads with another encoding.
Workload with_encoding(Workload w, const std::string& name, const std::string& kind) {
  w.name = name;
  apply_override(w.config, "pe.kind=" + kind);
  if (w.config.pe.kind != PeKind::kLaplacian) return w;
  const std::int64_t t = w.shape.tokens;
  w.pe_data.graph = MatrixD(t, t);
  for (std::int64_t i = 0; i < t; ++i) {
    for (std::int64_t j = 0; j < t; ++j)
      w.pe_data.graph(i, j) = i == j ? 0.0 : 1.0 / static_cast<double>(1 + std::abs(i - j));
  }
  return w;
}

[[noreturn]] void unknown(const std::string& name) {
  throw ConfigError(
      {.what = "unknown workload",
       .where = "",
       .got = name,
       .expected = "lst, nmar, fmri, long, wide, lst/<encoding> (also of fmri, long), or sizes as in t=512,d=64,layers=2",
       .hint = ""});
}

// Small forms of the workloads, for counting instructions under valgrind.
Workload guard(const std::string& name, const std::string& of) {
  if (of == "lst") return symbols(name, {16, 32, 2, 1, 8});
  if (of == "nmar") return masked(name, {50, 32, 1, 1, 2});
  if (of == "fmri") return masked(name, {360, 16, 1, 1, 1});
  if (of == "wide") return averaged(name, {64, 128, 1, 8, 1});
  if (std::find(kPeKindNames.begin(), kPeKindNames.end(), of) == kPeKindNames.end()) unknown(name);
  return with_encoding(masked(name, {100, 16, 1, 1, 1}), name, of);
}

Workload parse_sizes(const std::string& name) {
  std::map<std::string, std::int64_t> given = {{"t", 64}, {"d", 64}, {"layers", 2}, {"heads", 1}, {"batch", 1}};
  for (const std::string& part : split(name, ',')) {
    const std::vector<std::string> sides = split(part, '=');
    if (sides.size() != 2 || !given.contains(sides[0])) unknown(name);
    std::int64_t value = 0;
    const char* end = sides[1].data() + sides[1].size();
    const auto [stop, error] = std::from_chars(sides[1].data(), end, value);
    if (error != std::errc() || stop != end || value < 1 || value > 1 << 20) unknown(name);
    given[sides[0]] = value;
  }
  return masked(name, {given["t"], given["d"], given["layers"], given["heads"], given["batch"]});
}

Json peer_config(const Workload& w) {
  Json json = to_json(w.config);
  json["shape"] = {{"tokens", w.shape.tokens},
                   {"features", w.shape.features},
                   {"outputs", w.shape.outputs},
                   {"task", w.shape.regression ? "regression" : "classification"}};
  return json;
}

template <class T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<std::string> main_workloads() { return {"lst", "nmar", "fmri", "long", "wide"}; }

std::vector<std::string> encoding_workloads() {
  std::vector<std::string> names;
  for (const std::string shape : {"lst", "fmri", "long"}) {
    for (const std::string_view kind : kPeKindNames) {
      // Eigenvectors of 4096 tokens take minutes, once; a step then costs what sinusoidal does.
      if (shape == "long" && kind == kPeKindNames[static_cast<std::size_t>(PeKind::kLaplacian)]) continue;
      names.push_back(shape + "/" + std::string(kind));
    }
  }
  return names;
}

Workload make_workload(const std::string& name) {
  Workload w;
  if (name == "lst") {
    w = symbols(name, {16, 160, 4, 1, 128});
  } else if (name == "nmar") {
    w = masked(name, {50, 64, 4, 1, 64});
  } else if (name == "fmri") {
    w = masked(name, {360, 64, 4, 1, 32});
  } else if (name == "long") {
    w = masked(name, {4096, 64, 2, 1, 1});
  } else if (name == "wide") {
    w = averaged(name, {64, 512, 6, 8, 32});
  } else if (name.starts_with("guard/")) {
    w = guard(name, name.substr(6));
  } else if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    const std::vector<std::string> known = encoding_workloads();
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown(name);
    w = with_encoding(make_workload(name.substr(0, slash)), name, name.substr(slash + 1));
  } else if (name.find('=') != std::string::npos) {
    w = parse_sizes(name);
  } else {
    unknown(name);
  }
  validate(w.config);
  return w;
}

Examples synthetic_batch(const Workload& w) {
  Rng rng(kSeed, "bench/batch");
  Examples b;
  b.count = w.config.train.batch;
  const auto cells = static_cast<std::size_t>(b.count * w.shape.tokens);
  if (w.shape.ids) {
    b.ids.resize(cells);
    for (std::int16_t& id : b.ids)
      id = static_cast<std::int16_t>(rng.below(static_cast<std::uint32_t>(w.shape.features + 1))) - 1;
  } else {
    b.values.resize(cells * static_cast<std::size_t>(w.shape.features));
    for (float& v : b.values) v = static_cast<float>(rng.normal());
  }
  if (w.shape.regression) {
    std::vector<std::uint8_t> one(static_cast<std::size_t>(w.shape.tokens));
    std::fill_n(one.begin(), (one.size() + 1) / 2, std::uint8_t{1});
    for (std::int64_t i = 0; i < b.count; ++i) {
      rng.shuffle(std::span(one));
      b.masks.insert(b.masks.end(), one.begin(), one.end());
    }
  } else {
    b.labels.resize(static_cast<std::size_t>(b.count));
    for (std::int32_t& l : b.labels) l = static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(w.shape.outputs)));
  }
  return b;
}

void export_workload(const Workload& w, const ModelStructure& structure, const float* params, const std::string& dir) {
  const Examples b = synthetic_batch(w);
  std::vector<TensorView> views;
  for (const TensorSlot& slot : structure.layout.slots()) {
    views.push_back(tensor_view<float>("param." + slot.name, slot.shape,
                                       std::span(params + slot.offset, static_cast<std::size_t>(slot.size))));
  }
  const std::vector<std::int64_t> ids = widened(b.ids), labels = widened(b.labels);
  const std::int64_t n = b.count, t = w.shape.tokens;
  if (!ids.empty()) views.push_back(tensor_view<std::int64_t>("input.ids", {n, t}, ids));
  if (!b.values.empty()) views.push_back(tensor_view<float>("input.features", {n, t, w.shape.features}, b.values));
  if (!b.masks.empty()) views.push_back(tensor_view<std::uint8_t>("input.masked", {n, t}, b.masks));
  if (w.shape.regression) views.push_back(tensor_view<float>("input.targets", {n, t, w.shape.outputs}, b.values));
  if (!labels.empty()) views.push_back(tensor_view<std::int64_t>("input.labels", {n}, labels));
  write_safetensors(dir + "/" + kWorkloadTensors, views);
  write_file_atomic(dir + "/" + kWorkloadConfig, peer_config(w).dump(1));
}

}  // namespace locus::bench
