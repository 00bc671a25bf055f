#include "analyze/networks.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "config/sources.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/symmetry.h"
#include "stats/checks.h"
#include "stats/community.h"
#include "stats/graph.h"
#include "stats/matrix_correlation.h"
#include "stats/space_null.h"

namespace locus {
namespace {

constexpr std::int64_t kFewestTokensForSurrogates = 10;
// 1 is plain modularity, which merges small modules; at 3 noise falls apart into groups of a few tokens.
constexpr double kResolutions[] = {1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3};

// The codes of all layers side by side.
MatrixD side_by_side(const std::vector<LayerCode>& layers) {
  const std::ptrdiff_t tokens = layers.front().code.rows(), width = layers.front().code.cols();
  MatrixD out(tokens, width * static_cast<std::ptrdiff_t>(layers.size()));
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::ptrdiff_t t = 0; t < tokens; ++t) {
      const auto from = layers[l].code.row(t);
      std::copy(from.begin(), from.end(), out.row(t).begin() + static_cast<std::ptrdiff_t>(l) * width);
    }
  }
  return out;
}

struct Item {
  const AnalysisModel& model;
  std::int64_t layer;  // -1: all side by side
  const char* code_name;
  const MatrixD& code;

  std::string text() const {
    return fmt::format("{}.{}.{}", model.name, layer < 0 ? "all" : std::to_string(layer), code_name);
  }
};

class Networks {
 public:
  Networks(const AnalysisRun& run, const AnalyzeSettings& settings, NetworkResult& result)
      : settings_(settings), labels_(label_list(run)), result_(result), pool_(settings.threads) {
    const std::set<int> distinct(labels_.begin(), labels_.end());
    if (distinct.size() < 2) {
      throw DataError({.what = "tokens have no labels of modules or networks",
                       .where = run.path.string(),
                       .got = fmt::format("{} different labels", distinct.size()),
                       .expected = "at least 2",
                       .hint = source_of(run.config).no_labels});
    }
    std::vector<double> sizes(distinct.size(), 0);
    for (const int label : labels_) {
      groups_.push_back(static_cast<int>(std::distance(distinct.begin(), distinct.find(label))));
      ++sizes[static_cast<std::size_t>(groups_.back())];
    }
    for (const double size : sizes) pairs_within_ += 0.5 * size * (size - 1);
    result_.tokens = run.tokens();
    result_.labels = static_cast<std::int64_t>(distinct.size());
    make_space(run);
  }

  void add(const Item& item) {
    NetworkRow row;
    row.model = item.model.name;
    row.epoch = item.model.epoch;
    row.layer = item.layer;
    row.code = item.code_name;
    const MatrixD cosine = stats::cosine_similarity(item.code.view());
    label_measures(item, cosine, row);
    community_measures(item, cosine, row);
    if (wants_surrogates(item)) space_measures(item, row);
    if (!item.model.is_snapshot()) {
      result_.arrays.push_back(
          {"similarity." + item.text(), {cosine.rows(), cosine.cols()}, {cosine.values().begin(), cosine.values().end()}});
    }
    result_.rows.push_back(std::move(row));
  }

  // The matrix of the data that codes are compared with; directed weights and the labels' own matrix are not searched.
  void add_data(const Truth& truth) {
    const bool is_label_matrix = truth.name == "modules" || truth.name == "networks";
    if (is_label_matrix) return;
    if (!is_symmetric(truth.matrix.view())) {
      result_.notes.push_back(fmt::format("{} is not symmetric: no communities were searched in it", truth.name));
      return;
    }
    const stats::Communities found = communities_of(truth.matrix, truth.name);
    result_.data.push_back({truth.name, found.count, found.gamma, stats::adjusted_rand(found.labels, labels_)});
  }

  void add_labels() { result_.arrays.push_back({"labels", {result_.tokens}, {labels_.begin(), labels_.end()}, true}); }

 private:
  // A code may be alike on both sides of the brain: where both are known, the null may be so as well.
  void make_space(const AnalysisRun& run) {
    const MatrixD& places = run.info.coordinates;
    if (places.rows() != run.tokens() || places.cols() == 0) {
      result_.notes.push_back("coordinates are not known: no test against codes that know space alone");
      return;
    }
    if (places.rows() < kFewestTokensForSurrogates || places.cols() > 3) {
      result_.notes.push_back(
          fmt::format("no test against codes that know space alone: it needs {} tokens in at most 3 dimensions",
                      kFewestTokensForSurrogates));
      return;
    }
    const std::set<std::int32_t> sides(run.info.hemispheres.begin(), run.info.hemispheres.end());
    space_.emplace(places.view(), sides.size() == 2 && places.cols() == 3);
  }

  stats::PermutationOptions permutations(const Item& item, std::string_view name) const {
    stats::PermutationOptions o;
    o.permutations = item.model.is_snapshot() ? 99 : static_cast<int>(settings_.permutations);
    o.seed = derive_seed(settings_.seed, name, fnv1a64(item.text()));
    o.alternative = stats::Alternative::kGreater;
    return o;
  }

