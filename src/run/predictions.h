// predictions.csv, written row by row under a temporary name and put in its place when complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "run/files.h"

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
  ~PredictionsWriter();  // without finish(), nothing is left
  PredictionsWriter(const PredictionsWriter&) = delete;
  PredictionsWriter& operator=(const PredictionsWriter&) = delete;

  void add(const ClassPrediction& row);
  void add(std::string_view split, std::string_view token, double mse);
  void finish();

 private:
  void flush_if(bool condition);
  std::filesystem::path target_;
  PredictionKind kind_;
  AppendFile file_;
  std::string buffer_;
};

}  // namespace locus
