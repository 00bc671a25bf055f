// How often the test of networks against codes that know space alone errs: planted codes that are pure space must rarely be
// called networks, planted networks must be found. A CSV row a condition, written as soon as it is known: a condition that
// the file has is not computed again (its seeds are fixed), so that a call that was stopped goes on. ./run calibrate
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/text.h"
#include "io/file.h"
#include "io/table.h"
#include "model/pe/encoding.h"
#include "stats/linalg.h"
#include "stats/space_null.h"

namespace locus {
namespace {

constexpr std::ptrdiff_t kColumns = 64;
constexpr double kNoise = 0.05;  // variance of what each region has of its own, beside 1 of space
constexpr int kDraws = 99;       // of the null, in each test
constexpr std::uint64_t kSeed = 20406;

struct Regions {
  std::string name;
  MatrixD places;           // (n, 3) in mm
  std::vector<int> labels;  // networks

  std::ptrdiff_t count() const { return places.rows(); }
};

struct RegionFile {
  std::string path;
  std::array<const char*, 3> places;
  const char* network;
  int part_of_name = -1;  // the network is this part of a name like 7Networks_LH_Vis_1; -1: the whole text
};

std::string part(const std::string& text, int index) {
  if (index < 0) return text;
  std::size_t from = 0;
  for (int i = 0; i < index; ++i) from = text.find('_', from) + 1;
  return text.substr(from, text.find('_', from) - from);
}

Regions read_regions(const std::string& name, const RegionFile& file) {
  const Table table = read_table(file.path);
  Regions out{name, MatrixD(std::ssize(table.rows), 3), {}};
  std::map<std::string, int> numbers;
  const std::size_t network = table.column(file.network);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (std::size_t a = 0; a < 3; ++a)
      out.places(static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(a)) =
          table.number(i, table.column(file.places[a]));
    const std::string label = part(table.rows[i][network], file.part_of_name);
    out.labels.push_back(numbers.try_emplace(label, static_cast<int>(numbers.size())).first->second);
  }
  return out;
}

// Codes of pure space: Gaussian columns whose covariance falls with distance, alike on both sides where mirrored.
class SpaceCodes {
 public:
  SpaceCodes(const Regions& regions, double length, bool mirrored) {
    const std::ptrdiff_t n = regions.count();
    MatrixD covariance(n, n);
    const auto kernel = [&](std::ptrdiff_t i, std::ptrdiff_t j, double side) {
      double squares = 0;
      for (std::ptrdiff_t a = 0; a < 3; ++a) {
        const double d = regions.places(i, a) - (a == 0 ? side : 1) * regions.places(j, a);
        squares += d * d;
      }
      return std::exp(-squares / (2 * length * length));
    };
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < n; ++j)
        covariance(i, j) = kernel(i, j, 1) + (mirrored ? kernel(i, j, -1) : 0) + (i == j ? kNoise : 0);
    }
    const stats::SymmetricEigen eigen = stats::symmetric_eigen(covariance.view());
    root_ = eigen.vectors;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t k = 0; k < n; ++k)
        root_(i, k) *= std::sqrt(std::max(0.0, eigen.values[static_cast<std::size_t>(k)]));
    }
  }

  MatrixD draw(Rng& rng) const {
    MatrixD out(root_.rows(), kColumns);
    std::vector<double> numbers(static_cast<std::size_t>(kColumns));
    for (std::ptrdiff_t k = 0; k < root_.cols(); ++k) {
      for (double& v : numbers) v = rng.normal();
      for (std::ptrdiff_t i = 0; i < root_.rows(); ++i) {
        for (std::ptrdiff_t c = 0; c < kColumns; ++c) out(i, c) += root_(i, k) * numbers[static_cast<std::size_t>(c)];
      }
    }
    return out;
  }

 private:
  MatrixD root_;
};

// Each network adds a direction of its own.
void add_networks(const Regions& regions, double amplitude, Rng& rng, MatrixD& code) {
  std::map<int, std::vector<double>> directions;
  for (const int label : regions.labels) {
    auto& direction = directions[label];
    while (std::ssize(direction) < kColumns) direction.push_back(amplitude * rng.normal());
  }
  for (std::ptrdiff_t i = 0; i < code.rows(); ++i) {
    const auto& direction = directions.at(regions.labels[static_cast<std::size_t>(i)]);
    for (std::ptrdiff_t c = 0; c < kColumns; ++c) code(i, c) += direction[static_cast<std::size_t>(c)];
  }
}

