#include "tests/stats/oracle_table.h"

#include <cmath>

#include "core/matrix.h"
#include "stats/bootstrap.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/effect_size.h"
#include "stats/graph.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"
#include "stats/permutation.h"
#include "stats/rank.h"
#include "stats/readout.h"
#include "stats/tests.h"

namespace locus::stats {
namespace {

using Values = std::vector<double>;

double num(const Json& in, const char* key) { return in.at(key).get<double>(); }

Values vec(const Json& in, const char* key) { return in.at(key).get<Values>(); }

MatrixD mat(const Json& in, const char* key) {
  const Json& rows = in.at(key);
  MatrixD out(static_cast<std::ptrdiff_t>(rows.size()), rows.empty() ? 0 : static_cast<std::ptrdiff_t>(rows[0].size()));
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < out.cols(); ++j) out(i, j) = rows[i][j].get<double>();
  }
  return out;
}

Alternative alternative(const Json& in) {
  const std::string& name = in.at("alt").text();
  return name == "less" ? Alternative::kLess : name == "greater" ? Alternative::kGreater : Alternative::kTwoSided;
}

Values two(const TestResult& r) { return {r.statistic, r.p}; }
Values two(const Correlation& c) { return {c.r, c.p}; }

Values descriptive_case(const Json& in) {
  const Values x = vec(in, "x");
  const Interval ci = mean_interval(x, 0.9);
  return {mean(x), variance(x), sd(x), sem(x), median(x), quantile(x, num(in, "q")), ci.lo, ci.hi};
}

Values pearson_case(const Json& in) {
  const Correlation c = pearson(vec(in, "x"), vec(in, "y"));
  const Interval ci = fisher_interval(c);
  return {c.r, c.p, ci.lo, ci.hi};
}

Values exact_permutation_case(const Json& in) {
  const Values x = vec(in, "x"), y = vec(in, "y");
  const PermutationOptions options{.permutations = 100000, .seed = 0, .alternative = alternative(in)};
  const PermutationResult a = sign_flip_test(x, options), b = two_sample_permutation_test(x, y, options);
  return {a.observed, a.p, b.observed, b.p};
}

Values effect_sizes_case(const Json& in) {
  const Values x = vec(in, "x"), y = vec(in, "y");
  const EffectSize d = cohen_d(x, y), g = hedges_g(x, y), z = cohen_dz(x);
  return {d.value,       d.interval.lo, d.interval.hi, g.value,      g.interval.lo,
          g.interval.hi, z.value,       z.interval.lo, z.interval.hi};
}

Values adjusted_p_case(const Json& in) {
  Values out = benjamini_hochberg(vec(in, "p"));
  const Values h = holm(vec(in, "p"));
  out.insert(out.end(), h.begin(), h.end());
  return out;
}

Values bootstrap_case(const Json& in) {
  const Values b = vec(in, "distribution");
  const Interval p = percentile_interval(b, 0.9), a = bca_interval(b, num(in, "estimate"), vec(in, "jackknife"), 0.9);
  return {p.lo, p.hi, a.lo, a.hi};
}

Values matrix_correlation_case(const Json& in) {
  const MatrixD a = mat(in, "a"), b = mat(in, "b"), c = mat(in, "c");
  const Correlation p = matrix_correlation(a.view(), b.view());
  const Correlation s = matrix_correlation(a.view(), b.view(), CorrelationKind::kSpearman);
  const std::vector<ConstMatD> covariates{c.view()};
  return {p.r, p.p, s.r, s.p, partial_matrix_correlation(a.view(), b.view(), covariates).r};
}

Values cliffs_case(const Json& in) {
  const EffectSize e = cliffs_delta(vec(in, "x"), vec(in, "y"));
  return {e.value, e.interval.lo, e.interval.hi};
}

Values partial_case(const Json& in, CorrelationKind kind) {
  return two(partial(vec(in, "x"), vec(in, "y"), mat(in, "z").view(), kind));
}

std::vector<int> labels_of(const Json& in, const char* key) {
  const Values v = vec(in, key);
  return {v.begin(), v.end()};
}

void append(Values& out, const Values& more) { out.insert(out.end(), more.begin(), more.end()); }
void append(Values& out, const MatrixD& more) { append(out, more.values()); }

Values decompositions_case(const Json& in) {
  const MatrixD a = mat(in, "a"), sym = mat(in, "sym");
  const SymmetricEigen eigen = symmetric_eigen(sym.view());
  const Svd svd = thin_svd(a.view());
  Values out = eigen.values;
  append(out, eigen.vectors);
  append(out, svd.u);
  append(out, svd.s);
  append(out, svd.v);
  return out;
}

