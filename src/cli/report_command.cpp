// locus report and plot.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/process.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "io/file.h"
#include "io/temporary.h"
#include "report/report.h"

namespace locus::cli {
namespace {

namespace fs = std::filesystem;

report::Theme theme_of(const std::string& name) {
  if (name == "light") return report::Theme::kLight;
  if (name == "dark") return report::Theme::kDark;
  throw ConfigError({.what = "no such theme", .where = "--theme", .got = name, .expected = "light or dark"});
}

// PNG and PDF are made from the SVG by librsvg's converter, where it is installed.
void convert_svg(const std::string& svg, const std::string& out, const std::string& format) {
  // A name that begins with a dash would be an option of the converter.
  const std::string target = out.starts_with('-') ? "./" + out : out;
  const fs::path drawing = temporary_name(target + ".svg");
  const fs::path picture = temporary_name(target);
  write_file_atomic(drawing, svg);
  const int code = run_and_wait({"rsvg-convert", "--format", format, "--zoom", format == "png" ? "2" : "1", "--output",
                                 picture.string(), drawing.string()});
  remove_file(drawing);
  if (code == 0) {
    rename_path(picture, target, "cannot put the finished figure in its place");
  } else {
    remove_file(picture);
    throw IoError({.what = "could not convert the figure",
                   .where = out,
                   .got = code == 127 ? "rsvg-convert is not installed" : fmt::format("rsvg-convert ended with {}", code),
                   .expected = "",
                   .hint = "install the package librsvg2-bin, or write an .svg"});
  }
}

}  // namespace

int run_report(const ReportCommandOptions& options) {
  report::ReportOptions o;
  o.dirs = options.dirs;
  if (!options.out.empty()) o.out = options.out;
  o.title = options.title;
  const report::ReportResult r = report::write_report(o);
  if (options.json) {
    print_line(Json{
        {"page", r.page},
        {"folder", r.folder},
        {"figures", r.figures},
        {"missing", r.missing},
        {"warnings", r.warnings},
        {"runs", r.runs},
        {"answer", r.verdict.sentences},
        {"may_say", r.verdict.may_say},
        {"not_yet", r.verdict.not_yet},
        {"bytes",
         r.bytes}}.dump(1));
    return kExitDone;
  }
  if (!options.quiet) {
    for (const std::string& m : r.missing) message_line("left out: " + m);
    for (const std::string& w : r.warnings) message_line("warning: " + w);
  }
  print_line(fmt::format("{} ({}, {} runs, {} figures; SVG and CSV in {})", r.page,
                         human_bytes(static_cast<double>(r.bytes)), r.runs, r.figures.size(), r.folder));
  print_wrapped("\n" + report::verdict_text(r.verdict));
  return kExitDone;
}

int run_plot(const PlotCommandOptions& options) {
  if (options.list || options.figure.empty()) {
    for (const report::FigureInfo& f : report::figure_list())
      print_line(fmt::format("{:<20} {}\n{:<20} needs {}", f.name, f.title, "", f.needs));
    return kExitDone;
  }
  if (options.dirs.empty())
    throw ConfigError(
        {.what = "no run directory given", .where = "locus plot", .got = "", .expected = "locus plot FIGURE DIR"});
  if (options.out.ends_with(".csv")) {
    write_file_atomic(options.out, report::plot_csv(options.figure, options.dirs));
    return kExitDone;
  }
  report::PlotOptions o;
  o.theme = theme_of(options.theme);
  o.choices = options.choices;
  const std::string svg = report::plot_figure(options.figure, options.dirs, o);
  if (options.out.empty() || options.out == "-") {
    print_line(svg);
  } else if (options.out.ends_with(".svg")) {
    write_file_atomic(options.out, svg);
  } else if (options.out.ends_with(".png") || options.out.ends_with(".pdf")) {
    convert_svg(svg, options.out, options.out.substr(options.out.size() - 3));
  } else {
    throw ConfigError(
        {.what = "unknown kind of picture", .where = "-o", .got = options.out, .expected = ".svg, .png, .pdf or .csv"});
  }
  return kExitDone;
}

}  // namespace locus::cli
