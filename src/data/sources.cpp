// The one list of the program's own sources of data.
#include "config/sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "config/run_config.h"
#include "config/table_config.h"
#include "core/text.h"
#include "data/arrays.h"
#include "data/latin_examples.h"
#include "data/nmar.h"
#include "data/samples.h"
#include "data/table/dataset.h"
#include "io/file.h"
#include "io/table.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

void check_lst(const RunConfig& c) {
  if (c.lst.source == LstSource::kAuthors && c.lst.dir.empty())
    contradiction("lst.source = authors without lst.dir", "name the folder of the four CSV files with lst.dir=...");
}

std::vector<fs::path> lst_files(const RunConfig& c) {
  return c.lst.source == LstSource::kAuthors ? expand_glob((fs::path(c.lst.dir) / "*.csv").string())
                                             : std::vector<fs::path>{};
}

void forget_lst_folder(RunConfig& c) { c.lst.dir = c.lst.source == LstSource::kAuthors ? "authors" : ""; }

void check_files(const RunConfig& c) {
  if (c.series.files.empty() && c.series.manifest.empty()) {
    contradiction("series.source = files without series.files or series.manifest",
                  "name the files, e.g. series.files=[\"rest/*.h5\"]");
  }
}

std::vector<fs::path> series_paths(const RunConfig& config) {
  const SeriesConfig& c = config.series;
  std::vector<fs::path> paths;
  for (const auto* patterns : {&c.files, &c.test_files}) {
    for (const std::string& pattern : *patterns) {
      for (const fs::path& p : expand_glob(pattern)) paths.push_back(p);
    }
  }
  if (!c.manifest.empty()) {
    paths.emplace_back(c.manifest);
    TableOptions options;
    options.header = Presence::kYes;
    const Table table = read_table(c.manifest, options);
    const std::size_t column = table.column("path");
    for (const auto& row : table.rows) {
      const fs::path p = std::string(trim(row[column]));
      paths.push_back(p.is_absolute() ? p : fs::path(c.manifest).parent_path() / p);
    }
  }
  if (!c.atlas.empty()) paths.emplace_back(c.atlas);
  return paths;
}

void forget_series_files(RunConfig& c) {
  c.series.files.clear();
  c.series.test_files.clear();
  c.series.manifest.clear();
  c.series.atlas.clear();
}

// What is to be predicted decides the shape of the model, so it is said, never found out on the way.
void check_table_task(const RunConfig& c) {
  const TableConfig& table = c.own.of<TableConfig>();
  if (c.task == "auto") {
    contradiction(fmt::format("study = {} needs the key task", c.study),
                  "task = classify, regress or masked; locus fit tells it from the target");
  }
  if (c.task != "masked" && table.target.empty())
    contradiction(fmt::format("task = {} without table.target", c.task),
                  "name the column or file to predict: table.target (--target)");
  if (c.mask.loss == MaskLoss::kAll && table.missing == MissingValues::kMask) {
    contradiction("mask.loss = all asks for every token, also those that table.missing = mask lets be missing",
                  "use mask.loss = masked with model.readout = masked");
  }
}

void check_table(const RunConfig& c) {
  if (c.own.of<TableConfig>().file.empty()) contradiction("study = table without table.file", "name the table: table.file");
  check_table_task(c);
}

void check_images(const RunConfig& c) {
  if (c.own.of<ImagesConfig>().files.empty())
    contradiction("study = images without images.files", "name an array, an IDX file or a folder of PNG files");
  check_table_task(c);
}

// Files among the settings that name a column, an array or a file.
std::vector<fs::path> files_beside(const RunConfig& c) {
  const TableConfig& table = c.own.of<TableConfig>();
  std::vector<std::string> names = table.target;
  names.insert(names.end(), {table.groups, table.split_column, table.labels});
  std::vector<fs::path> out;
  for (const std::string& name : names) {
    std::error_code code;
    if (!name.empty() && fs::is_regular_file(name, code)) out.emplace_back(name);
  }
  return out;
}

std::vector<fs::path> table_files(const RunConfig& c) {
  std::vector<fs::path> out = files_beside(c);
  out.emplace_back(c.own.of<TableConfig>().file);
  return out;
}