// The table of results, by the first part of each row: what was asked.
class Results {
 public:
  explicit Results(std::string file) : file_(std::move(file)) {
    if (!std::filesystem::exists(file_)) return;
    for (const std::string& line : split(read_text_file(file_), '\n')) {
      const std::vector<std::string> cells = split(line, ',');
      if (cells.size() == 8 && line != kHead) rows_.emplace_back(asked(cells), line);
    }
  }
  bool has(const std::string& what) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row.first == what; });
  }
  void add(const std::string& what, double share, double mean) {
    rows_.emplace_back(what, fmt::format("{},{:.4f},{:.3f}", what, share, mean));
    std::string text = std::string(kHead) + "\n";
    for (const auto& [key, line] : rows_) text += line + "\n";
    write_file_atomic(file_, text);
    fmt::print("{}\n", rows_.back().second);
    std::fflush(stdout);
  }

 private:
  static constexpr const char* kHead = "regions,length_mm,mirrored,networks,codes,draws,share_p_below_0.05,mean_p";
  static std::string asked(std::vector<std::string> cells) {
    cells.resize(6);
    return join(cells, ",");
  }
  std::string file_;
  std::vector<std::pair<std::string, std::string>> rows_;
};

struct Condition {
  double length = 0;
  bool mirrored = false;
  double networks = 0;  // amplitude
  int repeats = 0;
};

void measure(const Regions& regions, const stats::SpaceBasis& space, const Condition& condition, ThreadPool& pool,
             Results& results) {
  const std::string what = fmt::format("{},{},{},{},{},{}", regions.name, condition.length,
                                       condition.mirrored ? "yes" : "no", condition.networks, condition.repeats, kDraws);
  if (results.has(what)) return;
  const SpaceCodes codes(regions, condition.length, condition.mirrored);
  std::vector<double> p(static_cast<std::size_t>(condition.repeats));
  const std::string stream =
      fmt::format("{} {} {} {}", regions.name, condition.length, condition.mirrored, condition.networks);
  pool.run(condition.repeats, [&](int repeat, int) {
    const std::uint64_t seed = derive_seed(kSeed, stream, static_cast<std::uint64_t>(repeat));
    Rng rng(seed, "calibration/code");
    MatrixD code = codes.draw(rng);
    if (condition.networks > 0) add_networks(regions, condition.networks, rng, code);
    p[static_cast<std::size_t>(repeat)] =
        stats::space_network_test(space, code.view(), regions.labels, {.count = kDraws, .seed = seed}).p;
  });
  int below = 0;
  double mean = 0;
  for (const double value : p) {
    below += value <= 0.05;
    mean += value / static_cast<double>(p.size());
  }
  results.add(what, static_cast<double>(below) / condition.repeats, mean);
}

// The fixed sinusoid of the coordinates: space and nothing else, but no random field.
void measure_sinusoid(const Regions& regions, const stats::SpaceBasis& space, ThreadPool& pool, Results& results) {
  constexpr int kManyDraws = 999;
  const std::string what = fmt::format("{},sinusoidal 3-D,no,0,1,{}", regions.name, kManyDraws);
  if (results.has(what)) return;
  PeConfig config;
  config.kind = PeKind::kSinusoidal;
  PeContext context;
  context.tokens = regions.count();
  context.width = kColumns;
  context.coordinates = regions.places;
  const std::vector<float> table = sinusoid_table(config, context);
  MatrixD code(regions.count(), kColumns);
  std::copy(table.begin(), table.end(), code.values().begin());
  const stats::SpaceTestOptions options{.count = kManyDraws, .seed = kSeed, .pool = &pool};
  const double p = stats::space_network_test(space, code.view(), regions.labels, options).p;
  results.add(what, p <= 0.05 ? 1 : 0, p);
}

void calibrate(const Regions& regions, int repeats, int power_repeats, ThreadPool& pool, Results& results) {
  const stats::SpaceBasis space(regions.places.view(), true);
  measure_sinusoid(regions, space, pool, results);
  for (const double length : {10.0, 20.0, 40.0}) {
    for (const bool mirrored : {false, true}) measure(regions, space, {length, mirrored, 0, repeats}, pool, results);
  }
  for (const double amplitude : {0.1, 0.2, 0.5})
    measure(regions, space, {20, true, amplitude, power_repeats}, pool, results);
}

}  // namespace
}  // namespace locus

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: space_null_calibration SHARED_DATA REPEATS_AT_100 REPEATS_AT_360 FILE.csv\n");
    return 2;
  }
  try {
    const std::string data = argv[1];
    locus::ThreadPool pool(locus::usable_cores());
    locus::Results results(argv[4]);
    const locus::RegionFile schaefer{
        data + "/formats/csv/Schaefer2018_100Parcels_7Networks_order_FSLMNI152_2mm.Centroid_RAS.csv",
        {"R", "A", "S"},
        "ROI Name",
        2};
    const locus::RegionFile glasser{data + "/hcp_glasser360/networks/glasser360_parcels.csv", {"x", "y", "z"}, "network"};
    const int at_100 = std::atoi(argv[2]), at_360 = std::atoi(argv[3]);
    locus::calibrate(locus::read_regions("Schaefer 100", schaefer), at_100, at_100 / 5, pool, results);
    locus::calibrate(locus::read_regions("Glasser 360", glasser), at_360, at_360 / 2, pool, results);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
