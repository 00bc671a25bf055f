#include "data/own_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "config/load.h"
#include "config/table_config.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/text.h"
#include "data/table/dataset.h"
#include "io/array.h"
#include "io/folder.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// What suits most tables: small, a rate that falls to zero, noise against learning samples by heart.
RunConfig encoder_for(const std::string& task) {
  RunConfig config;
  config.task = task;
  config.model.width = 64;
  config.pe.sigma = 0.1;
  config.optim.lr = 1e-3;
  config.train.batch = 32;
  config.stop.epochs = 0;
  config.stop.steps = 4000;
  config.watch.eval_steps = 500;
  if (task_row(task).hides_tokens) {
    config.model.readout = Readout::kMasked;
    return config;
  }
  config.model.readout = Readout::kMean;
  config.model.residual_dropout = 0.1;
  config.optim.schedule = Schedule::kCosine;
  config.optim.warmup_steps = 200;
  config.optim.schedule_steps = config.stop.steps;
  return config;
}

// Three axes are pictures or vectors; a wrong guess would learn something else without a word.
void refuse_unclear_axes(const OwnTableOptions& options) {
  const auto asked = [](const std::string& s) { return s.starts_with("study="); };
  if (options.images || std::any_of(options.settings.begin(), options.settings.end(), asked)) return;
  if (!has_three_axes(options.path)) return;
  const std::vector<std::int64_t> shape = read_array(options.path).shape;
  throw ConfigError({.what = fmt::format("an array of {} axes: pictures, or tokens that are vectors?", shape.size()),
                     .where = options.path,
                     .got = "shape " + shape_text(shape),
                     .expected = "a word from you",
                     .hint = "--images for pictures N x H x W (x C), study=table for samples x tokens x features"});
}

void name_data(const OwnTableOptions& options, RunConfig& config) {
  const bool pictures = options.images || are_pictures(options.path);
  config.study = pictures ? "images" : "table";
  refuse_unclear_axes(options);
  TableConfig& table = config.own.of<TableConfig>();
  ImagesConfig& images = config.own.of<ImagesConfig>();
  (pictures ? images.files : table.file) = options.path;
  (pictures ? images.dataset : table.dataset) = options.dataset;
  table.labels = options.labels;
  table.target = options.target;
  table.groups = options.groups;
  if (!options.missing.empty()) apply_override(config, "table.missing=" + options.missing);
  // Without a target rows may be moments of one recording: neighbours in time are alike.
  if (options.target.empty() && !options.random_split && options.groups.empty() && !pictures)
    table.split = TableSplit::kTime;
}

}  // namespace

bool has_three_axes(const std::string& path) {
  if (is_folder(path) || !fs::is_regular_file(path) || detect_format(path) != FileFormat::kNpy) return false;
  const std::vector<std::int64_t> shape = read_array(path).shape;
  return std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n != 1; }) > 2;
}

bool are_pictures(const std::string& path) {
  if (is_folder(path)) {
    const std::vector<fs::path> files = files_below(path);
    return std::any_of(files.begin(), files.end(),
                       [](const fs::path& file) { return to_lower(file.extension().string()) == ".png"; });
  }
  return fs::is_regular_file(path) && detect_format(path) == FileFormat::kIdx;
}

RunConfig own_table_config(const OwnTableOptions& options) {
  // First what is needed to look at the target, then the encoder that suits the task, then the user's own words again.
  RunConfig look;
  if (!options.task.empty()) apply_override(look, "task=" + options.task);
  name_data(options, look);
  for (const std::string& s : options.settings) apply_override(look, s);
  const std::string told = look.task;
  const std::string task = told == task_names().front() ? task_of_target(look) : told;
  RunConfig config = encoder_for(task);
  name_data(options, config);
  for (const std::string& s : options.settings) apply_override(config, s);
  config.task = task;
  return config;
}

}  // namespace locus