std::vector<fs::path> image_files(const RunConfig& c) {
  std::vector<fs::path> out = files_beside(c);
  const fs::path files = c.own.of<ImagesConfig>().files;
  std::error_code code;
  if (!fs::is_directory(files, code)) {
    out.push_back(files);
    return out;
  }
  for (const auto& entry : fs::recursive_directory_iterator(files)) {
    if (entry.is_regular_file()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Names of columns stay; those of files go.
void forget_table_files(RunConfig& c) {
  TableConfig& table = c.own.of<TableConfig>();
  const auto forget = [](std::string& name) {
    if (name.find('/') != std::string::npos || fs::path(name).has_extension()) name = fs::path(name).filename().string();
  };
  for (std::string& name : table.target) forget(name);
  forget(table.groups);
  forget(table.split_column);
  table.file.clear();
  table.labels.clear();
  c.own.of<ImagesConfig>().files.clear();
}

}  // namespace

namespace {

// Data that a user brings.
std::vector<SourceRow> own_sources() {
  const ConfigSection table = {"table", [](RunConfig& c, FieldList& list) { describe(c.own.of<TableConfig>(), list); }};
  const ConfigSection images = {"images", [](RunConfig& c, FieldList& list) { describe(c.own.of<ImagesConfig>(), list); }};
  return {
      {.name = "table",
       .study = "table",
       .title = "A table of samples",
       .summary = "a user's own table",
       .tasks = {"classify", "regress", "masked"},
       .sections = {table},
       .axes = 3,
       .no_labels = "give table.labels a table of the tokens with a column label",
       .make = make_table_dataset,
       .check = check_table,
       .files = table_files,
       .forget_places = forget_table_files},
      {.name = "images",
       .study = "images",
       .title = "Pictures",
       .summary = "pictures, whose tokens are pixels or patches",
       .tasks = {"classify", "regress", "masked"},
       .sections = {table, images},
       .axes = 2,
       .no_labels = "pixels have none; use the analysis unscramble",
       .make = make_table_dataset,
       .check = check_images,
       .files = image_files,
       .forget_places = forget_table_files},
      {.name = "arrays",
       .study = "arrays",
       .title = "Arrays of a program",
       .summary = "what a program hands over",
       .tasks = {"classify", "regress", "masked"},
       .axes = 2,
       .no_labels = "arrays of a program come without labels of tokens",
       .make = absent_arrays},
  };
}

}  // namespace

std::vector<SourceRow> built_in_sources() {
  const ConfigSection lst = {"lst", [](RunConfig& c, FieldList& list) { describe(c.lst, list); }};
  const ConfigSection series = {"series", [](RunConfig& c, FieldList& list) { describe(c.series, list); }};
  const ConfigSection nmar = {"nmar", [](RunConfig& c, FieldList& list) { describe(c.nmar, list); }};
  std::vector<SourceRow> rows = {
      {.name = "lst",
       .study = "lst",
       .title = "Latin square task",
       .summary = "Latin-square puzzles",
       .tasks = {"classify"},
       .sections = {lst},
       .split = "heldout",
       .axes = 2,
       .grid = true,
       .no_labels = "the cells of a Latin square have none; use the analysis recovery",
       .make = make_lst_dataset,
       .check = check_lst,
       .files = lst_files,
       .forget_places = forget_lst_folder,
       .coordinates = [](const RunConfig& c) { return latin_coordinates(c.lst); },
       .answer_tokens = latin_answer_tokens},
      {.name = "files",
       .study = "masked",
       .title = "Masked regions",
       .summary = "samples x tokens of files",
       .tasks = {"masked"},
       .sections = {series},
       .axes = 3,
       .no_labels = "give series.atlas a table with a column network",
       .make = [](const RunConfig& c, const std::string&) { return make_files_dataset(c); },
       .chosen = [](const RunConfig& c) { return c.series.source == SeriesSource::kFiles; },
       .check = check_files,
       .files = series_paths,
       .forget_places = forget_series_files},
      {.name = "nmar",
       .study = "masked",
       .title = "Network simulation",
       .summary = "a simulated network",
       .tasks = {"masked"},
       .sections = {series, nmar},
       .axes = 3,
       .no_labels = "give nmar.sizes more than one module",
       .make = [](const RunConfig& c, const std::string&) { return make_nmar_dataset(c); },
       .chosen = [](const RunConfig& c) { return c.series.source == SeriesSource::kNmar; }},
  };
  for (SourceRow& row : own_sources()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace locus
