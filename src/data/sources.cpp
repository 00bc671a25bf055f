// The one list of the program's own sources of data.
#include "config/sources.h"

#include "config/run_config.h"
#include "core/text.h"
#include "data/arrays.h"
#include "data/latin_examples.h"
#include "data/nmar.h"
#include "data/samples.h"
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

}  // namespace

std::vector<SourceRow> built_in_sources() {
  const ConfigSection lst = {"lst", [](RunConfig& c, FieldList& list) { describe(c.lst, list); }};
  const ConfigSection series = {"series", [](RunConfig& c, FieldList& list) { describe(c.series, list); }};
  const ConfigSection nmar = {"nmar", [](RunConfig& c, FieldList& list) { describe(c.nmar, list); }};
  return {
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

}  // namespace locus
