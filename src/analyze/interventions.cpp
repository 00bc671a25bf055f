#include "analyze/interventions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analyze/chosen_examples.h"
#include "core/error.h"
#include "core/rng.h"
#include "infer/evaluate.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"

namespace locus {
namespace {

constexpr std::int64_t kMostTokens = 32768;  // of all examples of a split
constexpr std::int64_t kFewestExamples = 32;

using Codes = std::map<std::int64_t, MatrixD>;  // by layer

MatrixD scaled(MatrixD m, double factor) {
  for (double& v : m.values()) v *= factor;
  return m;
}

MatrixD permuted_rows(const MatrixD& m, const std::vector<int>& order) {
  MatrixD out(m.rows(), m.cols());
  for (std::ptrdiff_t r = 0; r < m.rows(); ++r) {
    const auto from = m.row(order[static_cast<std::size_t>(r)]);
    std::copy(from.begin(), from.end(), out.row(r).begin());
  }
  return out;
}

MatrixD product(const MatrixD& a, const MatrixD& b) {
  MatrixD out(a.rows(), b.cols());
  for (std::ptrdiff_t i = 0; i < a.rows(); ++i) {
    for (std::ptrdiff_t k = 0; k < a.cols(); ++k) {
      for (std::ptrdiff_t j = 0; j < b.cols(); ++j) out(i, j) += a(i, k) * b(k, j);
    }
  }
  return out;
}

// An orthogonal matrix, uniformly distributed: the orthogonal factor of a Gaussian one.
MatrixD random_rotation(std::int64_t width, std::uint64_t seed) {
  Rng rng(seed, "analyze/rotation");
  MatrixD gaussian(width, width);
  for (double& v : gaussian.values()) v = rng.normal();
  const stats::Svd svd = stats::thin_svd(gaussian.view());
  MatrixD v_transposed(width, width);
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t j = 0; j < width; ++j) v_transposed(i, j) = svd.v(j, i);
  }
  return product(svd.u, v_transposed);
}

struct Label {
  std::string kind;
  std::int64_t layer = -1;
  double amount = kNotAvailable;
  std::int64_t token = -1;
  std::int64_t repeat = 0;
  std::string source = {};
};

class Interventions {
 public:
  Interventions(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings, InterventionResult& result)
      : run_(run), settings_(settings), result_(result), model_(run.require_trained()), evaluator_(*run.structure) {
    check_table();
    result_.model = model_.name;
    result_.measure = run.structure->shape.regression ? "mse" : "accuracy";
    for (LayerCode& c : layer_codes(run, model_)) codes_[c.layer] = std::move(c.code);
    const std::string main = choose_split(dataset, "");
    add_split(dataset, main);
    if (main != "validation" && dataset.has_split("validation")) add_split(dataset, "validation");
  }

  void run_all(const AnalyzeProgress& progress) {
    const std::vector<std::pair<const char*, void (Interventions::*)()>> steps = {
        {"intact", &Interventions::intact},
        {"true code", &Interventions::true_code},
        {"other runs", &Interventions::other_runs},
        {"shuffled", &Interventions::shuffled},
        {"rotated", &Interventions::rotated},
        {"norms", &Interventions::norms},
        {"interpolated", &Interventions::interpolated},
        {"lesions", &Interventions::lesions}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (progress)
        progress(fmt::format("interventions: {}", steps[i].first),
                 static_cast<double>(i) / static_cast<double>(steps.size()));
      (this->*steps[i].second)();
    }
  }

 private:
  void check_table() const {
    const std::vector<PeTensor> tensors = run_.structure->encoding->tensors();
    if (adds_codes(run_) && tensors.size() == 1 && tensors.front().name == "table") return;
    throw DataError({.what = "the encoding has no table of positions that could be replaced",
                     .where = run_.path.string(),
                     .got = fmt::format("pe.kind={}", pe_kind_name(run_.config.pe.kind)),
                     .expected = "learned or sinusoidal",
                     .hint = "train with pe.kind=learned; attention can be analysed for every encoding"});
  }

  void add_split(const Dataset& dataset, const std::string& name) {
    const Examples& all = dataset.split(name);
    if (all.count == 0) return;
    splits_.emplace_back(name, sample_examples(dataset, all, affordable(), settings_.seed));
    if (splits_.back().second.count < all.count) {
      result_.notes.push_back(
          fmt::format("{} of {} examples of {} were used (setting examples)", splits_.back().second.count, all.count, name));
    }
  }

  // Long sequences cost more: dozens of evaluations are to take seconds, not minutes.
  std::int64_t affordable() const {
    return std::min(settings_.examples, std::max<std::int64_t>(kMostTokens / run_.tokens(), kFewestExamples));
  }

