#include "analyze/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "core/error.h"
#include "core/rng.h"
#include "core/symmetry.h"
#include "stats/checks.h"
#include "stats/community.h"
#include "stats/graph.h"
#include "stats/matrix_correlation.h"
#include "stats/surrogates.h"

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
      : settings_(settings), labels_(label_list(run)), distance_(coordinate_distance(run)), result_(result) {
    const std::set<int> distinct(labels_.begin(), labels_.end());
    if (distinct.size() < 2) {
      throw DataError({.what = "tokens have no labels of modules or networks",
                       .where = run.path.string(),
                       .got = fmt::format("{} different labels", distinct.size()),
                       .expected = "at least 2",
                       .hint = run.config.study == Study::kLst
                                   ? "the cells of a Latin square have none; use the analysis recovery"
                                   : "give series.atlas a table with a column network"});
    }
    result_.tokens = run.tokens();
    result_.labels = static_cast<std::int64_t>(distinct.size());
    if (distance_.rows() == 0)
      result_.notes.push_back("coordinates are not known: no surrogates that keep spatial autocorrelation");
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
    surrogate_measure(item, row);
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

  void add_labels() { result_.arrays.push_back({"labels", {result_.tokens}, {labels_.begin(), labels_.end()}}); }

 private:
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
    const auto q_of = [&](std::span<const int> labels) {
      double q = 0;
      for (std::ptrdiff_t i = 0; i < b.rows(); ++i) {
        for (std::ptrdiff_t j = 0; j < b.cols(); ++j) {
          if (labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)]) q += b(i, j);
        }
      }
      return q;
    };
    row.q_signed_p = stats::label_permutation_test(labels_, q_of, permutations(item, "networks/q")).p;
    const auto difference_of = [&](std::span<const int> labels) {
      return stats::within_between(cosine.view(), labels).difference();
    };
    const auto test = stats::label_permutation_test(labels_, difference_of, permutations(item, "networks/difference"));
    row.difference_p = test.p;
    row.difference_null = test.null_mean;
  }

  stats::Communities communities_of(const MatrixD& similarity, const std::string& name) const {
    stats::CommunityOptions options;
    options.starts = static_cast<int>(settings_.community_starts);
    options.seed = derive_seed(settings_.seed, "networks/communities", fnv1a64(name));
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
    row.adjusted_rand_p = stats::label_permutation_test(labels_, rand_of, permutations(item, "networks/rand")).p;
    result_.arrays.push_back({"communities." + item.text(), {result_.tokens}, {found.labels.begin(), found.labels.end()}});
  }

  // Trained models only: it is the slowest measure, and an initial code has no smoothness to keep.
  void surrogate_measure(const Item& item, NetworkRow& row) const {
    const bool wanted = settings_.surrogates > 0 && !item.model.is_initial() && !item.model.is_snapshot();
    if (!wanted || distance_.rows() < kFewestTokensForSurrogates || std::string_view(item.code_name) != "raw") return;
    stats::NetworkTestOptions options;
    options.count = static_cast<int>(settings_.surrogates);
    options.surrogates.seed = derive_seed(settings_.seed, "networks/surrogates", fnv1a64(item.text()));
    row.surrogate_p = stats::surrogate_network_test(distance_.view(), item.code.view(), labels_, options).p;
    row.surrogates = settings_.surrogates;
  }

  const AnalyzeSettings& settings_;
  std::vector<int> labels_;
  MatrixD distance_;
  NetworkResult& result_;
};

}  // namespace

NetworkResult analyze_networks(const AnalysisRun& run, const AnalyzeSettings& settings, const AnalyzeProgress& progress) {
  NetworkResult result;
  Networks networks(run, settings, result);
  if (run.models.empty()) run.require_trained();
  for (std::size_t m = 0; m < run.models.size(); ++m) {
    const AnalysisModel& model = run.models[m];
    if (progress) progress("networks " + model.name, static_cast<double>(m) / static_cast<double>(run.models.size()));
    const std::vector<LayerCode> layers = layer_codes(run, model);
    for (const LayerCode& layer : layers) {
      const MatrixD centred = stats::centre_rows(layer.code.view());
      networks.add({model, layer.layer, "raw", layer.code});
      networks.add({model, layer.layer, "centred", centred});
    }
    if (layers.size() < 2) continue;
    const MatrixD centred = stats::centre_rows(side_by_side(layers).view());
    networks.add({model, -1, "centred", centred});
  }
  for (const Truth& truth : truths_of(run)) {
    if (run.info.truths.contains(truth.name)) networks.add_data(truth);
  }
  networks.add_labels();
  return result;
}

}  // namespace locus
