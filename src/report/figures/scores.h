// Measures of classes or numbers with intervals, the model beside simple predictors; and which classes are mistaken for
// which.
#pragma once

#include <string>
#include <vector>

#include "core/matrix.h"
#include "report/analysis.h"

namespace locus::report {

struct Scores {
  struct Row {
    int run = -1;
    std::string label, predictor, measure;
    double value = 0, low = 0, high = 0;
    long samples = 0;
  };
  std::vector<Row> rows;
};

Found<Scores> collect_scores(const Inputs& inputs);
Figure draw_scores(const Scores& data);
// run,predictor,measure,value,low,high,samples
std::string csv_scores(const Scores& data);

struct Confusion {
  struct Model {
    int run = -1;
    std::string label;
    std::vector<std::string> classes;
    MatrixD counts;  // (true, predicted)
  };
  std::vector<Model> models;
};

Found<Confusion> collect_confusion(const Inputs& inputs);
Figure draw_confusion(const Confusion& data);
// run,true,predicted,samples
std::string csv_confusion(const Confusion& data);

}  // namespace locus::report
