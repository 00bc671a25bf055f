#include "tune/rivals.h"

#include <algorithm>

#include "core/error.h"
#include "infer/model_files.h"

namespace locus {
namespace {

RunConfig with(const RunConfig& base, const std::vector<KeyValue>& settings) {
  RunConfig config = base;
  const FieldList list = describe(config);
  for (const auto& [key, value] : settings) list.find(key, "locus tune").set(value, "locus tune");
  return config;
}

bool fits(const RunConfig& config, const Dataset& dataset) {
  try {
    validate(config);
    structure_for(config, dataset);
    return true;
  } catch (const Error&) {
    return false;  // it needs coordinates, a graph or another width: no rival here
  }
}

}  // namespace

std::vector<TuneRival> tune_rivals(const RunConfig& base, const Dataset& dataset) {
  if (base.pe.kind != PeKind::kLearned || !sigma_counts(base.pe)) return {};
  const std::vector<std::vector<KeyValue>> wanted = {
      {{"pe.kind", std::string("sinusoidal")}, {"pe.positions", std::string("grid")}},
      {{"pe.kind", std::string("sinusoidal")}, {"pe.positions", std::string("data")}},
      {{"pe.trainable", std::string("no")}},
      {{"pe.kind", std::string("sinusoidal")}, {"pe.positions", std::string("index")}},
      {{"pe.kind", std::string("none")}},
  };
  std::vector<TuneRival> out;
  for (const std::vector<KeyValue>& settings : wanted) {
    const RunConfig config = with(base, settings);
    if (!fits(config, dataset)) continue;
    const std::string name = encoding_name(config);
    const bool known = std::any_of(out.begin(), out.end(), [&](const TuneRival& r) { return r.name == name; });
    if (!known) out.push_back({name, settings});
  }
  return out;
}

}  // namespace locus
