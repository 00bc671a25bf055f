#include "analyze/identifiability.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <numeric>
#include <tuple>

#include "analyze/analysis_run.h"
#include "analyze/run_settings.h"
#include "core/error.h"
#include "run/layout.h"
#include "stats/correlation.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// a b^T, (rows of a, rows of b).
MatrixD outer(const MatrixD& a, const MatrixD& b) {
  MatrixD out(a.rows(), b.rows());
  for (std::ptrdiff_t i = 0; i < a.rows(); ++i) {
    const auto x = a.row(i);
    for (std::ptrdiff_t j = 0; j < b.rows(); ++j) out(i, j) = std::inner_product(x.begin(), x.end(), b.row(j).begin(), 0.0);
  }
  return out;
}

MatrixD transposed(const MatrixD& m) {
  MatrixD out(m.cols(), m.rows());
  for (std::ptrdiff_t i = 0; i < m.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < m.cols(); ++j) out(j, i) = m(i, j);
  }
  return out;
}

MatrixD square_root(const MatrixD& gram) {
  const stats::SymmetricEigen eigen = stats::symmetric_eigen(gram.view());
  MatrixD half = eigen.vectors;
  for (std::ptrdiff_t i = 0; i < half.rows(); ++i) {
    for (std::ptrdiff_t k = 0; k < half.cols(); ++k)
      half(i, k) *= std::sqrt(std::sqrt(std::max(0.0, eigen.values[static_cast<std::size_t>(k)])));
  }
  return outer(half, half);
}

struct CodeOf {
  std::string model;
  std::int64_t layer;
  ComparableCode code;
};

struct RunCodes {
  std::string path;
  RunConfig config;
  std::vector<CodeOf> codes;  // init, snapshots, trained
  std::string trained;        // name of the trained model
};

RunCodes load(const fs::path& path, const AnalyzeSettings& settings) {
  const AnalysisRun run = load_analysis_run(path, nullptr, {.snapshots = settings.snapshots});
  RunCodes out;
  out.path = path.string();
  out.config = run.config;
  out.trained = run.require_trained().name;
  for (const AnalysisModel& model : run.models) {
    for (const LayerCode& c : layer_codes(run, model)) out.codes.push_back({model.name, c.layer, ComparableCode(c.code)});
  }
  return out;
}

void require_same_tokens(const std::vector<RunCodes>& runs) {
  for (const RunCodes& run : runs) {
    const std::int64_t here = run.codes.front().code.tokens(), there = runs.front().codes.front().code.tokens();
    if (here == there) continue;
    throw DataError({.what = "runs of different numbers of tokens cannot be compared",
                     .where = run.path,
                     .got = std::to_string(here),
                     .expected = fmt::format("{} as in {}", there, runs.front().path),
                     .hint = "compare runs of one task and size at a time"});
  }
}

class Pairs {
 public:
  Pairs(const std::vector<RunCodes>& runs, IdentifiabilityResult& result) : runs_(runs), result_(result) {}

  void between(std::int64_t a, std::int64_t b) {
    const bool same = result_.settings[static_cast<std::size_t>(a)] == result_.settings[static_cast<std::size_t>(b)];
    const RunCodes& x = runs_[static_cast<std::size_t>(a)];
    const RunCodes& y = runs_[static_cast<std::size_t>(b)];
    for (const CodeOf& p : x.codes) {
      for (const CodeOf& q : y.codes) {
        const bool both_trained = p.model == x.trained && q.model == y.trained;
        const bool times_fit = both_trained || (same && p.model == q.model);
        if (p.layer == q.layer && times_fit) add(same ? "seeds" : "settings", a, b, p, q);
      }
    }
  }

  void within(std::int64_t a) {
    const RunCodes& run = runs_[static_cast<std::size_t>(a)];
    for (const CodeOf& p : run.codes) {
      for (const CodeOf& q : run.codes) {
        if (q.model != run.trained) continue;
        if (p.model == run.trained && p.layer < q.layer) add("layers", a, a, p, q);
        if (p.model != run.trained && p.layer == q.layer) add("time", a, a, p, q);
      }
    }
  }

  void summarize() {
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::vector<const CodePairRow*>> groups;
    for (const CodePairRow& row : result_.pairs) {
      if (row.comparison == "settings") continue;
      const std::int64_t layer = row.comparison == "layers" ? -1 : row.layer_a;
      groups[{row.comparison, result_.settings[static_cast<std::size_t>(row.run_a)], row.model_a, layer}].push_back(&row);
    }
    for (const auto& [key, rows] : groups) {
      PairSummaryRow out;
      std::tie(out.comparison, out.setting, out.model, out.layer) = key;
      out.pairs = static_cast<std::int64_t>(rows.size());
      const auto mean = [&rows = rows](double CodePairRow::*field) {
        double sum = 0;
        for (const CodePairRow* r : rows) sum += r->*field;
        return sum / static_cast<double>(rows.size());
      };
      out.cosine_pearson = mean(&CodePairRow::cosine_pearson);
      out.centred_pearson = mean(&CodePairRow::centred_pearson);
      out.procrustes_matched = mean(&CodePairRow::procrustes_matched);
      out.cka = mean(&CodePairRow::cka);
      result_.summary.push_back(std::move(out));
    }
  }

