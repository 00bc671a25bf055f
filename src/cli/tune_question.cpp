#include "cli/tune_question.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/environment.h"
#include "cli/own_data.h"
#include "core/error.h"
#include "core/text.h"

namespace locus::cli {
namespace {

bool is_configuration(const std::string& word) { return word.ends_with(".toml"); }

// The grid of a sweep file becomes lists to choose from.
void take_axes(const SweepSpec& spec, TuneQuestion& question) {
  const SweepCase& only = spec.cases.at(0);
  const bool joined = std::any_of(only.axes.begin(), only.axes.end(), [](const SweepAxis& a) { return a.keys.size() > 1; });
  if (spec.cases.size() > 1 || joined || !spec.conditions.empty() || !spec.skips.empty()) {
    throw ConfigError({.what = "a search takes one case and a plain grid of a sweep file",
                       .where = "locus tune",
                       .got = fmt::format("{} cases, {} conditions, {} skips{}", spec.cases.size(), spec.conditions.size(),
                                          spec.skips.size(), joined ? ", keys varied together" : ""),
                       .hint = "give the configuration of the case that is meant, and the keys to search"});
  }
  question.base = only.base;
  for (const SweepAxis& axis : only.axes) {
    if (axis.keys[0] == "seed") {
      question.base.seed = std::get<std::int64_t>(axis.rows[0][0]);
      continue;
    }
    TuneKey key;
    key.key = axis.keys[0];
    for (const std::vector<FieldValue>& row : axis.rows) key.values.push_back(row[0]);
    question.keys.push_back(std::move(key));
  }
}

}  // namespace

TuneQuestion tune_question(const TuneCommandOptions& options, const std::string& command) {
  TuneQuestion q;
  q.budget = options.budget;
  q.metric = options.metric;
  q.aim = options.aim == "readability" ? TuneAim::kReadability : TuneAim::kScore;
  q.rivals = !options.no_rivals;
  std::vector<std::string> files, settings;
  for (const std::string& word : options.words) {
    if (!is_setting(word)) {
      files.push_back(word);
    } else if (is_tune_key(word)) {
      q.keys.push_back(parse_tune_key(word));
    } else {
      settings.push_back(word);
    }
  }
  if (files.empty()) {
    throw ConfigError({.what = "no configuration and no data are named",
                       .where = command,
                       .got = join(options.words, " "),
                       .expected = "a .toml file, a table, recordings or a folder of them"});
  }
  if (files.size() == 1 && is_configuration(files[0])) {
    SweepSpec spec = load_sweep({config_file(files[0]), settings, {}});
    take_axes(spec, q);
  } else {
    DataOptions data = options;
    data.words = files;
    data.words.insert(data.words.end(), settings.begin(), settings.end());
    q.base = own_config(own_data(data, "tune"), data);
  }
  validate(q.base);
  return q;
}

}  // namespace locus::cli
