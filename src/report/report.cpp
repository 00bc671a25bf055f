#include "report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "config/sources.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/temporary.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/registry.h"
#include "report/verdict.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

Inputs load_inputs(const std::vector<std::string>& dirs) {
  const std::vector<std::string> paths = find_run_paths(dirs);
  if (paths.empty()) {
    throw IoError({.what = "no run found",
                   .where = "",
                   .got = join(dirs, ", "),
                   .expected = "folders that locus train or locus sweep wrote",
                   .hint = "train first: locus train --out DIR"});
  }
  Inputs inputs = make_inputs(load_runs(paths));
  inputs.group_analyses = load_group_analyses(dirs, inputs.warnings);
  return inputs;
}

std::string default_title(const Inputs& inputs) {
  for (const Run& run : inputs.runs) {
    if (!run.config) continue;
    return source_of(*run.config).title + ": which positions were learned?";
  }
  return "Report of runs";
}

Found<Figure> make_guarded(const FigureSpec& spec, const Inputs& inputs) {
  try {
    Found<Figure> found = spec.make(inputs);
    if (found.value) found.value->name = spec.name;
    return found;
  } catch (const Error& error) {
    // A broken file must not cost the reader all other figures.
    return Found<Figure>::none(error.what());
  }
}

Figure make_or_throw(const std::string& name, const std::vector<std::string>& dirs) {
  const FigureSpec& spec = find_figure(name);
  Found<Figure> found = spec.make(load_inputs(dirs));
  if (!found.value) {
    throw DataError({.what = "figure " + name + " cannot be drawn",
                     .where = join(dirs, ", "),
                     .got = found.missing,
                     .expected = spec.needs,
                     .hint = "locus plot --list says what each figure needs"});
  }
  found.value->name = spec.name;
  return std::move(*found.value);
}

const Variant& choose(const Figure& figure, const std::vector<std::string>& choices) {
  LOCUS_CHECK(!figure.variants.empty(), "a figure without a drawing");
  for (const Variant& variant : figure.variants) {
    const bool fits = std::all_of(choices.begin(), choices.end(), [&](const std::string& choice) {
      return std::any_of(variant.choices.begin(), variant.choices.end(),
                         [&](const auto& own) { return own.first + "=" + own.second == choice; });
    });
    if (fits) return variant;
  }
  std::vector<std::string> known;
  for (const Variant& variant : figure.variants) {
    for (const auto& [key, value] : variant.choices) {
      const std::string text = key + "=" + value;
      if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
    }
  }
  throw ConfigError({.what = "no such choice in figure " + figure.name,
                     .where = "",
                     .got = join(choices, ", "),
                     .expected = known.empty() ? "none" : join(known, ", "),
                     .hint = ""});
}

void write_figure_files(const Figure& figure, const fs::path& folder, Theme theme) {
  for (const Variant& variant : figure.variants) {
    write_file_atomic(folder / (variant_file_name(figure, variant) + ".svg"), standalone_svg(figure, variant, theme));
  }
  write_file_atomic(folder / (figure.name + ".csv"), figure.csv);
}

constexpr std::size_t kPageBudget = 4'200'000;  // of figures; the rest of a page of 300 runs needs about 600 kB

std::size_t size_of(const Figure& figure) {
  std::size_t bytes = 0;
  for (const Variant& variant : figure.variants) {
    for (const Panel& panel : variant.panels) bytes += panel.body.size();
  }
  for (const MatrixData& m : figure.matrices) bytes += m.packed.size();
  return bytes;
}

// Keeps the page small: the largest figure gives up its last choice, until all fit. The files keep every choice.
void keep_within_budget(std::vector<Figure>& figures) {
  const std::string note = " The page leaves out some choices to stay small; the files hold all of them.";
  while (true) {
    std::size_t total = 0;
    Figure* largest = nullptr;
    for (Figure& figure : figures) {
      total += size_of(figure);
      if (figure.variants.size() > 1 && (largest == nullptr || size_of(figure) > size_of(*largest))) largest = &figure;
    }
    if (total <= kPageBudget || largest == nullptr) return;
    largest->variants.pop_back();
    std::string shown;
    for (const Variant& variant : largest->variants) {
      for (const Panel& panel : variant.panels) shown += panel.body;
    }
    std::erase_if(largest->matrices, [&](const MatrixData& m) {
      return shown.find("data-matrix=\"" + largest->name + "/" + m.id + "\"") == std::string::npos;
    });
    if (largest->caption.find(note) == std::string::npos) largest->caption += note;
  }
}

std::vector<const FigureSpec*> wanted_figures(const std::vector<std::string>& names) {
  std::vector<const FigureSpec*> wanted;
  if (names.empty()) {
    for (const FigureSpec& spec : figure_specs()) wanted.push_back(&spec);
  }
  for (const std::string& name : names) wanted.push_back(&find_figure(name));
  return wanted;
}

}  // namespace

ReportResult write_report(const ReportOptions& options) {
  const std::vector<const FigureSpec*> wanted = wanted_figures(options.figures);
  const Inputs inputs = load_inputs(options.dirs);
  ReportResult result;
  PageParts parts;
  parts.title = options.title.empty() ? default_title(inputs) : options.title;
  for (const FigureSpec* spec : wanted) {
    Found<Figure> found = make_guarded(*spec, inputs);
    if (found.value) {
      result.figures.push_back(spec->name);
      parts.figures.push_back(std::move(*found.value));
    } else {
      result.missing.push_back(spec->name + ": " + found.missing);
      parts.missing.push_back({spec->name, spec->title, found.missing});
    }
  }
  const fs::path page_path(options.out);
  const std::string stem = page_path.stem().string();
  const fs::path folder = page_path.parent_path() / (stem + "_files");
  ensure_writable_directory(folder);
  remove_stale_temporaries(folder);
  for (const Figure& figure : parts.figures) write_figure_files(figure, folder, options.theme);
  write_file_atomic(folder / "settings.csv", table_csv(settings_table(inputs)));
  write_file_atomic(folder / kRunsTable, table_csv(runs_table(inputs)));
  keep_within_budget(parts.figures);
  parts.files_folder = stem + "_files";
  result.verdict = make_verdict(inputs);
  const std::string page = make_page(inputs, parts);
  write_file_atomic(page_path, page);
  for (const Warning& w : inputs.warnings) {
    result.warnings.push_back((w.run < 0 ? std::string() : inputs.run(w.run).name + ": ") + w.text);
  }
  result.page = page_path.string();
  result.folder = folder.string();
  result.runs = inputs.runs.size();
  result.bytes = page.size();
  return result;
}

std::string plot_figure(const std::string& name, const std::vector<std::string>& dirs, const PlotOptions& options) {
  const Figure figure = make_or_throw(name, dirs);
  if (figure.variants.empty()) {
    throw DataError({.what = "figure " + name + " is a table and has no drawing",
                     .where = "",
                     .got = "",
                     .expected = "",
                     .hint = "write it as .csv instead"});
  }
  return standalone_svg(figure, choose(figure, options.choices), options.theme);
}

std::string plot_csv(const std::string& name, const std::vector<std::string>& dirs) { return make_or_throw(name, dirs).csv; }

std::vector<FigureInfo> figure_list() {
  std::vector<FigureInfo> list;
  for (const FigureSpec& spec : figure_specs()) list.push_back({spec.name, spec.title, spec.needs});
  return list;
}

}  // namespace locus::report
