#include "run/predictions.h"

#include <fmt/core.h>

#include "core/error.h"
#include "core/text.h"
#include "io/codec.h"

namespace locus {
namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
}

PredictionsWriter::PredictionsWriter(std::filesystem::path file, PredictionKind kind) : kind_(kind), file_(std::move(file)) {
  buffer_ = kind == PredictionKind::kClassification ? "split,index,condition,cluster,label,predicted,correct\n"
                                                    : "split,token,mse\n";
}

void PredictionsWriter::add(const ClassPrediction& row) {
  LOCUS_CHECK(kind_ == PredictionKind::kClassification, "rows are of the writer's kind");
  buffer_ += fmt::format("{},{},{},{},{},{},{}\n", csv_field(row.split), row.index, csv_field(row.condition), row.cluster,
                         row.label, row.predicted, row.label == row.predicted ? 1 : 0);
  flush_if(buffer_.size() >= kBufferBytes);
}

void PredictionsWriter::add(std::string_view split, std::string_view token, double mse) {
  LOCUS_CHECK(kind_ == PredictionKind::kRegression, "rows are of the writer's kind");
  buffer_ += fmt::format("{},{},{}\n", csv_field(split), csv_field(token), shortest(mse));
  flush_if(buffer_.size() >= kBufferBytes);
}

void PredictionsWriter::flush_if(bool condition) {
  if (!condition) return;
  file_.write(bytes_of(buffer_));
  buffer_.clear();
}

void PredictionsWriter::finish() {
  flush_if(true);
  file_.put_in_place();
}

}  // namespace locus
