#include "report/figures/unscramble.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/results/unscramble.h"
#include "core/text.h"
#include "io/codec.h"
#include "io/npy.h"
#include "report/markup.h"
#include "report/png.h"
#include "report/theme.h"

namespace locus::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMaxModels = 6;
constexpr std::size_t kMaxPictures = 4;
constexpr double kPanel = 150;  // of a picture

const NdArray* find(const std::vector<NpzEntry>& entries, const std::string& name) {
  for (const NpzEntry& e : entries) {
    if (e.name == name) return &e.array;
  }
  return nullptr;
}

double neighbours_of(const UnscrambleResult& result, const std::string& model, const std::string& code) {
  for (const UnscrambleRow& r : result.placements) {
    if (r.model == model && r.code == code && r.layer < 0) return r.neighbours;
  }
  return kNan;
}

// Cells from a file; none when one lies outside of the grid.
std::vector<std::int64_t> cells_of(const NdArray* array, const Unscramble::Model& model) {
  std::vector<std::int64_t> out;
  if (array == nullptr || static_cast<std::int64_t>(array->values.size()) != model.tokens) return out;
  for (const double v : array->values) {
    if (!(v >= 0) || v >= static_cast<double>(model.rows * model.columns)) return {};
    out.push_back(static_cast<std::int64_t>(v));
  }
  return out;
}

void add_pictures(const NdArray* array, Unscramble::Model& model) {
  if (array == nullptr || array->shape.size() != 3 || array->shape[1] != model.tokens) return;
  const std::int64_t f = array->shape[2];
  const auto size = static_cast<std::size_t>(model.tokens * f);
  for (std::size_t k = 0; k < std::min<std::size_t>(kMaxPictures, static_cast<std::size_t>(array->shape[0])); ++k) {
    MatrixD m(model.tokens, f);
    std::copy_n(array->values.begin() + static_cast<std::ptrdiff_t>(k * size), size, m.values().begin());
    model.pictures.push_back(std::move(m));
  }
  const auto [low, high] = std::minmax_element(array->values.begin(), array->values.end());
  model.lo = *low;
  model.hi = *high > *low ? *high : *low + 1;
}

bool load_model(const Inputs& inputs, int group, Unscramble::Model& model) {
  const Group& g = inputs.groups[static_cast<std::size_t>(group)];
  model.run = median_run(inputs, g);
  const Run& run = inputs.run(model.run);
  const auto* const result = find_result<UnscrambleResult>(run.analyses);
  const std::string path = analysis_arrays(run, UnscrambleResult::kName);
  if (result == nullptr || path.empty() || result->rows < 1 || result->columns < 1 || result->patch < 1) return false;
  model.label = g.runs.size() > 1 ? fmt::format("{} (seed {})", g.label, run.config->seed) : g.label;
  model.rows = result->rows;
  model.columns = result->columns;
  model.patch = result->patch;
  const std::vector<NpzEntry> entries = read_npz(path);
  const NdArray* const truth = find(entries, "truth");
  if (truth == nullptr) return false;
  model.tokens = static_cast<std::int64_t>(truth->values.size());
  const auto add = [&](const std::string& title, const std::string& name, double neighbours) {
    std::vector<std::int64_t> cells = cells_of(find(entries, name), model);
    if (!cells.empty()) model.arrangements.push_back({title, std::move(cells), neighbours});
  };
  add("Original", "truth", kNan);
  if (model.arrangements.empty()) return false;
  Unscramble::Arrangement given{"As the model sees it", {}, kNan};
  for (std::int64_t t = 0; t < model.tokens; ++t) given.cells.push_back(t);
  model.arrangements.push_back(std::move(given));
  add("By what was learned", "placed.final.change", neighbours_of(*result, "final", "change"));
  add("By the whole table", "placed.final.raw", neighbours_of(*result, "final", "raw"));
  add("By an untrained table", "placed.init.raw", neighbours_of(*result, "init", "raw"));
  add("By pixel correlations", "placed.data.correlation", neighbours_of(*result, "data", "correlation"));
  add_pictures(find(entries, "pictures"), model);
  return true;
}

const std::array<Rgb, 256>& greys() {
  static const std::array<Rgb, 256> all = [] {
    std::array<Rgb, 256> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto v = static_cast<std::uint8_t>(i);
      out[i] = {v, v, v};
    }
    return out;
  }();
  return all;
}

// One sample with its tokens in the cells of an arrangement; colours of a pixel are averaged.
MatrixD painted(const Unscramble::Model& m, const MatrixD& picture, const std::vector<std::int64_t>& cells) {
  const std::int64_t k = m.patch, colours = std::max<std::int64_t>(1, picture.cols() / (k * k));
  MatrixD out(m.rows * k, m.columns * k);
  std::fill(out.values().begin(), out.values().end(), kNan);
  if (picture.cols() != k * k * colours) return out;
  for (std::int64_t t = 0; t < m.tokens; ++t) {
    const std::int64_t row = cells[static_cast<std::size_t>(t)] / m.columns,
                       column = cells[static_cast<std::size_t>(t)] % m.columns;
    for (std::int64_t y = 0; y < k; ++y) {
      for (std::int64_t x = 0; x < k; ++x) {
        double sum = 0;
        for (std::int64_t c = 0; c < colours; ++c) sum += picture(t, (y * k + x) * colours + c);
        out(row * k + y, column * k + x) = sum / static_cast<double>(colours);
      }
    }
  }
  return out;
}

