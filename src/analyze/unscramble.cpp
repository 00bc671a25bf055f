#include "analyze/unscramble.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "config/table_config.h"
#include "core/error.h"
#include "core/rng.h"
#include "data/table/dataset.h"
#include "stats/bootstrap.h"
#include "stats/matrix_correlation.h"
#include "stats/unscramble.h"

namespace locus {
namespace {

constexpr int kRandomPlaces = 200;
constexpr std::int64_t kPictures = 6;
constexpr std::int64_t kMostTokens = 1024;  // placing takes time with the cube of the tokens

using Cells = std::vector<std::int64_t>;

struct Truth2d {
  stats::Grid grid;
  Cells cells;
};

// The smallest grid around the tokens; tokens that were left out leave cells empty.
Truth2d true_grid(const AnalysisRun& run) {
  const MatrixD& c = run.info.coordinates;
  const auto whole = [](double v) { return std::isfinite(v) && v == std::floor(v) && std::abs(v) < 1e6; };
  if (c.cols() != 2 || c.rows() == 0 || !std::all_of(c.values().begin(), c.values().end(), whole)) {
    throw DataError({.what = "the tokens have no places on a grid of rows and columns",
                     .where = run.path.string(),
                     .expected = "pictures, or a table of tokens with whole coordinates x and y"});
  }
  double low[2], high[2];
  for (std::ptrdiff_t x = 0; x < 2; ++x) {
    low[x] = high[x] = c(0, x);
    for (std::ptrdiff_t t = 0; t < c.rows(); ++t) {
      low[x] = std::min(low[x], c(t, x));
      high[x] = std::max(high[x], c(t, x));
    }
  }
  Truth2d out;
  out.grid = {static_cast<std::int64_t>(high[0] - low[0]) + 1, static_cast<std::int64_t>(high[1] - low[1]) + 1};
  for (std::ptrdiff_t t = 0; t < c.rows(); ++t)
    out.cells.push_back(static_cast<std::int64_t>(c(t, 0) - low[0]) * out.grid.columns +
                        static_cast<std::int64_t>(c(t, 1) - low[1]));
  if (!run.info.symmetries.empty()) {
    throw DataError({.what = "tokens of this task may change places in other ways than those of a picture",
                     .where = run.path.string(),
                     .expected = "a task without symmetries of its own",
                     .hint = "the analysis recovery takes them into account"});
  }
  if (c.rows() > kMostTokens) {
    throw DataError({.what = "too many tokens to place one by one",
                     .where = run.path.string(),
                     .got = fmt::format("{}", c.rows()),
                     .expected = fmt::format("at most {}", kMostTokens),
                     .hint = "images.patch joins pixels"});
  }
  return out;
}

struct Interval {
  double mean = kNotAvailable, low = kNotAvailable, high = kNotAvailable;
};

// Over tokens that have a true neighbour.
Interval over_tokens(const std::vector<double>& shares, std::uint64_t seed) {
  std::vector<double> known;
  std::copy_if(shares.begin(), shares.end(), std::back_inserter(known), [](double v) { return !std::isnan(v); });
  Interval out;
  if (known.empty()) return out;
  const auto mean = [](std::span<const double> x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  };
  out.mean = mean(known);
  if (known.size() < 2) return out;
  stats::BootstrapOptions options;
  options.seed = seed;
  options.kind = stats::BootstrapKind::kPercentile;
  const stats::BootstrapResult boot = stats::bootstrap(known, mean, options);
  out.low = boot.interval.lo;
  out.high = boot.interval.hi;
  return out;
}

double chance_of(const Truth2d& truth, std::uint64_t seed) {
  Rng rng(seed, "unscramble/chance");
  Cells cells(static_cast<std::size_t>(truth.grid.cells()));
  std::iota(cells.begin(), cells.end(), std::int64_t{0});
  double total = 0;
  for (int k = 0; k < kRandomPlaces; ++k) {
    rng.shuffle(std::span(cells));
    total +=
        stats::compare_grids(
            truth.cells, Cells(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(truth.cells.size())), truth.grid)
            .neighbours;
  }
  return total / kRandomPlaces;
}

// Cells found, turned and mirrored so that most tokens stand in their own.
Cells turned_to_truth(const Truth2d& truth, const Cells& found) {
  Cells best = found;
  std::int64_t most = -1;
  for (const Cells& symmetry : stats::grid_symmetries(truth.grid)) {
    Cells turned;
    std::int64_t right = 0;
    for (std::size_t t = 0; t < found.size(); ++t) {
      turned.push_back(symmetry[static_cast<std::size_t>(found[t])]);
      right += turned[t] == truth.cells[t] ? 1 : 0;
    }
    if (right <= most) continue;
    most = right;
    best = turned;
  }
  return best;
}

MatrixD likeness(const MatrixD& code) { return stats::cosine_similarity(stats::centre_rows(code.view()).view()); }

class Placer {
 public:
  Placer(const Truth2d& truth, const AnalyzeSettings& settings, UnscrambleResult& out)
      : truth_(truth), seed_(static_cast<std::uint64_t>(settings.seed)), out_(out), chance_(chance_of(truth, seed_)) {}

