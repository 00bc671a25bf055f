// The public face of the report module: a page with all its files, one figure, or the list of figures.
#pragma once

#include <string>
#include <vector>

#include "report/theme.h"
#include "report/verdict.h"

namespace locus::report {

inline constexpr const char* kReportFile = "report.html";
inline constexpr const char* kRunsTable = "runs.csv";  // in the folder of its figures

struct ReportOptions {
  std::vector<std::string> dirs = {};     // run directories or folders of them
  std::string out = kReportFile;          // the page; figures go to <stem>_files/ beside it
  std::string title = {};                 // empty: made from the study
  std::vector<std::string> figures = {};  // names; empty: all that can be drawn
  Theme theme = Theme::kAuto;             // of the SVG files
};

struct ReportResult {
  std::string page;                   // path written
  std::string folder;                 // of the SVG and CSV files
  std::vector<std::string> figures;   // drawn
  std::vector<std::string> missing;   // "attention: needs ..."
  std::vector<std::string> warnings;  // of the runs
  std::size_t runs = 0;
  std::size_t bytes = 0;  // of the page
  Verdict verdict = {};
};

// Writes the page, every figure as .svg and .csv, and the tables as .csv. IoError when a folder is missing or holds no
// run, or when nothing can be written.
ReportResult write_report(const ReportOptions& options);

struct PlotOptions {
  Theme theme = Theme::kLight;
  std::vector<std::string> choices = {};  // "layer=2": which variant; empty: the first
};

// One figure as a complete SVG text; DataError says what is missing, ConfigError names unknown figures and choices.
std::string plot_figure(const std::string& name, const std::vector<std::string>& dirs, const PlotOptions& options = {});
// Its data.
std::string plot_csv(const std::string& name, const std::vector<std::string>& dirs);

struct FigureInfo {
  std::string name, title, needs;
};
std::vector<FigureInfo> figure_list();

}  // namespace locus::report
