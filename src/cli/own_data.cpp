#include "cli/own_data.h"

#include <algorithm>
#include <filesystem>

#include "config/load.h"
#include "core/error.h"
#include "core/text.h"
#include "data/own_series.h"
#include "data/own_table.h"
#include "data/samples.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

RunConfig table_config(const OwnData& data, const DataOptions& options) {
  OwnTableOptions own;
  own.path = data.files[0];
  own.labels = options.labels;
  own.dataset = options.dataset;
  own.target = options.target;
  own.task = options.task;
  own.groups = options.groups;
  own.missing = options.missing;
  own.images = options.images;
  own.random_split = options.random_split;
  own.settings = data.settings;
  return own_table_config(own);
}

}  // namespace

bool is_setting(const std::string& word) {
  std::error_code code;
  return word.find('=') != std::string::npos && !fs::exists(word, code);
}

OwnData own_data(const DataOptions& options, const std::string& command) {
  OwnData out;
  for (const std::string& word : options.words) (is_setting(word) ? out.settings : out.files).push_back(word);
  if (out.files.empty()) {
    throw ConfigError({.what = "no data are named",
                       .where = "locus " + command,
                       .got = join(out.settings, " "),
                       .expected = "a table, pictures, recordings or a folder of them"});
  }
  const auto is_of_table = [](const std::string& s) {
    return s.starts_with("table.") || s.starts_with("images.") || s.starts_with("study=");
  };
  const bool asks_for_table = !options.target.empty() || !options.task.empty() || !options.groups.empty() ||
                              !options.missing.empty() || options.images ||
                              std::any_of(out.settings.begin(), out.settings.end(), is_of_table);
  if (out.files.size() > 1 && asks_for_table) {
    throw ConfigError({.what = "a table or a set of pictures is one file or folder",
                       .where = "locus " + command,
                       .got = join(out.files, ", "),
                       .expected = "one name beside --target, --task, --groups, --missing and --images",
                       .hint = "labels in a file of their own: --target FILE"});
  }
  out.is_table = asks_for_table || are_pictures(out.files[0]) || has_three_axes(out.files[0]);
  return out;
}

RunConfig own_config(const OwnData& data, const DataOptions& options) {
  RunConfig config;
  if (data.is_table) {
    config = table_config(data, options);
  } else if (are_region_series(data.files)) {
    config = own_series_config({data.files, options.labels, options.dataset});
  } else {
    config = samples_config({data.files[0], options.labels, options.dataset, options.random_split});
  }
  const std::int64_t planned = config.optim.schedule_steps;
  if (!data.is_table) {
    for (const std::string& s : data.settings) apply_override(config, s);
  }
  // A run that is asked to be shorter shall still end with a small rate.
  const bool own_length = std::any_of(data.settings.begin(), data.settings.end(),
                                      [](const auto& s) { return s.starts_with("optim.schedule_steps="); });
  if (config.optim.schedule == Schedule::kCosine && config.optim.schedule_steps == planned && config.stop.steps > 0 &&
      !own_length) {
    config.optim.schedule_steps = config.stop.steps;
    config.optim.warmup_steps = std::min(config.optim.warmup_steps, config.stop.steps / 10);
  }
  validate(config);
  return config;
}

}  // namespace locus::cli
