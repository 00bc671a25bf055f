#include "tests/stats/oracle_table.h"

#include "core/matrix.h"
#include "stats/bootstrap.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/effect_size.h"
#include "stats/matrix_correlation.h"
#include "stats/permutation.h"
#include "stats/rank.h"
#include "stats/tests.h"

namespace locus::stats {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;

Values vec(const Json& in, const char* key) { return in.at(key).get<Values>(); }

MatrixD mat(const Json& in, const char* key) {
  const Json& rows = in.at(key);
  MatrixD out(static_cast<std::ptrdiff_t>(rows.size()),
              rows.empty() ? 0 : static_cast<std::ptrdiff_t>(rows[0].size()));
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < out.cols(); ++j) out(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
  return out;
}

Alternative alternative(const Json& in) {
  const std::string name = in.at("alt");
  return name == "less" ? Alternative::kLess : name == "greater" ? Alternative::kGreater : Alternative::kTwoSided;
}

Values two(const TestResult& r) { return {r.statistic, r.p}; }
Values two(const Correlation& c) { return {c.r, c.p}; }

Values descriptive_case(const Json& in) {
  const Values x = vec(in, "x");
  const Interval ci = mean_interval(x, 0.9);
  return {mean(x), variance(x), sd(x), sem(x), median(x), quantile(x, in.at("q")), ci.lo, ci.hi};
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
  const Interval p = percentile_interval(b, 0.9), a = bca_interval(b, in.at("estimate"), vec(in, "jackknife"), 0.9);
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
      {"one_sample_t", [](const Json& in) { return two(one_sample_t(vec(in, "x"), in.at("mu"), alternative(in))); }},
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
  };
  return table;
}

}  // namespace locus::stats
