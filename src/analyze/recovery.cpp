#include "analyze/recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/rng.h"
#include "data/atlas.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"
#include "stats/readout.h"

namespace locus {
namespace {

constexpr std::int64_t kMostTokensOfSnapshotMatrices = 100;

MatrixD difference(const MatrixD& a, const MatrixD& b) {
  MatrixD out = a;
  for (std::size_t i = 0; i < out.values().size(); ++i) out.values()[i] -= b.values()[i];
  return out;
}

// Rows and columns of `tokens`.
MatrixD part_of(const MatrixD& matrix, std::span<const std::ptrdiff_t> tokens) {
  const auto n = std::ssize(tokens);
  MatrixD out(n, n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j)
      out(i, j) = matrix(tokens[static_cast<std::size_t>(i)], tokens[static_cast<std::size_t>(j)]);
  }
  return out;
}

// Of a symmetric matrix: the means of rows and columns removed.
MatrixD both_centred(const MatrixD& symmetric) {
  MatrixD out = stats::centre_rows(symmetric.view());
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    double mean = 0;
    for (const double v : out.row(i)) mean += v / static_cast<double>(out.cols());
    for (double& v : out.row(i)) v -= mean;
  }
  return out;
}

// A truth, and the code of norm 1 whose products follow it best: what a perfect learner would add to its start.
struct Target {
  Truth truth;
  bool is_distance = false;
  MatrixD ideal;  // (T, k), k at most the width
};

Target make_target(Truth truth, std::int64_t width) {
  Target target{std::move(truth), false, {}};
  target.is_distance = target.truth.name.find("distance") != std::string::npos;
  MatrixD products = target.truth.matrix;
  if (target.is_distance) {
    for (double& v : products.values()) v *= -0.5 * v;
  }
  for (std::ptrdiff_t i = 0; i < products.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) products(i, j) = products(j, i) = 0.5 * (products(i, j) + products(j, i));
  }
  const stats::SymmetricEigen eigen = stats::symmetric_eigen(both_centred(products).view());
  const std::ptrdiff_t k = std::min<std::ptrdiff_t>(products.rows(), width);
  target.ideal = MatrixD(products.rows(), width);
  for (std::ptrdiff_t c = 0; c < k && eigen.values[static_cast<std::size_t>(c)] > 0; ++c) {
    for (std::ptrdiff_t t = 0; t < products.rows(); ++t)
      target.ideal(t, c) = eigen.vectors(t, c) * std::sqrt(eigen.values[static_cast<std::size_t>(c)]);
  }
  const double norm = norm_of(target.ideal);
  if (norm > 0) {
    for (double& v : target.ideal.values()) v /= norm;
  }
  return target;
}

// Everything of the run that each code is held against.
struct Context {
  const AnalysisRun& run;
  const AnalyzeSettings& settings;
  std::vector<Target> targets;
  std::vector<std::ptrdiff_t> compared;                           // tokens whose pairs are compared with truths
  MatrixD sinusoid;                                               // (T, C), may be empty
  MatrixD distance;                                               // of coordinates, may be empty
  MatrixD map;                                                    // (T, 2), may be empty
  std::vector<int> labels;                                        // may be empty
  std::vector<std::pair<std::int64_t, std::int64_t>> homologues;  // may be empty
  std::vector<LayerCode> initial;                                 // may be empty
  std::map<std::int64_t, RecoveryRow> initial_rows;

  stats::PermutationOptions permutations(std::string_view name, const std::string& key) const {
    stats::PermutationOptions o;
    o.permutations = static_cast<int>(settings.permutations);
    o.seed = derive_seed(settings.seed, name, fnv1a64(key));
    return o;
  }
};

// All but the one token that every answer is read from, where there is one.
std::vector<std::ptrdiff_t> compared_tokens(const AnalysisRun& run) {
  std::int64_t read = -1;
  if (run.config.model.readout == Readout::kToken) {
    read =
        run.config.model.readout_token < 0 ? run.tokens() + run.config.model.readout_token : run.config.model.readout_token;
  }
  std::vector<std::ptrdiff_t> out;
  for (std::int64_t t = 0; t < run.tokens(); ++t) {
    if (t != read) out.push_back(t);
  }
  return out;
}