  void label_measures(const Item& item, const MatrixD& cosine, NetworkRow& row) const {
    row.q_positive = stats::modularity(cosine.view(), labels_, stats::Weights::kPositive);
    row.q_signed = stats::modularity(cosine.view(), labels_, stats::Weights::kSigned);
    const stats::WithinBetween wb = stats::within_between(cosine.view(), labels_);
    row.within = wb.within;
    row.between = wb.between;
    row.difference = wb.difference();
    row.segregation = stats::segregation(cosine.view(), labels_).value_or(kNotAvailable);
    const MatrixD b = stats::modularity_matrix(cosine.view(), stats::Weights::kSigned);
    stats::WithinSum sum_of_b(b.view());  // the diagonal of b adds the same to every labelling
    const auto q_of = [&](std::span<const int> labels) { return sum_of_b(labels); };
    row.q_signed_p = stats::label_permutation_test(groups_, q_of, permutations(item, "networks/q")).p;
    // Shuffled labels keep the number of pairs within and between, and the sum over both.
    stats::WithinSum sum_of_cosines(cosine.view());
    const std::vector<int> one_group(groups_.size(), 0);
    const double all = sum_of_cosines(one_group), n = static_cast<double>(groups_.size()), pairs = 0.5 * n * (n - 1);
    const auto difference_of = [&](std::span<const int> labels) {
      const double within = sum_of_cosines(labels);
      return within / pairs_within_ - (all - within) / (pairs - pairs_within_);
    };
    const auto test = stats::label_permutation_test(groups_, difference_of, permutations(item, "networks/difference"));
    row.difference_p = test.p;
    row.difference_null = test.null_mean;
  }

  stats::Communities communities_of(const MatrixD& similarity, const std::string& name) {
    stats::CommunityOptions options;
    options.starts = static_cast<int>(settings_.community_starts);
    options.seed = derive_seed(settings_.seed, "networks/communities", fnv1a64(name));
    options.pool = &pool_;
    const std::span<const double> all(kResolutions);
    const std::span<const double> chosen(&settings_.resolution, 1);
    return stats::persistent_communities(similarity.view(), settings_.resolution > 0 ? chosen : all, options);
  }

  void community_measures(const Item& item, const MatrixD& cosine, NetworkRow& row) {
    if (item.model.is_snapshot()) return;
    const stats::Communities found = communities_of(cosine, item.text());
    row.communities = found.count;
    row.resolution = found.gamma;
    row.community_q = found.q;
    row.adjusted_rand = stats::adjusted_rand(found.labels, labels_);
    row.normalised_mutual_information = stats::normalised_mutual_information(found.labels, labels_);
    row.adjusted_mutual_information = stats::adjusted_mutual_information(found.labels, labels_);
    const auto rand_of = [&](std::span<const int> labels) { return stats::adjusted_rand(found.labels, labels); };
    row.adjusted_rand_p = stats::label_permutation_test(groups_, rand_of, permutations(item, "networks/rand")).p;
    result_.arrays.push_back(
        {"communities." + item.text(), {result_.tokens}, {found.labels.begin(), found.labels.end()}, true});
  }

  // Trained models only: it is the slowest measure, and an initial code has no smoothness to keep.
  bool wants_surrogates(const Item& item) const {
    const bool trained = !item.model.is_initial() && !item.model.is_snapshot();
    return settings_.surrogates > 0 && trained && space_.has_value() && std::string_view(item.code_name) != "centred";
  }

  void space_measures(const Item& item, NetworkRow& row) {
    stats::SpaceTestOptions options;
    options.count = static_cast<int>(settings_.surrogates);
    options.seed = derive_seed(settings_.seed, "networks/surrogates", fnv1a64(item.text()));
    options.pool = &pool_;
    const stats::PermutationResult test = stats::space_network_test(*space_, item.code.view(), groups_, options);
    row.difference_in_place = test.observed;
    row.surrogate_p = test.p;
    row.surrogates = settings_.surrogates;
  }

  const AnalyzeSettings& settings_;
  std::vector<int> labels_;
  std::vector<int> groups_;  // the same, numbered 0, 1, ...
  double pairs_within_ = 0;
  std::optional<stats::SpaceBasis> space_;  // where coordinates are known
  NetworkResult& result_;
  ThreadPool pool_;
};

}  // namespace

NetworkResult analyze_networks(const AnalysisRun& run, const AnalyzeSettings& settings, const AnalyzeProgress& progress) {
  NetworkResult result;
  Networks networks(run, settings, result);
  if (run.models.empty()) run.require_trained();
  const std::vector<LayerCode> initial =
      run.initial() != nullptr ? layer_codes(run, *run.initial()) : std::vector<LayerCode>{};
  for (std::size_t m = 0; m < run.models.size(); ++m) {
    const AnalysisModel& model = run.models[m];
    const std::vector<LayerCode> layers = layer_codes(run, model);
    // Each layer's raw code, centred code and change cost about the same.
    const double parts = static_cast<double>(3 * layers.size() + 2);
    double part = 0;
    const auto add = [&](const Item& item) {
      if (progress)
        progress("networks " + model.name,
                 (static_cast<double>(m) + part++ / parts) / static_cast<double>(run.models.size()));
      networks.add(item);
    };
    for (const LayerCode& layer : layers) {
      const MatrixD centred = stats::centre_rows(layer.code.view());
      add({model, layer.layer, "raw", layer.code});
      add({model, layer.layer, "centred", centred});
    }
    const std::vector<LayerCode> changes = code_changes(layers, initial);
    for (const LayerCode& change : changes) add({model, change.layer, "change", change.code});
    if (layers.size() < 2) continue;
    const MatrixD centred = stats::centre_rows(side_by_side(layers).view());
    add({model, -1, "centred", centred});
    if (!changes.empty()) add({model, -1, "change", side_by_side(changes)});
  }
  for (const Truth& truth : truths_of(run)) {
    if (run.info.truths.contains(truth.name)) networks.add_data(truth);
  }
  networks.add_labels();
  return result;
}

}  // namespace locus
