#include "data/table/images.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "io/array.h"
#include "io/folder.h"
#include "io/png.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// (N, H, W, C)
struct Pictures {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

// Other files that hold pictures: left out without a word they would be missing samples.
bool is_other_picture(const std::string& extension) {
  static constexpr std::array<std::string_view, 8> kOthers = {".jpg", ".jpeg", ".tif",  ".tiff",
                                                              ".bmp", ".gif",  ".webp", ".pgm"};
  return std::find(kOthers.begin(), kOthers.end(), extension) != kOthers.end();
}

std::vector<fs::path> png_files(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::path& path : files_below(folder)) {
    const std::string extension = to_lower(path.extension().string());
    if (extension == ".png") out.push_back(path);
    if (is_other_picture(extension)) {
      throw DataError({.what = "the folder holds pictures that can not be read",
                       .where = path.string(),
                       .got = extension,
                       .expected = "PNG files alone",
                       .hint = "save it as PNG, or move it elsewhere"});
    }
  }
  if (!out.empty()) return out;
  throw DataError({.what = "the folder holds no pictures",
                   .where = folder.string(),
                   .got = "no file that ends in .png",
                   .expected = "PNG files, also in folders below"});
}

RawColumn text_column(std::string name, std::vector<std::string> texts) {
  RawColumn out;
  out.name = std::move(name);
  out.texts = std::move(texts);
  return out;
}

Pictures read_folder(const fs::path& folder, RawTable& outside) {
  Pictures out;
  std::vector<std::string> files, folders;
  fs::path first;
  std::string depth;
  const std::vector<fs::path> paths = png_files(folder);
  for (const fs::path& path : paths) {
    NdArray picture = read_png(path);
    if (picture.shape.size() == 2) picture.shape.push_back(1);
    if (out.shape.empty()) {
      first = path;
      depth = picture.stored_type;
      out.shape = {0, picture.shape[0], picture.shape[1], picture.shape[2]};
      checked_count(
          std::vector<std::int64_t>{static_cast<std::int64_t>(paths.size()), out.shape[1], out.shape[2], out.shape[3]},
          folder.string(), {});
    }
    if (!std::equal(picture.shape.begin(), picture.shape.end(), out.shape.begin() + 1)) {
      throw DataError(
          {.what = "the pictures differ in size or colour",
           .where = path.string(),
           .got = "height x width x colours " + shape_text(picture.shape),
           .expected = fmt::format("({}, {}, {}) as in {}", out.shape[1], out.shape[2], out.shape[3], first.string()),
           .hint = "scale or crop them to one size, and save all in grey or all in colour"});
    }
    if (picture.stored_type != depth) {
      throw DataError({.what = "the pictures differ in the bits of a pixel: their numbers have two scales",
                       .where = path.string(),
                       .got = picture.stored_type,
                       .expected = fmt::format("{} as in {}", depth, first.string()),
                       .hint = "save all with 8 bits or all with 16"});
    }
    out.values.insert(out.values.end(), picture.values.begin(), picture.values.end());
    ++out.shape[0];
    files.push_back(fs::relative(path, folder).string());
    folders.push_back(path.parent_path() == folder ? "." : path.parent_path().filename().string());
  }
  outside.has_header = true;
  outside.sample_column = "file";
  outside.columns = {text_column("file", std::move(files)), text_column("folder", std::move(folders))};
  return out;
}

Pictures read_file_of_pictures(const ImagesConfig& config) {
  MatrixOptions options;
  options.dataset = config.dataset;
  NdArray array = read_array(config.files, options);
  if (array.shape.size() == 3) array.shape.push_back(1);
  const bool sound = array.shape.size() == 4 && array.shape[0] > 0 && array.shape[1] > 0 && array.shape[2] > 0;
  const bool channels_first = sound && array.shape[3] > 4 && array.shape[1] <= 4;
  if (!sound || array.shape[3] > 4) {
    throw DataError({.what = "these are no pictures",
                     .where = config.files,
                     .got = "shape " + shape_text(array.shape),
                     .expected = "N x H x W, or N x H x W x C of at most 4 colours",
                     .hint = channels_first ? "the colours come first: store the array as N x H x W x C"
                                            : "a table of samples x tokens is read with table.file"});
  }
  return {std::move(array.shape), std::move(array.values)};
}

void check_patch(const ImagesConfig& config, const std::vector<std::int64_t>& shape) {
  if (shape[1] % config.patch == 0 && shape[2] % config.patch == 0) return;
  throw ConfigError({.what = "the patches do not fill the pictures",
                     .where = "images.patch",
                     .got = fmt::format("{}", config.patch),
                     .expected = fmt::format("a divisor of the height {} and the width {}", shape[1], shape[2])});
}

// (N, patch * patch * C) numbers of the patch in this row and column of patches.
std::vector<double> patch_values(const Pictures& p, std::int64_t k, std::int64_t row, std::int64_t column) {
  const std::int64_t h = p.shape[1], w = p.shape[2], c = p.shape[3];
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(p.shape[0] * k * k * c));
  for (std::int64_t n = 0; n < p.shape[0]; ++n) {
    for (std::int64_t y = row * k; y < (row + 1) * k; ++y) {
      const auto begin = p.values.begin() + ((n * h + y) * w + column * k) * c;
      out.insert(out.end(), begin, begin + k * c);
    }
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> shuffled_order(std::int64_t n, std::int64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (seed < 0) return order;
  Rng rng(static_cast<std::uint64_t>(seed), "images/shuffle");
  rng.shuffle(std::span(order));
  return order;
}

RawImages read_images(const ImagesConfig& config, DataAudit& audit) {
  RawImages out;
  out.outside.source = config.files;
  const Pictures p = fs::is_directory(config.files) ? read_folder(config.files, out.outside) : read_file_of_pictures(config);
  check_patch(config, p.shape);
  out.outside.samples = p.shape[0];
  out.height = p.shape[1];
  out.width = p.shape[2];
  out.channels = p.shape[3];
  const std::int64_t rows = out.height / config.patch, columns = out.width / config.patch;
  RawTokens& tokens = out.tokens;
  tokens.source = config.files;
  tokens.samples = p.shape[0];
  tokens.features = config.patch * config.patch * out.channels;
  tokens.places.coordinates = MatrixD(rows * columns, 2);
  std::int64_t place = 0;
  for (const std::int64_t t : shuffled_order(rows * columns, config.shuffle)) {
    tokens.tokens.push_back({fmt::format("r{}c{}", t / columns + 1, t % columns + 1),
                             patch_values(p, config.patch, t / columns, t % columns),
                             {}});
    tokens.places.coordinates(place, 0) = static_cast<double>(t / columns);
    tokens.places.coordinates(place++, 1) = static_cast<double>(t % columns);
  }
  for (std::int64_t i = 0; i < tokens.samples; ++i) {
    tokens.sample_names.push_back(out.outside.columns.empty() ? fmt::format("picture {}", i + 1)
                                                              : out.outside.columns[0].texts[static_cast<std::size_t>(i)]);
  }
  audit.fact("pictures", fmt::format("{} of {} x {} pixels{}", p.shape[0], out.height, out.width,
                                     out.channels > 1 ? fmt::format(", {} colours", out.channels) : ""));
  audit.fact("tokens",
             fmt::format("{} x {} {}{}", rows, columns,
                         config.patch == 1 ? "pixels" : fmt::format("patches of {0} x {0} pixels", config.patch),
                         config.shuffle >= 0
                             ? fmt::format(", in an order drawn from seed {} that the model is not told", config.shuffle)
                             : ""));
  return out;
}

}  // namespace locus