Context make_context(const AnalysisRun& run, const AnalyzeSettings& settings, RecoveryResult& result) {
  Context c{run,
            settings,
            {},
            compared_tokens(run),
            true_sinusoid(run),
            coordinate_distance(run),
            {},
            label_list(run),
            homotopic_pairs(run.info.names, run.info.hemispheres),
            {},
            {}};
  for (Truth& truth : truths_of(run)) c.targets.push_back(make_target(std::move(truth), run.structure->width()));
  if (std::ssize(c.compared) < run.tokens()) {
    result.notes.push_back(
        "the token that is read out is left out of comparisons with truths: its position also means \"answer here\"");
  }
  const MatrixD& xy = run.info.coordinates;
  if (c.distance.rows() > 0 && xy.cols() == 2) c.map = xy;
  if (c.distance.rows() > 0 && xy.cols() > 2) c.map = stats::pca(xy.view(), 2).scores;
  if (c.distance.rows() == 0) {
    result.notes.push_back(
        "coordinates of the tokens are not known: no read-out, no alignment of maps, no partial correlations (an atlas "
        "with x, y, z columns gives them: series.atlas)");
  }
  if (c.sinusoid.rows() == 0) result.notes.push_back("coordinates are no grid: no Procrustes distance to a 2-D sinusoid");
  if (c.labels.empty()) result.notes.push_back("tokens have no labels: no label read-out");
  if (c.homologues.empty()) result.notes.push_back("which regions mirror each other is not known: no homotopic similarity");
  if (run.initial() == nullptr) {
    result.notes.push_back("no init/ model: no change since initialisation");
  } else {
    c.initial = layer_codes(run, *run.initial());
  }
  return c;
}

struct Key {
  const AnalysisModel& model;
  std::int64_t layer;
  std::string text() const { return fmt::format("{}.{}", model.name, layer); }
};

// A form of a code, and where its change began: a perfect learner's code is start + moved * ideal.
struct Form {
  const char* name;
  const MatrixD& code;
  const MatrixD* start = nullptr;  // nullptr: nothing is known of it
  double moved = 0;
};

MatrixD similarity_of(const MatrixD& code, bool cosine) {
  return cosine ? stats::cosine_similarity(code.view()) : stats::pairwise_distance(code.view());
}

double ceiling_of(const Context& c, const Form& form, const Target& target, bool cosine) {
  if (form.start == nullptr || form.moved == 0) return kNotAvailable;
  MatrixD perfect = *form.start;
  for (std::size_t i = 0; i < perfect.values().size(); ++i) perfect.values()[i] += form.moved * target.ideal.values()[i];
  const MatrixD found = part_of(similarity_of(perfect, cosine), c.compared);
  return stats::matrix_correlation(found.view(), part_of(target.truth.matrix, c.compared).view()).r;
}

void compare_with_truths(const Context& c, const Key& key, const Form& form, RecoveryResult& result) {
  for (const char* similarity : {"cosine", "distance"}) {
    const bool cosine = std::string_view(similarity) == "cosine";
    if (!cosine && std::string_view(form.name) == "centred") continue;  // distances do not feel the mean
    const MatrixD matrix = part_of(similarity_of(form.code, cosine), c.compared);
    for (const Target& target : c.targets) {
      const MatrixD truth = part_of(target.truth.matrix, c.compared);
      TruthRow row;
      row.model = key.model.name;
      row.epoch = key.model.epoch;
      row.layer = key.layer;
      row.code = form.name;
      row.similarity = similarity;
      row.truth = target.truth.name;
      row.pearson = stats::matrix_correlation(matrix.view(), truth.view()).r;
      row.spearman = stats::matrix_correlation(matrix.view(), truth.view(), stats::CorrelationKind::kSpearman).r;
      row.ceiling = ceiling_of(c, form, target, cosine);
      if (c.distance.rows() > 0 && !target.is_distance && std::isfinite(row.pearson)) {
        const MatrixD distance = part_of(c.distance, c.compared);
        const ConstMatD covariate = distance.view();
        row.partial = stats::partial_matrix_correlation(matrix.view(), truth.view(), {&covariate, 1}).r;
      }
      if (cosine && !key.model.is_snapshot() && std::isfinite(row.pearson)) {
        const auto options = c.permutations("recovery/mantel", key.text() + form.name + target.truth.name);
        row.mantel_p = stats::mantel(matrix.view(), truth.view(), stats::CorrelationKind::kPearson, options).p;
      }
      result.truths.push_back(std::move(row));
    }
  }
}

