#include "train/tensorboard.h"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>

#include "stats/matrix_correlation.h"
#include "train/optimizer.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTraining = "train";

MatrixD to_double(ConstMat m) {
  MatrixD out(m.rows, m.cols);
  for (std::ptrdiff_t r = 0; r < m.rows; ++r) std::copy_n(m.row(r), m.cols, out.row(r).begin());
  return out;
}

// Tags of one measure stand together: "accuracy", "accuracy/binary".
std::string tag_of(const MetricKey& key) { return key.condition.empty() ? key.measure : key.measure + "/" + key.condition; }

}  // namespace

bool epoch_has_pictures(std::int64_t epoch) {
  std::int64_t unit = 1;
  while (epoch > 10 * unit) unit *= 10;
  return epoch % unit == 0;
}

TensorBoard::TensorBoard(fs::path folder, const ModelStructure& structure, const float* initial)
    : folder_(std::move(folder)), s_(structure) {
  for (std::size_t i = 0; i < s_.layout.slots().size(); ++i) {
    const TensorSlot& slot = s_.layout.slots()[i];
    if (!slot.trained || !matches_pattern("*pe.*", slot.name)) continue;
    slots_.push_back(static_cast<std::int64_t>(i));
    initial_.emplace_back(initial + slot.offset, initial + slot.offset + slot.size);
  }
}

EventFile& TensorBoard::file(const std::string& split) {
  const auto found = files_.find(split);
  return found != files_.end() ? found->second : files_.emplace(split, EventFile(folder_ / split)).first->second;
}

void TensorBoard::begin(std::int64_t step, const Prepared& prepared) {
  file(kTraining);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.is_directory()) file(entry.path().filename().string()).keep_until(step);
  }
  if (step >= 0) return;
  std::vector<ProtoMessage> values;
  add_similarity(prepared, values);
  if (!values.empty()) file(kTraining).append(0, values);
}

void TensorBoard::write(const MetricRow& row, const Prepared& prepared) {
  std::map<std::string, std::vector<ProtoMessage>> by_split;
  by_split[kTraining] = {scalar_value("lr", row.lr), scalar_value("grad_norm", row.grad_norm)};
  for (const auto& [name, value] : row.values) {
    const MetricKey key = parse_metric_key(name);
    by_split[key.split].push_back(scalar_value(tag_of(key), value));
  }
  add_movement(prepared.params(), by_split[kTraining]);
  if (epoch_has_pictures(row.epoch)) add_similarity(prepared, by_split[kTraining]);
  for (const auto& [split, values] : by_split) file(split).append(row.step, values);
}

void TensorBoard::add_movement(const float* params, std::vector<ProtoMessage>& values) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const TensorSlot& slot = s_.layout[slots_[i]];
    std::vector<double> moved;
    for (std::int64_t k = 0; k < slot.size; ++k)
      moved.push_back(static_cast<double>(params[slot.offset + k]) -
                      static_cast<double>(initial_[i][static_cast<std::size_t>(k)]));
    values.push_back(histogram_value("encoding_movement/" + slot.name, moved));
  }
}

void TensorBoard::add_similarity(const Prepared& prepared, std::vector<ProtoMessage>& values) const {
  for (std::int64_t layer = 0; layer < s_.layers(); ++layer) {
    const ConstMat positions = prepared.positions(layer);
    if (positions.data == nullptr || s_.shape.tokens == 0) continue;
    const MatrixD code = to_double(positions.row_block(0, s_.shape.tokens));
    const MatrixD cosine = stats::cosine_similarity(stats::centre_rows(code.view()).view());
    values.push_back(matrix_value(fmt::format("similarity/layer {}", layer + 1), cosine.view(), -1, 1));
    if (s_.config.pe.shared) break;  // every layer's is the same
  }
}

void TensorBoard::sync() {
  for (auto& [split, file] : files_) file.sync();
}

}  // namespace locus
