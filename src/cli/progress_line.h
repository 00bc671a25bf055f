// Progress of one training: a line that is redrawn on a terminal, a line an evaluation elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/screen.h"

namespace locus {
struct Progress;
}  // namespace locus

namespace locus::cli {

class ProgressLine {
 public:
  ProgressLine(bool quiet, std::string label);
  void update(const Progress& progress);
  // What fits into so many columns, most telling parts first.
  std::string text(const Progress& progress, std::size_t columns);
  void finish();

 private:
  bool quiet_;
  bool live_;
  LiveLines lines_;
  std::string label_;
  std::vector<LinePart> measured_;
};

}  // namespace locus::cli
