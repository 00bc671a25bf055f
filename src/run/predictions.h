// predictions.csv, written row by row under a temporary name and put in its place when complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/temporary.h"

namespace locus {

enum class PredictionKind { kClassification, kRegression };

struct ClassPrediction {
  std::string_view split;
  std::int64_t index = 0;
  std::string_view condition;
  std::int64_t cluster = -1;
  std::int64_t label = 0;
  std::int64_t predicted = 0;
};

class PredictionsWriter {
 public:
  PredictionsWriter(std::filesystem::path file, PredictionKind kind);

  void add(const ClassPrediction& row);
  void add(std::string_view split, std::string_view token, double mse);
  void finish();  // without it, nothing is left

 private:
  void flush_if(bool condition);
  PredictionKind kind_;
  TemporaryFile file_;
  std::string buffer_;
};

}  // namespace locus
