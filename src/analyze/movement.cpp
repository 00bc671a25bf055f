#include "analyze/movement.h"

#include <cmath>
#include <map>
#include <utility>

namespace locus {
namespace {

struct NormSums {
  std::int64_t count = 0;
  double initial = 0, now = 0, difference = 0, product = 0;

  void add(const NormSums& o) {
    count += o.count;
    initial += o.initial;
    now += o.now;
    difference += o.difference;
    product += o.product;
  }
};

NormSums sums_of(const float* start, const float* now, std::int64_t n) {
  NormSums s;
  s.count = n;
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = start[i], b = now[i];
    s.initial += a * a;
    s.now += b * b;
    s.difference += (b - a) * (b - a);
    s.product += a * b;
  }
  return s;
}

MovementRow row_of(const AnalysisModel& model, const char* level, const std::string& name, const NormSums& s) {
  MovementRow row;
  row.model = model.name;
  row.epoch = model.epoch;
  row.level = level;
  row.name = name;
  row.parameters = s.count;
  row.initial_norm = std::sqrt(s.initial);
  row.norm = std::sqrt(s.now);
  row.movement = std::sqrt(s.difference);
  if (s.initial > 0) row.relative = row.movement / row.initial_norm;
  if (s.count > 0) row.rms = row.movement / std::sqrt(static_cast<double>(s.count));
  if (s.initial > 0 && s.now > 0) row.cosine = s.product / (row.initial_norm * row.norm);
  return row;
}

}  // namespace

bool is_position_tensor(const std::string& name) {
  return name.starts_with("pe.") || name.find(".pe.") != std::string::npos;
}

std::string tensor_group(const std::string& name) {
  if (is_position_tensor(name)) return "pe";
  if (name.starts_with("embed.")) return "embed";
  if (name.starts_with("head.")) return "head";
  if (name.find(".attn.") != std::string::npos) return "attention";
  if (name.find(".mlp.") != std::string::npos) return "mlp";
  if (name.find("norm") != std::string::npos) return "norm";
  return "token";
}

MovementResult analyze_movement(const AnalysisRun& run, const AnalyzeSettings&, const AnalyzeProgress&) {
  MovementResult result;
  const AnalysisModel& start = run.require_initial();
  if (run.models.size() < 2) run.require_trained();
  for (const AnalysisModel& model : run.models) {
    if (model.is_initial()) continue;
    std::map<std::string, NormSums> groups, parts;
    for (const TensorSlot& slot : run.structure->layout.slots()) {
      if (!slot.trained) continue;
      const NormSums s = sums_of(start.params.data() + slot.offset, model.params.data() + slot.offset, slot.size);
      groups[tensor_group(slot.name)].add(s);
      parts[is_position_tensor(slot.name) ? "pe" : "rest"].add(s);
      parts["all"].add(s);
      result.rows.push_back(row_of(model, "tensor", slot.name, s));
    }
    for (const auto& [name, s] : groups) result.rows.push_back(row_of(model, "group", name, s));
    for (const auto& [name, s] : parts) result.rows.push_back(row_of(model, "part", name, s));
  }
  if (run.models.size() < 3) {
    result.notes.push_back("no snapshots: nothing over training time (train with watch.snapshots=[0,5,20])");
  }
  return result;
}

}  // namespace locus