  // Evaluates with `codes` in place of the model's own; layers not named keep theirs.
  void evaluate(const Label& label, const Codes& codes, bool main_split_only = false) {
    AlignedBuffer<float> params(model_.params.size());
    std::copy_n(model_.params.data(), params.size(), params.data());
    for (const auto& [layer, code] : codes) {
      const TensorSlot& slot = run_.structure->layout[run_.structure->blocks[static_cast<std::size_t>(layer)].pe.front()];
      for (std::size_t i = 0; i < code.values().size(); ++i) {
        params[static_cast<std::size_t>(slot.offset) + i] = static_cast<float>(code.values()[i]);
      }
    }
    for (const auto& [name, examples] : splits_) {
      if (main_split_only && name != splits_.front().first) continue;
      const Evaluation e = evaluator_.run(params.data(), examples);
      InterventionRow row;
      row.kind = label.kind;
      row.layer = label.layer;
      row.amount = label.amount;
      row.token = label.token;
      row.repeat = label.repeat;
      row.source = label.source;
      row.split = name;
      row.accuracy = e.accuracy;
      row.mse = e.mse;
      row.loss = e.loss;
      const double value = run_.structure->shape.regression ? e.mse : e.accuracy;
      if (label.kind == "none") intact_[name] = value;
      row.change = value - intact_.at(name);
      result_.rows.push_back(std::move(row));
    }
  }

  template <class Change>
  Codes changed(const Change& change) const {
    Codes out;
    for (const auto& [layer, code] : codes_) out[layer] = change(layer, code);
    return out;
  }

  // All layers at once, then, where there are several, each alone.
  void all_and_each(const std::string& kind, const Codes& codes, const std::string& source = {}) {
    evaluate({.kind = kind, .source = source}, codes);
    if (codes.size() < 2) return;
    for (const auto& [layer, code] : codes) evaluate({.kind = kind, .layer = layer, .source = source}, {{layer, code}});
  }

  std::vector<int> random_order(std::string_view name, std::int64_t repeat) const {
    std::vector<int> order(static_cast<std::size_t>(run_.tokens()));
    std::iota(order.begin(), order.end(), 0);
    Rng rng(derive_seed(settings_.seed, name, static_cast<std::uint64_t>(repeat)), "analyze/order");
    rng.shuffle(std::span<int>(order));
    return order;
  }

  void intact() { evaluate({.kind = "none"}, {}); }

  void true_code() {
    const MatrixD truth = true_sinusoid(run_);
    if (truth.rows() == 0) {
      result_.notes.push_back("coordinates are no grid: the true 2-D code cannot be put in");
      return;
    }
    all_and_each("true2d", changed([&](std::int64_t, const MatrixD& code) { return align_code(code, truth); }));
    evaluate({.kind = "true2d_unaligned"},
             changed([&](std::int64_t, const MatrixD& code) { return scaled(truth, norm_of(code) / norm_of(truth)); }));
    for (std::int64_t r = 0; r < settings_.repeats; ++r) {
      const MatrixD wrong = permuted_rows(truth, random_order("interventions/true2d_permuted", r));
      evaluate({.kind = "true2d_permuted", .repeat = r},
               changed([&](std::int64_t, const MatrixD& code) { return align_code(code, wrong); }));
    }
  }

  void other_runs() {
    for (const std::string& folder : settings_.others) {
      const AnalysisRun other = load_analysis_run(folder, nullptr, {.snapshots = false});
      if (other.tokens() != run_.tokens() || other.structure->width() != run_.structure->width()) {
        result_.notes.push_back(fmt::format("{}: {} tokens x {} channels do not fit {} x {}; its positions were not put in",
                                            folder, other.tokens(), other.structure->width(), run_.tokens(),
                                            run_.structure->width()));
        continue;
      }
      Codes foreign;
      for (LayerCode& c : layer_codes(other, other.require_trained())) {
        if (codes_.contains(c.layer)) foreign[c.layer] = std::move(c.code);
      }
      evaluate({.kind = "other", .source = folder}, foreign);
      Codes aligned;
      for (const auto& [layer, code] : foreign) aligned[layer] = align_code(codes_.at(layer), code);
      all_and_each("other_aligned", aligned, folder);
    }
    if (settings_.others.empty()) result_.notes.push_back("no other runs were given: their positions were not put in");
  }

