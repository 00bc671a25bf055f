#include "report/png.h"

#include <algorithm>
#include <cmath>

#include "io/compress.h"
#include "report/markup.h"

namespace locus::report {

std::string png_data_uri(const IndexImage& image, const std::array<Rgb, 256>& palette) {
  return "data:image/png;base64," + base64(encode_png(image, palette));
}

std::string packed_values(ConstMatD values, double lo, double hi, bool symmetric) {
  std::vector<unsigned char> raw;
  raw.reserve(static_cast<std::size_t>(values.rows * values.cols) * 2);
  const double span = hi > lo ? hi - lo : 1;
  for (std::ptrdiff_t r = 0; r < values.rows; ++r) {
    for (std::ptrdiff_t c = symmetric ? r : 0; c < values.cols; ++c) {
      const double v = values(r, c);
      const double unit = std::clamp((v - lo) / span, 0.0, 1.0);
      const auto step = std::isnan(v) ? 65535u : static_cast<unsigned>(std::lround(unit * kPackedSteps));
      raw.push_back(static_cast<unsigned char>(step & 255));
      raw.push_back(static_cast<unsigned char>(step >> 8));
    }
  }
  const Bytes packed = deflate_all(std::as_bytes(std::span(raw)), DeflateFormat::kZlib);
  return base64({reinterpret_cast<const unsigned char*>(packed.data()), packed.size()});
}

}  // namespace locus::report
