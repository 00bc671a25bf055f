// What TensorBoard is shown of a training: each split's measures in a file of its own (so that splits lie over each other in
// one chart), and with those of training how far the encoding has moved and how similar its positions are.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/encoder.h"
#include "run/event_file.h"
#include "run/metrics.h"

namespace locus {

class TensorBoard {
 public:
  // `initial`: the parameters that the run began with; movement is measured from them.
  TensorBoard(std::filesystem::path folder, const ModelStructure& structure, const float* initial);

  // Once, before anything is written: goes on after the step of a checkpoint, or begins (-1) with the initial positions.
  void begin(std::int64_t step, const Prepared& prepared);
  // An evaluation; `prepared` holds the parameters it was made with.
  void write(const MetricRow& row, const Prepared& prepared);
  void sync();

 private:
  EventFile& file(const std::string& split);
  void add_movement(const float* params, std::vector<ProtoMessage>& values) const;
  void add_similarity(const Prepared& prepared, std::vector<ProtoMessage>& values) const;

  std::filesystem::path folder_;
  const ModelStructure& s_;
  std::vector<std::int64_t> slots_;          // of the layout: trained tensors of the encoding
  std::vector<std::vector<float>> initial_;  // of these
  std::map<std::string, EventFile> files_;
};

// Whether an evaluation after so many epochs also gets pictures: epochs 1 to 10, tens to 100, and so on.
bool epoch_has_pictures(std::int64_t epoch);

}  // namespace locus