 private:
  void add(const char* comparison, std::int64_t a, std::int64_t b, const CodeOf& p, const CodeOf& q) {
    CodePairRow row;
    row.comparison = comparison;
    row.run_a = a;
    row.run_b = b;
    row.model_a = p.model;
    row.model_b = q.model;
    row.layer_a = p.layer;
    row.layer_b = q.layer;
    p.code.compare(q.code, row);
    result_.pairs.push_back(std::move(row));
  }

  const std::vector<RunCodes>& runs_;
  IdentifiabilityResult& result_;
};

}  // namespace

ComparableCode::ComparableCode(const MatrixD& code)
    : centred_(stats::centre_rows(code.view())),
      gram_(outer(centred_, centred_)),
      cosine_(stats::upper_triangle(stats::cosine_similarity(code.view()).view())),
      centred_cosine_(stats::upper_triangle(stats::cosine_similarity(centred_.view()).view())),
      distance_(stats::upper_triangle(stats::pairwise_distance(code.view()).view())),
      norm_(norm_of(centred_)),
      gram_norm_(norm_of(gram_)) {
  if (code.rows() <= code.cols()) root_ = square_root(gram_);
}

double ComparableCode::overlap(const ComparableCode& other) const {
  // |A^T B|_* = |G_a^1/2 G_b^1/2|_*: the smaller of the two forms is decomposed.
  const bool by_gram = root_.rows() > 0 && other.root_.rows() > 0;
  const MatrixD product = by_gram ? outer(root_, other.root_) : outer(transposed(centred_), transposed(other.centred_));
  const std::vector<double> values = stats::singular_values(product.view());
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void ComparableCode::compare(const ComparableCode& other, CodePairRow& row) const {
  row.cosine_pearson = stats::pearson(cosine_, other.cosine_).r;
  row.cosine_spearman = stats::spearman(cosine_, other.cosine_).r;
  row.centred_pearson = stats::pearson(centred_cosine_, other.centred_cosine_).r;
  row.distance_pearson = stats::pearson(distance_, other.distance_).r;
  if (norm_ == 0 || other.norm_ == 0) return;
  row.procrustes_matched = std::sqrt(std::max(0.0, 2 - 2 * overlap(other) / (norm_ * other.norm_)));
  const double inner = std::inner_product(gram_.values().begin(), gram_.values().end(), other.gram_.values().begin(), 0.0);
  row.cka = inner / (gram_norm_ * other.gram_norm_);
}

IdentifiabilityResult analyze_identifiability(const std::vector<fs::path>& paths, const AnalyzeSettings& settings,
                                              const AnalyzeProgress& progress) {
  if (paths.size() < 2) {
    throw DataError({.what = "comparing seeds needs several runs",
                     .got = std::to_string(paths.size()),
                     .expected = "at least 2",
                     .hint = "train the same configuration with seed=0, 1, 2 and give all folders"});
  }
  IdentifiabilityResult result;
  std::vector<RunCodes> runs;
  std::exception_ptr refused;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (progress) progress("reading " + paths[i].string(), 0.5 * static_cast<double>(i) / static_cast<double>(paths.size()));
    try {
      runs.push_back(load(paths[i], settings));
      result.runs.push_back(runs.back().path);
    } catch (const Error& e) {
      // One run without a table of positions (none, rotary) or unfinished must not cost the others' comparison.
      refused = std::current_exception();
      result.notes.push_back(fmt::format("left out {}: {}", paths[i].string(), e.parts().what));
    }
  }
  if (runs.size() < 2) std::rethrow_exception(refused);
  require_same_tokens(runs);
  std::vector<const RunConfig*> configs;
  for (const RunCodes& run : runs) configs.push_back(&run.config);
  result.settings = setting_names(configs);
  Pairs pairs(runs, result);
  const auto n = static_cast<std::int64_t>(runs.size());
  for (std::int64_t a = 0; a < n; ++a) {
    if (progress) progress("comparing", 0.5 + 0.5 * static_cast<double>(a) / static_cast<double>(n));
    pairs.within(a);
    for (std::int64_t b = a + 1; b < n; ++b) pairs.between(a, b);
  }
  pairs.summarize();
  const bool seeds =
      std::any_of(result.pairs.begin(), result.pairs.end(), [](const auto& r) { return r.comparison == "seeds"; });
  const bool snapshots =
      std::any_of(result.pairs.begin(), result.pairs.end(), [](const auto& r) { return is_snapshot(r.model_a); });
  if (!seeds) result.notes.push_back("no two runs differ in the seed alone: nothing across seeds");
  if (!snapshots)
    result.notes.push_back("no snapshots: nothing over training time but init (train with watch.snapshots=[0,5,20])");
  return result;
}

}  // namespace locus
