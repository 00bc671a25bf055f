#include "results/kept_analyses.h"

#include <any>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "analyze/results/registry.h"
#include "core/error.h"
#include "run/analysis_files.h"

namespace locus {
namespace {

double six_digits(double x) {
  if (x == 0) return 0;
  const double unit = std::pow(10.0, 5 - std::floor(std::log10(std::abs(x))));
  return std::round(x * unit) / unit;
}

struct Mean {
  double sum = 0;
  int count = 0;
};

}  // namespace

Json flat_analyses(const RunReader& run, std::vector<std::string>& notes) {
  std::map<std::string, Mean> means;
  for (const std::string& name : analysis_names(run.path())) {
    const std::string file = analysis_file(run.path(), name).filename().string();
    std::optional<StoredAnalysis> stored;
    try {
      stored = stored_analysis(run, name);
    } catch (const Error& e) {
      notes.push_back(file + " left out: " + e.parts().what);
    }
    if (!stored || !stored->available) continue;
    if (!stored->check.note.empty()) notes.push_back(file + " " + stored->check.note);
    if (!stored->check.usable()) continue;
    const Analysis* const analysis = find_analysis(name);
    if (analysis == nullptr) {
      notes.push_back(file + " left out: this program has no such analysis");
      continue;
    }
    analysis->result.numbers(analysis->result.read(stored->json), [&](const std::string& number, double value) {
      Mean& mean = means[number];
      mean.sum += value;
      ++mean.count;
    });
  }
  Json out = Json::object();
  for (const auto& [name, mean] : means) out[name] = six_digits(mean.sum / mean.count);
  return out;
}

}  // namespace locus