void procrustes_measures(const Context& c, const Key& key, const MatrixD& code, RecoveryRow& row) {
  if (c.sinusoid.rows() == 0 || row.norm == 0) return;
  const stats::Procrustes fit = stats::procrustes(code.view(), c.sinusoid.view());
  row.procrustes = fit.distance;
  row.procrustes_matched = fit.matched_distance;
  if (const auto it = c.initial_rows.find(key.layer); it != c.initial_rows.end()) {
    row.procrustes_change = row.procrustes - it->second.procrustes;
    row.procrustes_matched_change = row.procrustes_matched - it->second.procrustes_matched;
  }
  if (key.model.is_snapshot()) return;
  const auto test =
      stats::procrustes_test(code.view(), c.sinusoid.view(), {}, c.permutations("recovery/procrustes", key.text()));
  row.procrustes_null = test.null_mean;
  row.procrustes_null_sd = test.null_sd;
  row.procrustes_p = test.p;
}

void readout_measures(const Context& c, const Key& key, const MatrixD& code, RecoveryRow& row) {
  const int permutations = key.model.is_snapshot() ? 0 : static_cast<int>(c.settings.permutations);
  const std::uint64_t seed = derive_seed(c.settings.seed, "recovery/readout", fnv1a64(key.text()));
  if (c.distance.rows() > 0) {
    stats::RidgeReadoutOptions options;
    options.permutations = permutations;
    options.seed = seed;
    const stats::RidgeReadout readout = stats::ridge_readout(code.view(), c.run.info.coordinates.view(), options);
    row.readout_r2 = readout.r2;
    row.readout_r2_axes = readout.r2_per_target;
    if (permutations > 0) row.readout_p = readout.test.p;
    row.neighbour_r2 = stats::neighbour_coordinates(code.view(), c.run.info.coordinates.view()).r2;
  }
  if (!c.labels.empty()) {
    stats::NeighbourOptions options;
    options.metric = stats::Metric::kCosine;
    options.permutations = permutations;
    options.seed = seed;
    const stats::NeighbourLabels labels = stats::neighbour_labels(code.view(), c.labels, options);
    row.label_accuracy = labels.accuracy;
    if (permutations > 0) {
      row.label_chance = labels.test.null_mean;
      row.label_p = labels.test.p;
    }
  }
}

void homotopic_measures(const Context& c, const Key& key, const MatrixD& cosine, RecoveryRow& row) {
  const auto& pairs = c.homologues;
  if (pairs.size() < 2) return;
  const auto mean_of = [&](std::span<const std::size_t> order) {
    double sum = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) sum += cosine(pairs[i].first, pairs[order[i]].second);
    return sum / static_cast<double>(pairs.size());
  };
  double all = 0;
  for (const auto& a : pairs) {
    for (const auto& b : pairs) all += cosine(a.first, b.second);
  }
  auto options = c.permutations("recovery/homotopic", key.text());
  options.alternative = stats::Alternative::kGreater;
  if (key.model.is_snapshot()) options.permutations = 1;
  const stats::PermutationResult test = stats::order_permutation_test(pairs.size(), mean_of, options);
  const auto n = static_cast<double>(pairs.size());
  row.homotopic = test.observed;
  row.homotopic_other = (all - n * test.observed) / (n * (n - 1));
  if (!key.model.is_snapshot()) row.homotopic_p = test.p;
}

ResultArray array_of(std::string name, const MatrixD& m) {
  return {std::move(name), {m.rows(), m.cols()}, {m.values().begin(), m.values().end()}};
}

// A (T, 2) map aligned to the truth where there is one; returns the share of the truth's scatter it explains.
double add_map(const Context& c, const std::string& name, const MatrixD& map, RecoveryResult& result) {
  if (c.map.rows() == 0) {
    result.arrays.push_back(array_of(name, map));
    return kNotAvailable;
  }
  const stats::Procrustes fit = stats::procrustes(c.map.view(), map.view(), {.centre = true, .scale = true});
  const double scatter = norm_of(stats::centre_rows(c.map.view()));
  result.arrays.push_back(array_of(name, fit.aligned));
  return scatter > 0 ? 1 - fit.distance * fit.distance / (scatter * scatter) : kNotAvailable;
}

