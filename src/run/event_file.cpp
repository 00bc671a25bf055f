#include "run/event_file.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/file.h"
#include "io/picture.h"
#include "io/records.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr int kBuckets = 30;             // what TensorBoard shows
constexpr std::ptrdiff_t kPixels = 256;  // that a picture has at least

// Fields of Event, Summary, Summary.Value, HistogramProto and Image in TensorFlow's event.proto and summary.proto.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
}
namespace summary {
constexpr int kValue = 1;
}
namespace value {
constexpr int kTag = 1, kScalar = 2, kImage = 4, kHistogram = 5;
}
namespace histogram {
constexpr int kMin = 1, kMax = 2, kCount = 3, kSum = 4, kSquares = 5, kLimits = 6, kCounts = 7;
}
namespace image {
constexpr int kHeight = 1, kWidth = 2, kColours = 3, kPng = 4;
}
constexpr int kRgba = 4;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Bytes of the events up to `step` at the file's beginning; 0 when not even the first record is whole.
std::uint64_t length_until(ByteSpan bytes, const std::string& name, std::int64_t step) {
  ByteReader in(bytes, name);
  std::uint64_t good = 0;
  try {
    while (const auto record = next_record(in)) {
      const std::int64_t at = proto_integer(*record, event::kStep, name).value_or(-1);
      if (at > step) break;
      good = in.position();
    }
  } catch (const IoError&) {
    return good;  // cut or damaged from here on
  }
  return good;
}

}  // namespace

ProtoMessage scalar_value(const std::string& tag, double v) {
  return ProtoMessage().text(value::kTag, tag).number(value::kScalar, static_cast<float>(v));
}

ProtoMessage histogram_value(const std::string& tag, std::span<const double> given) {
  std::vector<double> values;
  for (const double v : given) {
    if (std::isfinite(v)) values.push_back(v);
  }
  if (values.empty()) return ProtoMessage().text(value::kTag, tag).message(value::kHistogram, ProtoMessage());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const int buckets = *high > *low ? kBuckets : 1;
  const double width = (*high - *low) / buckets;
  std::vector<double> limits, counts(static_cast<std::size_t>(buckets));
  for (int i = 1; i < buckets; ++i) limits.push_back(*low + width * i);
  limits.push_back(*high);
  double sum = 0, squares = 0;
  for (const double v : values) {
    const int place = width > 0 ? static_cast<int>((v - *low) / width) : 0;
    counts[static_cast<std::size_t>(std::clamp(place, 0, buckets - 1))] += 1;
    sum += v;
    squares += v * v;
  }
  ProtoMessage h;
  h.number(histogram::kMin, *low).number(histogram::kMax, *high);
  h.number(histogram::kCount, static_cast<double>(values.size())).number(histogram::kSum, sum);
  h.number(histogram::kSquares, squares).numbers(histogram::kLimits, limits).numbers(histogram::kCounts, counts);
  return ProtoMessage().text(value::kTag, tag).message(value::kHistogram, h);
}

ProtoMessage matrix_value(const std::string& tag, ConstMatD values, double low, double high) {
  const auto scale = static_cast<int>(std::max<std::ptrdiff_t>(1, kPixels / std::max<std::ptrdiff_t>(1, values.rows)));
  const IndexImage pixels = matrix_image(values, low, high, scale);
  const std::vector<unsigned char> png = encode_png(pixels, colour_map(ColourMap::kDiverging));
  ProtoMessage picture;
  picture.integer(image::kHeight, pixels.height).integer(image::kWidth, pixels.width).integer(image::kColours, kRgba);
  picture.text(image::kPng, as_text(std::as_bytes(std::span(png))));
  return ProtoMessage().text(value::kTag, tag).message(value::kImage, picture);
}

EventFile::EventFile(const fs::path& folder) {
  ensure_writable_directory(folder);
  file_ = AppendFile(folder / kName);
  if (file_.size() == 0) begin();
}

// The record that every event file starts with; it has no step.
void EventFile::begin() {
  file_.append(record_of(ProtoMessage().number(event::kWallTime, now()).text(event::kFileVersion, "brain.Event:2").bytes()));
}

void EventFile::keep_until(std::int64_t step) {
  const std::uint64_t size = file_.size();
  const Bytes bytes = read_file(file_.path(), std::numeric_limits<std::uint64_t>::max());
  const std::uint64_t good = length_until(bytes, file_.path().string(), step);
  if (good < size) file_.truncate(good);
  if (good == 0) begin();
}

void EventFile::append(std::int64_t step, std::span<const ProtoMessage> values) {
  ProtoMessage all;
  for (const ProtoMessage& v : values) all.message(summary::kValue, v);
  ProtoMessage message;
  message.number(event::kWallTime, now()).integer(event::kStep, step).message(event::kSummary, all);
  file_.append(record_of(message.bytes()));
}

}  // namespace locus
