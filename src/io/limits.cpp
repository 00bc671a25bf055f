#include "io/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "io/dtype.h"

namespace locus {

std::uint64_t largest_array_bytes() {
  static const std::uint64_t bytes = [] {
    std::uint64_t memory = std::uint64_t{32} << 30;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
      memory = std::min(memory, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page));
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0) memory = std::min<std::uint64_t>(memory, limit.rlim_cur);
    return memory / 4;
  }();
  return bytes;
}

ReadLimits ReadLimits::for_file(std::uint64_t bytes) const {
  ReadLimits limits = *this;
  const std::uint64_t most = std::uint64_t{1} << 50;
  limits.array_bytes = std::min(array_bytes, (std::uint64_t{256} << 20) + 64 * std::min(bytes, most));
  limits.header_bytes = std::min(header_bytes, (std::uint64_t{8} << 20) + 4 * std::min(bytes, most));
  return limits;
}

std::uint64_t checked_count(std::span<const std::int64_t> shape, std::string_view where, const ReadLimits& limits) {
  const auto count = checked_product(shape);
  if (count && *count <= limits.array_bytes / sizeof(double)) return *count;
  throw IoError(
      {.what = "the array is too large",
       .where = std::string(where),
       .got = "shape " + shape_text(shape),
       .expected = "at most " + human_bytes(static_cast<double>(limits.array_bytes)) + " as doubles",
       .hint = "if the file is sound, give a part of the array, store it with less compression, or use more memory"});
}

}  // namespace locus
