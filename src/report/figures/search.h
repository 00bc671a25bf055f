// What a search found: the score of every run against the searched key, with the training spent on it, the expected curve
// and its uncertainty; rivals as lines.
#pragma once

#include "report/figure.h"
#include "report/inputs.h"
#include "tune/store.h"

namespace locus::report {

struct SearchFigure {
  SearchPicture picture;
  std::vector<int> runs;  // of the report, one for each of the picture's; -1: not among them
  bool is_fraction = false;
  std::string words;  // of the score
};

Found<SearchFigure> collect_search(const Inputs& inputs);
Figure draw_search(const SearchFigure& data);
std::string csv_search(const SearchFigure& data);  // kind,candidate,run,seed,steps,value,score,lo,hi

}  // namespace locus::report