  Cells place(UnscrambleRow row, const MatrixD& similarity) {
    const Cells found = stats::unscramble(similarity.view(), truth_.grid).cell;
    const stats::GridMeasures m = stats::compare_grids(truth_.cells, found, truth_.grid);
    const Interval near = over_tokens(m.token_neighbours, seed_);
    row.neighbours = m.neighbours;
    row.neighbours_low = near.low;
    row.neighbours_high = near.high;
    row.chance = chance_;
    row.distance_correlation = m.distance_correlation;
    row.in_place = m.in_place;
    const Interval similar =
        over_tokens(stats::neighbours_among_most_similar(similarity.view(), truth_.cells, truth_.grid), seed_);
    row.most_similar = similar.mean;
    row.most_similar_low = similar.low;
    row.most_similar_high = similar.high;
    out_.placements.push_back(std::move(row));
    return turned_to_truth(truth_, found);
  }

  // Each layer by itself, then all of them; the places of the latter are kept.
  void place_codes(const std::string& model, const std::string& code, const std::vector<LayerCode>& layers) {
    if (layers.empty()) return;
    MatrixD mean;
    for (const LayerCode& layer : layers) {
      const MatrixD s = likeness(layer.code);
      if (mean.rows() == 0) mean = MatrixD(s.rows(), s.cols());
      for (std::size_t i = 0; i < s.values().size(); ++i)
        mean.values()[i] += s.values()[i] / static_cast<double>(layers.size());
      if (layers.size() > 1) place({.model = model, .layer = layer.layer, .code = code}, s);
    }
    keep(model + "." + code, place({.model = model, .layer = -1, .code = code}, mean));
  }

  void keep(const std::string& name, const Cells& cells) {
    ResultArray array;
    array.name = name == "truth" ? name : "placed." + name;
    array.shape = {static_cast<std::int64_t>(cells.size())};
    for (const std::int64_t c : cells) array.values.push_back(static_cast<float>(c));
    array.shown = true;
    out_.arrays.push_back(std::move(array));
  }

 private:
  const Truth2d& truth_;
  std::uint64_t seed_;
  UnscrambleResult& out_;
  double chance_;
};

// Some samples outside of training as the data have them, by the scales that the run keeps.
void keep_pictures(const AnalysisRun& run, const Dataset& dataset, UnscrambleResult& out) {
  const auto stored = dataset.description.find(kCoderKey);
  const Examples& e = dataset.has_split("test") ? dataset.split("test") : dataset.split("train");
  if (stored == dataset.description.end() || e.values.empty()) return;
  const TableCoder coder = TableCoder::from_json(Json::parse(stored->second));
  ResultArray array;
  array.name = "pictures";
  array.shown = true;
  array.shape = {std::min(kPictures, e.count), dataset.tokens, dataset.features};
  const auto f = static_cast<std::size_t>(dataset.features);
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.shape[0] * dataset.tokens) * f; ++i) {
    const TokenCode& t = coder.tokens[i / f % coder.tokens.size()];
    array.values.push_back(static_cast<float>(static_cast<double>(e.values[i]) * t.sd[i % f] + t.mean[i % f]));
  }
  out.arrays.push_back(std::move(array));
  out.patch = run.config.own.of<ImagesConfig>().patch;
}

}  // namespace

void require_grid(const AnalysisRun& run) { true_grid(run); }

UnscrambleResult analyze_unscramble(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                                    const AnalyzeProgress& progress) {
  UnscrambleResult out;
  const Truth2d truth = true_grid(run);
  out.rows = truth.grid.rows;
  out.columns = truth.grid.columns;
  const AnalysisModel& trained = run.require_trained();
  const std::vector<LayerCode> codes = layer_codes(run, trained);
  Placer placer(truth, settings, out);
  placer.keep("truth", truth.cells);
  if (const auto found = run.info.truths.find("correlation"); found != run.info.truths.end()) {
    if (progress) progress("placing by correlations", 0);
    placer.keep("data.correlation", placer.place({.model = "data", .layer = -1, .code = "correlation"}, found->second));
  }
  if (progress) progress("placing by the learned table", 0.2);
  placer.place_codes("final", "raw", codes);
  if (const AnalysisModel* initial = run.initial()) {
    const std::vector<LayerCode> start = layer_codes(run, *initial);
    if (progress) progress("placing by an untrained table", 0.5);
    placer.place_codes("init", "raw", start);
    const std::vector<LayerCode> change = code_changes(codes, start);
    if (change.empty()) out.notes.emplace_back("the positions did not move: there is no change to place by");
    if (progress) progress("placing by what changed", 0.8);
    placer.place_codes("final", "change", change);
  }
  keep_pictures(run, dataset, out);
  return out;
}

}  // namespace locus