Panel draw_arrangement(const Unscramble::Model& m, const Unscramble::Arrangement& a) {
  const double cell = kPanel / static_cast<double>(std::max(m.rows, m.columns));
  const double width = cell * static_cast<double>(m.columns), height = cell * static_cast<double>(m.rows);
  const double top = 40, gap = 8;
  Svg svg;
  svg.text({4, 15}, fit_text(a.title, kPanel + 30, 13), "ttl");
  if (std::isfinite(a.neighbours)) svg.text({4, 32}, percent(a.neighbours, 0) + " of neighbours", "tick");
  double y = top;
  for (const MatrixD& picture : m.pictures) {
    const MatrixD values = painted(m, picture, a.cells);
    const int scale = std::max<int>(1, static_cast<int>(120 / std::max<std::ptrdiff_t>(1, values.cols())));
    svg.rect({4, y, width, height}, "frame");
    svg.image({4, y, width, height}, png_data_uri(matrix_image(values.view(), m.lo, m.hi, scale), greys()));
    y += height + gap;
  }
  return {std::max(width + 12, kPanel + 34), y, a.title, svg.body()};
}

}  // namespace

Found<Unscramble> collect_unscramble(const Inputs& inputs) {
  Unscramble data;
  for (const Run& run : inputs.runs) {
    const auto* const result = find_result<UnscrambleResult>(run.analyses);
    if (result == nullptr) continue;
    for (const UnscrambleRow& r : result->placements) {
      data.rows.push_back({run.name, r.model, r.code, static_cast<int>(r.layer), r.neighbours, r.neighbours_low,
                           r.neighbours_high, r.chance, r.most_similar, r.distance_correlation, r.in_place});
    }
  }
  if (data.rows.empty()) return Found<Unscramble>::none("no run has the analysis unscramble (tokens on a grid)");
  for (const int g : representative_groups(inputs, kMaxModels)) {
    Unscramble::Model model;
    if (load_model(inputs, g, model)) data.models.push_back(std::move(model));
  }
  if (data.models.empty()) return Found<Unscramble>::none("no run kept the places that its analysis unscramble found");
  return Found<Unscramble>::of(std::move(data));
}

Figure draw_unscramble(const Unscramble& data) {
  Figure figure{.name = "unscramble", .title = "The picture put together again"};
  for (const Unscramble::Model& m : data.models) {
    Variant variant;
    variant.choices = {{"run", m.label}};
    for (const Unscramble::Arrangement& a : m.arrangements) variant.panels.push_back(draw_arrangement(m, a));
    figure.variants.push_back(std::move(variant));
  }
  Table table;
  table.columns = {"Run",           "Placed by",          "Neighbours",     "95 % from", "to",
                   "Random places", "Among most similar", "r of distances", "In place"};
  for (const Unscramble::Row& r : data.rows) {
    if (r.layer >= 0) continue;
    const std::string by = r.model == "data"   ? "pixel correlations"
                           : r.model == "init" ? "untrained table"
                           : r.code == "raw"   ? "learned table"
                                               : "what was learned";
    table.rows.push_back({r.run, by, percent(r.neighbours, 0), percent(r.low, 0), percent(r.high, 0), percent(r.chance, 0),
                          percent(r.most_similar, 0), r_text(r.distance_correlation), percent(r.in_place, 0)});
    table.sort_keys.push_back(
        {kNan, kNan, r.neighbours, r.low, r.high, r.chance, r.most_similar, r.distance_correlation, r.in_place});
  }
  figure.table = std::move(table);
  figure.wide = true;
  figure.caption =
      "Tokens placed on the grid by how alike their positions are, mean over layers, and nothing else; turned and mirrored "
      "as "
      "the original stands, which likeness cannot tell. \"What was learned\" is the table minus its start. Neighbours: "
      "share "
      "of the pairs side by side in the original that are side by side again, bootstrap interval over tokens. Tokens that "
      "never vary were left out and leave their cells empty.";
  figure.csv = csv_unscramble(data);
  return figure;
}

std::string csv_unscramble(const Unscramble& data) {
  std::string out = "run,model,layer,code,neighbours,low,high,chance,most_similar,distance_correlation,in_place\n";
  for (const Unscramble::Row& r : data.rows) {
    const std::string cells[] = {r.run,
                                 r.model,
                                 std::to_string(r.layer),
                                 r.code,
                                 shortest(r.neighbours),
                                 shortest(r.low),
                                 shortest(r.high),
                                 shortest(r.chance),
                                 shortest(r.most_similar),
                                 shortest(r.distance_correlation),
                                 shortest(r.in_place)};
    out += csv_row(cells);
  }
  return out;
}

}  // namespace locus::report
