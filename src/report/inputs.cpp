#include "report/inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "config/tasks.h"
#include "core/nan.h"
#include "core/text.h"
#include "report/data_names.h"
#include "report/markup.h"
#include "report/theme.h"
#include "stats/descriptive.h"

namespace locus::report {
namespace {

std::map<std::string, std::string> identity_fields(RunConfig config) {
  std::map<std::string, std::string> fields;
  const FieldList list = describe(config);
  for (const Field& f : list.fields()) {
    if (f.identity && f.path != "seed") fields[f.path] = f.text();
  }
  return fields;
}

// Fields that a kind of encoding does not use must not split its runs into groups.
void drop_unused(const RunConfig& config, std::map<std::string, std::string>& fields) {
  if (!sigma_counts(config.pe)) fields["pe.sigma"] = "";
}

bool is_learned_from_noise(const RunConfig& c) {
  return c.pe.kind == PeKind::kLearned && c.pe.is_trained() && sigma_counts(c.pe);
}

// Keys the encoding's name already tells.
bool told_by_name(const std::string& key) {
  return key == "pe.kind" || key == "pe.sigma" || key == "pe.init" || key == "pe.trainable" || key == "pe.positions" ||
         key == "model.attention_mask";
}

bool any_has(const std::vector<Run>& runs, const std::string& metric) {
  return std::any_of(runs.begin(), runs.end(), [&](const Run& r) { return r.usable() && r.measures.count(metric) != 0; });
}

// What the runs are compared by; where they lack it, the first measure or loss of the first split that they have.
std::optional<Measure> find_measure(const std::vector<Run>& runs) {
  std::set<std::string> wanted;
  for (const Run& r : runs) {
    if (r.usable()) wanted.insert(default_metric(*r.config));
  }
  for (const std::string& metric : default_metrics()) {
    if (wanted.count(metric) != 0 && any_has(runs, metric)) return Measure::of(metric);
  }
  static const std::vector<std::string> kSplits = {"heldout", "held_out", "test", "val", "valid", "train"};
  for (const std::string& split : kSplits) {
    for (const TaskRow& task : task_rows()) {
      const std::string metric = split + "." + task.measures[0].name;
      if (any_has(runs, metric)) return Measure::of(metric);
    }
    if (split != "train" && any_has(runs, split + ".loss")) return Measure::of(split + ".loss");
  }
  return std::nullopt;
}

void find_varying(Inputs& inputs, const std::vector<std::map<std::string, std::string>>& fields) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& own : fields) {
    for (const auto& [key, text] : own) {
      if (!text.empty()) values[key].insert(text);
    }
  }
  for (const auto& [key, texts] : values) {
    if (texts.size() > 1) inputs.varying.push_back(key);
  }
}

// Keys that a group's label may show, each as "key=value".
using Shown = std::map<std::string, std::string>;

std::string joined(const std::string& name, const Shown& own, const std::vector<std::string>& keys) {
  std::string out = name;
  for (const std::string& key : keys) {
    if (const auto it = own.find(key); it != own.end()) out += ", " + it->second;
  }
  return out;
}

// Of many keys that differ, as few as tell the groups apart: each is the one that splits the most labels that are still
// alike.
std::vector<std::string> telling_keys(const std::vector<std::string>& names, const std::vector<Shown>& shown) {
  std::vector<std::string> chosen;
  const auto labels = [&](const std::string& further) {
    std::vector<std::string> keys = chosen;
    if (!further.empty()) keys.push_back(further);
    std::set<std::string> all;
    for (std::size_t g = 0; g < names.size(); ++g) all.insert(joined(names[g], shown[g], keys));
    return all.size();
  };
  std::set<std::string> left;
  for (const Shown& own : shown) {
    for (const auto& [key, text] : own) left.insert(key);
  }
  for (std::size_t count = labels(""); count < names.size() && !left.empty();) {
    std::string best;
    for (const std::string& key : left) {
      if (const std::size_t with = labels(key); with > count) {
        count = with;
        best = key;
      }
    }
    if (best.empty()) break;
    chosen.push_back(best);
    left.erase(best);
  }
  return chosen;
}

void label_groups(Inputs& inputs, const std::vector<Shown>& shown) {
  constexpr std::size_t kTellAll = 2;
  const std::vector<std::string> data = data_names(inputs.runs);
  std::set<std::string> different(data.begin(), data.end());
  different.erase("");
  std::vector<std::string> names;
  std::size_t most = 0;
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    const std::string& own = data[static_cast<std::size_t>(inputs.groups[g].runs[0])];
    names.push_back(inputs.groups[g].encoding + (different.size() > 1 ? " on " + own : ""));
    most = std::max(most, shown[g].size());
  }
  const std::vector<std::string> keys =
      most > kTellAll || different.size() > 1 ? telling_keys(names, shown) : inputs.varying;
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    const auto told = std::count_if(keys.begin(), keys.end(), [&](const std::string& k) { return shown[g].count(k) != 0; });
    const std::size_t more = shown[g].size() - static_cast<std::size_t>(told);
    inputs.groups[g].label = joined(names[g], shown[g], keys);
    if (more != 0 && told != 0) inputs.groups[g].label += fmt::format(" and {} more key{}", more, more == 1 ? "" : "s");
  }
}

