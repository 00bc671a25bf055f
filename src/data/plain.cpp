#include "data/plain.h"

#include <utility>

#include "stats/scores.h"

namespace locus {
namespace {

PlainSplit plain_split(const Dataset& d, const std::string& name, const Examples& e) {
  PlainSplit out;
  out.name = name;
  const std::int64_t width = d.tokens * d.features;
  out.x = MatrixD(e.count, width);
  for (std::size_t i = 0; i < e.values.size(); ++i) out.x.values()[i] = static_cast<double>(e.values[i]);
  for (std::size_t i = 0; i < e.ids.size(); ++i) {
    if (e.ids[i] >= 0) out.x.values()[i * static_cast<std::size_t>(d.features) + static_cast<std::size_t>(e.ids[i])] = 1;
  }
  out.labels = e.labels;
  if (e.targets.empty()) return out;
  out.y = MatrixD(e.count, d.outputs);
  for (std::size_t i = 0; i < e.targets.size(); ++i) out.y.values()[i] = static_cast<double>(e.targets[i]);
  return out;
}

double score(const PlainData& data, const PlainSplit& split, const MatrixD& outputs) {
  if (data.classes > 0) {
    const std::vector<std::int32_t> said = stats::most_likely(outputs.view());
    return stats::class_scores({split.labels, said, {}, data.classes}).accuracy;
  }
  double total = 0;
  const std::vector<stats::NumberScore> scores = stats::number_scores(split.y.view(), outputs.view());
  for (const stats::NumberScore& s : scores) total += s.mse / static_cast<double>(scores.size());
  return total;
}

}  // namespace

PlainData plain_data(const Dataset& d) {
  PlainData out;
  out.classes = d.class_names.empty() ? 0 : d.outputs;
  for (const auto& [name, e] : d.splits) {
    PlainSplit split = plain_split(d, name, e);
    if (name == "train") {
      out.train = std::move(split);
    } else if (name == "validation") {
      out.validation = std::move(split);
    } else {
      out.others.push_back(std::move(split));
    }
  }
  return out;
}

void add_plain_baselines(Dataset& d, ThreadPool& pool) {
  const bool numbers = !d.split("train").targets.empty();
  if (d.class_names.empty() && !numbers) return;
  const PlainData data = plain_data(d);
  for (const PlainBaseline& b : plain_baselines(data, pool)) {
    if (!b.chosen.empty()) d.description["baseline." + b.name] = b.chosen;
    for (const PlainPrediction& p : b.predictions) {
      d.baseline_outputs[p.split][b.name] = p.outputs;
      if (p.split == data.validation.name) d.baselines[p.split][b.name] = score(data, data.validation, p.outputs);
      for (const PlainSplit& s : data.others) {
        if (p.split == s.name) d.baselines[p.split][b.name] = score(data, s, p.outputs);
      }
    }
  }
}

}  // namespace locus
