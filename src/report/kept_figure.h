// A figure over results that were kept: one measure of single runs against another, studies told apart by colour. What is
// drawn stands in a TOML file, so that a picture of a document is made by a command from files of the repository.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/figure.h"

namespace locus::report {

struct KeptFigure {
  struct Dot {
    std::string study, label;  // label: encoding and seed of the run
    int colour = 0;
    double x = 0, y = 0;
    std::optional<double> floor = {}, limit = {};  // the same untrained; the most the measure could show
  };
  struct PanelData {
    std::string title;
    std::vector<Dot> dots;
  };
  std::string name, title, caption, x_label, y_label;
  std::vector<PanelData> panels;
};

// Reads <name>.figure.toml and the results it names (folders from `root`, by default two above the file). DataError for a
// file that is no such figure, or a study without a run that has the measures.
KeptFigure read_kept_figure(const std::filesystem::path& file);
Figure draw_kept_figure(const KeptFigure& data);
// panel,study,run,x,y,floor,limit
std::string csv_kept_figure(const KeptFigure& data);

}  // namespace locus::report