void make_groups(Inputs& inputs) {
  std::vector<std::map<std::string, std::string>> fields;
  std::vector<int> usable;
  for (std::size_t i = 0; i < inputs.runs.size(); ++i) {
    if (!inputs.runs[i].usable()) continue;
    fields.push_back(identity_fields(*inputs.runs[i].config));
    drop_unused(*inputs.runs[i].config, fields.back());
    usable.push_back(static_cast<int>(i));
  }
  find_varying(inputs, fields);
  using Key = std::tuple<bool, double, std::string, std::map<std::string, std::string>>;
  std::map<Key, std::vector<int>> grouped;
  for (std::size_t k = 0; k < usable.size(); ++k) {
    const RunConfig& config = inputs.config(usable[k]);
    const bool learned = is_learned_from_noise(config);
    grouped[{!learned, learned ? config.pe.sigma : 0, encoding_words(config), fields[k]}].push_back(usable[k]);
  }
  std::vector<Shown> shown;
  for (const auto& [key, runs] : grouped) {
    const RunConfig& config = inputs.config(runs[0]);
    Group g;
    g.encoding = std::get<2>(key);
    if (!std::get<0>(key)) g.sigma = config.pe.sigma;
    std::vector<std::string> others;
    Shown& own = shown.emplace_back();
    for (const std::string& name : inputs.varying) {
      const std::string& text = std::get<3>(key).at(name);
      if (told_by_name(name) || text.empty()) continue;
      own[name] = name + "=" + shorten(text, 40);
      // The control of the lazy regime scales the content with σ: its runs are one series, though each has its own gain.
      if (name != "model.embed_gain") {
        others.push_back(own[name]);
      } else if (config.model.embed_gain != 1) {
        others.push_back("content scaled too");
      }
    }
    g.others = join(others, ", ");
    g.runs = runs;
    for (const int r : runs) inputs.runs[static_cast<std::size_t>(r)].group = static_cast<int>(inputs.groups.size());
    inputs.groups.push_back(std::move(g));
  }
  label_groups(inputs, shown);
}

void colour_groups(Inputs& inputs) {
  std::set<double> sigmas;
  for (const Group& g : inputs.groups) {
    if (g.sigma) sigmas.insert(*g.sigma);
  }
  int next = sigmas.empty() ? 0 : 1;
  for (Group& g : inputs.groups) {
    if (g.sigma) {
      const auto rank = std::distance(sigmas.begin(), sigmas.find(*g.sigma));
      g.colour = sigmas.size() == 1 ? "c0" : ramp_class(static_cast<int>(rank), static_cast<int>(sigmas.size()));
    } else {
      g.colour = category_class(next++);
    }
  }
}

void warn_runs(Inputs& inputs) {
  for (std::size_t i = 0; i < inputs.runs.size(); ++i) {
    const Run& run = inputs.runs[i];
    const int id = static_cast<int>(i);
    for (const std::string& problem : run.problems) inputs.warnings.push_back({id, problem});
    if (!run.complete()) {
      inputs.warnings.push_back({id, "status: " + run.status + (run.reason.empty() ? "" : " (" + run.reason + ")")});
    }
    std::vector<std::string> bad;
    for (const auto& [key, value] : run.measures) {
      if (!std::isfinite(value)) bad.push_back(key);
    }
    if (!bad.empty()) inputs.warnings.push_back({id, "not a number: " + join(bad, ", ")});
    const auto it = run.measures.find("train.accuracy");
    if (run.complete() && it != run.measures.end() && it->second < 0.98) {
      inputs.warnings.push_back({id, "not converged: training accuracy below 98 %"});
    }
  }
}

void warn_groups(Inputs& inputs) {
  std::size_t few = 0, dropped = 0;
  for (const Group& g : inputs.groups) {
    if (!inputs.measure) break;
    const std::size_t n = values_of(inputs, g, inputs.measure->key()).size();
    few += n < 3 ? 1 : 0;
    dropped += g.runs.size() - n;
  }
  if (few != 0) {
    inputs.warnings.push_back(
        {-1, fmt::format("{} of {} settings have fewer than 3 seeds: no interval is given, and tests have "
                         "little power",
                         few, inputs.groups.size())});
  }
  if (dropped != 0) {
    inputs.warnings.push_back(
        {-1, fmt::format("{} run{} no finite {} and {} left out of means", dropped, dropped == 1 ? " has" : "s have",
                         inputs.measure->words(), dropped == 1 ? "is" : "are")});
  }
  std::set<std::string> data, versions;
  for (const Run& run : inputs.runs) {
    if (!run.usable()) continue;
    if (run.manifest.contains("data_hash") && run.manifest["data_hash"].is_string())
      data.insert(run.manifest["data_hash"].get<std::string>());
    if (run.manifest.contains("version") && run.manifest["version"].is_string())
      versions.insert(run.manifest["version"].get<std::string>());
  }
  if (data.size() > 1) inputs.warnings.push_back({-1, fmt::format("the runs used {} different data sets", data.size())});
  if (versions.size() > 1) inputs.warnings.push_back({-1, fmt::format("the runs come from {} versions", versions.size())});
}

}  // namespace

