// Loss and the main measure over training, one line per setting, with the spread over seeds.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct TrainingCurves {
  struct Line {
    int group = -1;
    std::string label, colour;
    std::vector<Estimate> mean;     // x: epoch; interval: Student's 95 % over runs
    std::vector<std::size_t> runs;  // behind each point
  };
  struct Single {
    int group = -1, run = -1;
    std::string label, colour;
    std::vector<Point> points;
  };
  struct View {
    std::string metric, title;
    bool log_scale = false, fraction = false;
    std::vector<Line> lines;
    std::vector<Single> singles;  // each run, where they are few
  };
  std::vector<View> views;
  std::size_t settings = 0, shown = 0;
};

Found<TrainingCurves> collect_training_curves(const Inputs& inputs);
Figure draw_training_curves(const TrainingCurves& data);
std::string csv_training_curves(const TrainingCurves& data);  // metric,setting,epoch,runs,mean,lo,hi

}  // namespace locus::report