  void shuffled() {
    for (std::int64_t r = 0; r < settings_.repeats; ++r) {
      const std::vector<int> order = random_order("interventions/shuffled", r);
      const Codes codes = changed([&](std::int64_t, const MatrixD& code) { return permuted_rows(code, order); });
      r == 0 ? all_and_each("shuffled", codes) : evaluate({.kind = "shuffled", .repeat = r}, codes);
    }
    evaluate({.kind = "shuffled_by_layer"}, changed([&](std::int64_t layer, const MatrixD& code) {
               return permuted_rows(code, random_order("interventions/shuffled_by_layer", layer));
             }));
  }

  void rotated() {
    for (std::int64_t r = 0; r < settings_.repeats; ++r) {
      const MatrixD rotation = random_rotation(
          run_.structure->width(), derive_seed(settings_.seed, "interventions/rotated", static_cast<std::uint64_t>(r)));
      evaluate({.kind = "rotated", .repeat = r},
               changed([&](std::int64_t, const MatrixD& code) { return product(code, rotation); }));
    }
  }

  void norms() {
    for (const double factor : settings_.scales) {
      evaluate({.kind = "scaled", .amount = factor},
               changed([&](std::int64_t, const MatrixD& code) { return scaled(code, factor); }));
    }
    all_and_each("zeroed", changed([](std::int64_t, const MatrixD& code) { return MatrixD(code.rows(), code.cols()); }));
    evaluate({.kind = "averaged"}, changed([](std::int64_t, const MatrixD& code) {
               const MatrixD centred = stats::centre_rows(code.view());
               MatrixD mean = code;
               for (std::size_t i = 0; i < mean.values().size(); ++i) mean.values()[i] -= centred.values()[i];
               return mean;
             }));
  }

  void interpolated() {
    const AnalysisModel* start = run_.initial();
    if (start == nullptr) {
      result_.notes.push_back("no init/ model: no interpolation from initial to learned positions");
      return;
    }
    Codes initial;
    for (LayerCode& c : layer_codes(run_, *start)) initial[c.layer] = std::move(c.code);
    for (const double alpha : settings_.alphas) {
      evaluate({.kind = "interpolated", .amount = alpha}, changed([&](std::int64_t layer, const MatrixD& code) {
                 MatrixD mixed = code;
                 const auto& from = initial.at(layer).values();
                 for (std::size_t i = 0; i < from.size(); ++i)
                   mixed.values()[i] = (1 - alpha) * from[i] + alpha * mixed.values()[i];
                 return mixed;
               }));
    }
  }

  void lesion(const Label& label, const std::function<bool(std::int64_t)>& gone) {
    evaluate(label, changed([&](std::int64_t, MatrixD code) {
               for (std::int64_t t = 0; t < code.rows(); ++t) {
                 if (gone(t)) std::fill(code.row(t).begin(), code.row(t).end(), 0.0);
               }
               return code;
             }),
             true);
  }

  void lesions() {
    if (run_.tokens() <= settings_.most_lesions) {
      for (std::int64_t t = 0; t < run_.tokens(); ++t) {
        lesion({.kind = "lesion", .token = t}, [t](std::int64_t i) { return i == t; });
      }
      return;
    }
    const std::vector<int> labels = label_list(run_);
    std::vector<int> distinct = labels;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    result_.notes.push_back(
        fmt::format("more than {} tokens: whole labels were lesioned instead of single positions", settings_.most_lesions));
    for (const int label : distinct) {
      lesion({.kind = "lesion_label", .token = label},
             [&, label](std::int64_t i) { return labels[static_cast<std::size_t>(i)] == label; });
    }
  }

  const AnalysisRun& run_;
  const AnalyzeSettings& settings_;
  InterventionResult& result_;
  const AnalysisModel& model_;
  Evaluator evaluator_;
  Codes codes_;
  std::vector<std::pair<std::string, Examples>> splits_;
  std::map<std::string, double> intact_;
};

}  // namespace

MatrixD align_code(const MatrixD& code, const MatrixD& source) {
  const MatrixD target = stats::centre_rows(code.view());
  const MatrixD from = stats::centre_rows(source.view());
  const double target_norm = norm_of(target), from_norm = norm_of(from);
  if (target_norm == 0 || from_norm == 0) return code;
  const stats::Procrustes fit = stats::procrustes(target.view(), from.view());
  MatrixD out = scaled(fit.aligned, target_norm / from_norm);
  for (std::size_t i = 0; i < out.values().size(); ++i) out.values()[i] += code.values()[i] - target.values()[i];
  return out;
}

InterventionResult analyze_interventions(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                                         const AnalyzeProgress& progress) {
  InterventionResult result;
  Interventions(run, dataset, settings, result).run_all(progress);
  return result;
}

}  // namespace locus