std::string split_words(const std::string& split) {
  if (split == "heldout" || split == "held_out") return "held-out";
  if (split == "train") return "training";
  if (split == "val" || split == "valid") return "validation";
  return split;
}

Measure Measure::of(const std::string& metric) {
  const std::size_t dot = metric.find('.');
  const MeasureRow* row = measure_of(metric);
  return {metric.substr(0, dot), metric.substr(dot + 1), row != nullptr && row->higher_is_better};
}

bool Measure::is_fraction() const {
  const MeasureRow* row = measure_of(name);
  return row != nullptr && row->is_fraction;
}

std::string Measure::words() const {
  const MeasureRow* row = measure_of(name);
  return split_words(split) + " " + (row != nullptr ? row->words : name);
}
std::string Measure::label() const { return is_fraction() ? words() + " (%)" : words(); }
std::string Measure::show(double value) const { return is_fraction() ? percent(value) : pretty(value, 4); }
std::string Measure::show_difference(double value) const {
  if (!is_fraction()) {
    std::string text = fmt::format("{:.4f}", value);
    if (text == "-0.0000") text = "0.0000";
    if (text[0] == '-') text.replace(0, 1, "−");
    return text;
  }
  std::string text = fmt::format("{:.1f}", 100 * value);
  if (text == "-0.0") text = "0.0";
  if (text[0] == '-') text.replace(0, 1, "−");
  return text + " points";
}

std::string encoding_words(const RunConfig& config) {
  std::string words = encoding_name(config);
  constexpr std::string_view kSigma = "sigma";
  if (const std::size_t at = words.find(kSigma); at != std::string::npos) words.replace(at, kSigma.size(), "σ");
  return words;
}

std::string config_text(const RunConfig& config, const std::string& key) {
  RunConfig copy = config;
  const FieldList list = describe(copy);
  for (const Field& f : list.fields()) {
    if (f.path == key) return f.text();
  }
  return "";
}

std::vector<double> values_of(const Inputs& inputs, const Group& group, const std::string& metric) {
  std::vector<double> values;
  for (const int r : group.runs) {
    const auto it = inputs.run(r).measures.find(metric);
    if (it != inputs.run(r).measures.end() && std::isfinite(it->second)) values.push_back(it->second);
  }
  return values;
}

Estimate mean_over_runs(const std::vector<double>& values, double x) {
  if (values.empty()) return {x, kNan, kNan, kNan};
  Estimate e{x, stats::mean(values), kNan, kNan};
  if (values.size() >= 3) {
    const stats::Interval interval = stats::mean_interval(values);
    e.lo = interval.lo;
    e.hi = interval.hi;
  }
  return e;
}

Inputs make_inputs(std::vector<Run> runs) {
  Inputs inputs;
  inputs.runs = std::move(runs);
  inputs.measure = find_measure(inputs.runs);
  make_groups(inputs);
  colour_groups(inputs);
  warn_runs(inputs);
  warn_groups(inputs);
  return inputs;
}

std::vector<int> representative_groups(const Inputs& inputs, std::size_t limit) {
  std::vector<std::pair<double, int>> ranked;
  for (std::size_t i = 0; i < inputs.groups.size() && inputs.measure; ++i) {
    const std::vector<double> values = values_of(inputs, inputs.groups[i], inputs.measure->key());
    if (!values.empty()) ranked.push_back({stats::mean(values), static_cast<int>(i)});
  }
  std::vector<int> chosen;
  if (ranked.size() <= limit) {
    for (const auto& r : ranked) chosen.push_back(r.second);
  } else {
    std::stable_sort(ranked.begin(), ranked.end());
    for (std::size_t k = 0; k < limit; ++k) chosen.push_back(ranked[k * (ranked.size() - 1) / (limit - 1)].second);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

int median_run(const Inputs& inputs, const Group& group) {
  std::vector<std::pair<double, int>> ranked;
  for (const int r : group.runs) {
    if (!inputs.measure) break;
    const auto it = inputs.run(r).measures.find(inputs.measure->key());
    if (it != inputs.run(r).measures.end() && std::isfinite(it->second)) ranked.push_back({it->second, r});
  }
  if (ranked.empty()) return group.runs[0];
  std::sort(ranked.begin(), ranked.end());
  return ranked[(ranked.size() - 1) / 2].second;
}

}  // namespace locus::report
