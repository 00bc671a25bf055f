#include "data/export.h"

#include <string>
#include <vector>

#include "config/tasks.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/table.h"

namespace locus {
namespace {

TensorView matrix_tensor(std::string name, const MatrixD& m) {
  return tensor_view<double>(std::move(name), {m.rows(), m.cols()}, m.values());
}

void write_tokens(const Dataset& d, const std::filesystem::path& path) {
  const TokenInfo& info = d.tokens_info;
  std::vector<std::string> header = {"index", "name"};
  if (!info.labels.empty()) header.emplace_back("network");
  if (!info.hemispheres.empty()) header.emplace_back("hemisphere");
  const bool three = info.coordinates.cols() == 3;
  if (three) header.insert(header.end(), {"x", "y", "z"});
  std::vector<std::vector<std::string>> rows;
  for (std::int64_t t = 0; t < d.tokens; ++t) {
    const auto i = static_cast<std::size_t>(t);
    std::vector<std::string> row = {std::to_string(t + 1),
                                    i < info.names.size() ? info.names[i] : "token" + std::to_string(t + 1)};
    if (!info.labels.empty()) row.push_back(info.label_names.at(static_cast<std::size_t>(info.labels[i])));
    if (!info.hemispheres.empty()) {
      const std::int32_t h = info.hemispheres[i];
      row.emplace_back(h == 0 ? "L" : h == 1 ? "R" : h < 0 ? "" : "other");
    }
    for (std::ptrdiff_t k = 0; three && k < 3; ++k) row.push_back(shortest(info.coordinates(t, k)));
    rows.push_back(std::move(row));
  }
  write_csv(path, header, rows);
}

}  // namespace

void write_masked_dataset(const Dataset& d, const std::filesystem::path& folder) {
  LOCUS_CHECK(task_row(d.task).hides_tokens, "a data set of masked prediction");
  ensure_writable_directory(folder);
  std::vector<TensorView> arrays;
  for (const auto& [name, e] : d.splits) {
    std::vector<std::int64_t> shape = {e.count, d.tokens};
    if (d.features > 1) shape.push_back(d.features);
    arrays.push_back(tensor_view<float>(name, shape, e.values));
    arrays.push_back(tensor_view<std::uint8_t>("mask." + name, {e.count, d.tokens}, e.masks));
  }
  const TokenInfo& info = d.tokens_info;
  if (!info.labels.empty()) arrays.push_back(tensor_view<std::int32_t>("labels", {d.tokens}, info.labels));
  if (info.coordinates.rows() > 0) arrays.push_back(matrix_tensor("coordinates", info.coordinates));
  for (const auto& [name, m] : info.truths) arrays.push_back(matrix_tensor("truth." + name, m));
  write_npz(folder / "samples.npz", arrays);
  write_tokens(d, folder / "tokens.csv");
}

}  // namespace locus