Values maps_case(const Json& in) {
  const MatrixD x = mat(in, "x"), distance = pairwise_distance(x.view());
  const Pca p = pca(x.view(), 2);
  Values out{effective_dimension(x.view())};
  append(out, p.scores);
  append(out, p.variance);
  append(out, classical_mds(distance.view(), 2).coordinates);
  append(out, distance);
  append(out, cosine_similarity(x.view()));
  return out;
}

Values procrustes_case(const Json& in) {
  const MatrixD a = mat(in, "a"), b = mat(in, "b");
  const Procrustes plain = procrustes(a.view(), b.view()), scaled = procrustes(a.view(), b.view(), {.scale = true});
  const Procrustes shape = procrustes(a.view(), b.view(), {.centre = true, .scale = true});
  const MatrixD centred = centre_rows(a.view());
  double norm = 0;
  for (double v : centred.values()) norm += v * v;
  Values out = plain.rotation.values();
  append(out,
         {plain.distance, plain.matched_distance, scaled.scale, scaled.distance, shape.distance * shape.distance / norm});
  return out;
}

Values readouts_case(const Json& in) {
  const MatrixD x = mat(in, "x"), y = mat(in, "y");
  const RidgeReadout r = ridge_readout(x.view(), y.view(), {.lambda = 0.3});
  const NeighbourOptions near{.k = in.at("k").get<int>()};
  Values out{r.r2};
  append(out, r.r2_per_target);
  append(out, r.prediction);
  append(out, Values{neighbour_coordinates(x.view(), y.view(), near).r2,
                     neighbour_labels(x.view(), labels_of(in, "labels"), near).accuracy});
  return out;
}

Values graphs_case(const Json& in) {
  const MatrixD w = mat(in, "w");
  const std::vector<int> labels = labels_of(in, "labels");
  const WithinBetween m = within_between(w.view(), labels);
  return {modularity(w.view(), labels, Weights::kPositive, num(in, "gamma")),
          modularity(w.view(), labels, Weights::kSigned, num(in, "gamma")), m.within, m.between,
          segregation(w.view(), labels).value_or(std::nan(""))};
}

Values partitions_case(const Json& in) {
  const std::vector<int> a = labels_of(in, "a"), b = labels_of(in, "b");
  return {adjusted_rand(a, b), normalised_mutual_information(a, b), adjusted_mutual_information(a, b)};
}

}  // namespace

const std::map<std::string, OracleFunction>& oracle_table() {
  static const std::map<std::string, OracleFunction> table{
      {"descriptive", descriptive_case},
      {"ranks", [](const Json& in) { return average_ranks(vec(in, "x")); }},
      {"pearson", pearson_case},
      {"spearman", [](const Json& in) { return two(spearman(vec(in, "x"), vec(in, "y"))); }},
      {"kendall", [](const Json& in) { return two(kendall(vec(in, "x"), vec(in, "y"))); }},
      {"partial_pearson", [](const Json& in) { return partial_case(in, CorrelationKind::kPearson); }},
      {"partial_spearman", [](const Json& in) { return partial_case(in, CorrelationKind::kSpearman); }},
      {"one_sample_t", [](const Json& in) { return two(one_sample_t(vec(in, "x"), num(in, "mu"), alternative(in))); }},
      {"paired_t", [](const Json& in) { return two(paired_t(vec(in, "x"), vec(in, "y"), alternative(in))); }},
      {"welch_t", [](const Json& in) { return two(welch_t(vec(in, "x"), vec(in, "y"), alternative(in))); }},
      {"wilcoxon", [](const Json& in) { return two(wilcoxon_signed_rank(vec(in, "d"), alternative(in))); }},
      {"mann_whitney", [](const Json& in) { return two(mann_whitney_u(vec(in, "x"), vec(in, "y"), alternative(in))); }},
      {"exact_permutation", exact_permutation_case},
      {"effect_sizes", effect_sizes_case},
      {"cliffs_delta", cliffs_case},
      {"adjusted_p", adjusted_p_case},
      {"bootstrap_interval", bootstrap_case},
      {"matrix_correlation", matrix_correlation_case},
      {"decompositions", decompositions_case},
      {"maps", maps_case},
      {"procrustes", procrustes_case},
      {"readouts", readouts_case},
      {"graphs", graphs_case},
      {"partitions", partitions_case},
  };
  return table;
}

}  // namespace locus::stats
