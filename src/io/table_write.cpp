// Writing delimited tables, quoted where needed.
#include "core/error.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/file.h"
#include "io/table.h"
#include "io/temporary.h"

namespace locus {
namespace {
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
}

void write_csv(const std::filesystem::path& path, std::span<const std::string> header,
               std::span<const std::vector<std::string>> rows) {
  std::string text = header.empty() ? "" : csv_row(header);
  for (const auto& row : rows) {
    LOCUS_CHECK(header.empty() || row.size() == header.size(), "rows must be as wide as the header");
    text += csv_row(row);
  }
  write_file_atomic(path, text);
}

void write_csv(const std::filesystem::path& path, std::span<const std::string> column_names, ConstMatD values,
               std::span<const std::string> row_names) {
  LOCUS_CHECK(column_names.empty() || column_names.size() == static_cast<std::size_t>(values.cols), "one name per column");
  LOCUS_CHECK(row_names.empty() || row_names.size() == static_cast<std::size_t>(values.rows), "one name per row");
  TemporaryFile file(path);
  std::string text;  // a block of it: the whole of a large matrix takes more memory than its numbers
  std::vector<std::string> cells;
  if (!column_names.empty()) {
    if (!row_names.empty()) cells.emplace_back();
    cells.insert(cells.end(), column_names.begin(), column_names.end());
    text += csv_row(cells);
  }
  for (std::ptrdiff_t r = 0; r < values.rows; ++r) {
    cells.clear();
    if (!row_names.empty()) cells.push_back(row_names[static_cast<std::size_t>(r)]);
    for (std::ptrdiff_t c = 0; c < values.cols; ++c) cells.push_back(shortest(values(r, c)));
    text += csv_row(cells);
    if (text.size() < kBlockBytes) continue;
    file.write(bytes_of(text));
    text.clear();
  }
  file.write(bytes_of(text));
  file.put_in_place();
}

}  // namespace locus