void add_matrices(const Context& c, const Key& key, const MatrixD& code, const MatrixD* change, RecoveryRow& row,
                  RecoveryResult& result) {
  const MatrixD centred = stats::centre_rows(code.view());
  const MatrixD distance = stats::pairwise_distance(code.view());
  const std::string name = key.text();
  if (!key.model.is_snapshot() || c.run.tokens() <= kMostTokensOfSnapshotMatrices) {
    result.arrays.push_back(array_of("cosine." + name, stats::cosine_similarity(code.view())));
    result.arrays.push_back(array_of("cosine_centred." + name, stats::cosine_similarity(centred.view())));
    result.arrays.push_back(array_of("distance." + name, distance));
    if (change != nullptr)
      result.arrays.push_back(array_of("cosine_change." + name, stats::cosine_similarity(change->view())));
  }
  if (row.norm == 0 || code.rows() < 3 || code.cols() < 2) return;
  row.map_mds_r2 = add_map(c, "mds." + name, stats::classical_mds(distance.view(), 2).coordinates, result);
  row.map_pca_r2 = add_map(c, "pca." + name, stats::pca(code.view(), 2).scores, result);
  if (change == nullptr) return;
  const MatrixD changed = stats::pairwise_distance(change->view());
  add_map(c, "mds_change." + name, stats::classical_mds(changed.view(), 2).coordinates, result);
}

RecoveryRow measure_code(const Context& c, const Key& key, const MatrixD& code) {
  RecoveryRow row;
  row.model = key.model.name;
  row.epoch = key.model.epoch;
  row.layer = key.layer;
  row.norm = norm_of(code);
  row.effective_dimension = stats::effective_dimension(code.view());
  procrustes_measures(c, key, code, row);
  if (row.norm > 0) {
    readout_measures(c, key, code, row);
    homotopic_measures(c, key, stats::cosine_similarity(code.view()), row);
  }
  return row;
}

void analyze_code(Context& c, const Key& key, const MatrixD& code, RecoveryResult& result) {
  RecoveryRow row = measure_code(c, key, code);
  const auto initial = std::find_if(c.initial.begin(), c.initial.end(), [&](const auto& i) { return i.layer == key.layer; });
  const bool has_start = initial != c.initial.end() && !key.model.is_initial();
  std::vector<LayerCode> change;
  if (has_start) {
    const LayerCode now{key.layer, code};
    change = code_changes({&now, 1}, {&*initial, 1});
    row.movement = change.empty() ? 0 : norm_of(difference(code, initial->code));
  }
  const double moved = has_start ? row.movement : 0;
  const MatrixD centred = stats::centre_rows(code.view());
  compare_with_truths(c, key, {"raw", code, has_start ? &initial->code : nullptr, moved}, result);
  MatrixD centred_start;
  if (has_start) centred_start = stats::centre_rows(initial->code.view());
  compare_with_truths(c, key, {"centred", centred, has_start ? &centred_start : nullptr, moved}, result);
  if (!change.empty()) {
    const MatrixD nothing(code.rows(), code.cols());
    compare_with_truths(c, key, {"change", change[0].code, &nothing, moved}, result);
    result.changes.push_back(measure_code(c, {key.model, key.layer}, change[0].code));
  }
  add_matrices(c, key, code, change.empty() ? nullptr : &change[0].code, row, result);
  if (key.model.is_initial()) c.initial_rows[key.layer] = row;
  result.layers.push_back(std::move(row));
}

}  // namespace

RecoveryResult analyze_recovery(const AnalysisRun& run, const AnalyzeSettings& settings, const AnalyzeProgress& progress) {
  RecoveryResult result;
  if (run.models.empty()) run.require_trained();
  layer_codes(run, run.models.front());  // says early what is missing
  Context context = make_context(run, settings, result);
  if (run.models.size() < 3 && settings.snapshots) {
    result.notes.push_back("no snapshots: nothing over training time (train with watch.snapshots=[0,5,20])");
  }
  for (std::size_t m = 0; m < run.models.size(); ++m) {
    const AnalysisModel& model = run.models[m];
    if (progress) progress("recovery " + model.name, static_cast<double>(m) / static_cast<double>(run.models.size()));
    for (const LayerCode& code : layer_codes(run, model)) analyze_code(context, {model, code.layer}, code.code, result);
  }
  for (const Target& target : context.targets)
    result.arrays.push_back(array_of("truth." + target.truth.name, target.truth.matrix));
  if (context.map.rows() > 0) result.arrays.push_back(array_of("truth_map", context.map));
  return result;
}

}  // namespace locus
