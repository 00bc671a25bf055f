#include "analyze/attention.h"

#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "analyze/attention_maps.h"
#include "config/sources.h"
#include "core/error.h"
#include "core/rng.h"
#include "run/layout.h"
#include "stats/bootstrap.h"
#include "stats/matrix_correlation.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

// Mean maps of the reference runs on the same examples.
struct Reference {
  std::int64_t runs = 0;
  std::int64_t layers = 0;      // 0 when they differ from this run's
  std::vector<float> example;   // (N, T, T)
  std::vector<float> by_layer;  // (N, L, T, T) or empty
};

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code code;
  return fs::equivalent(a, b, code) && !code;
}

void add_scaled(std::vector<float>& sum, const std::vector<float>& values) {
  if (sum.empty()) sum.assign(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

Reference reference_maps(const AnalysisRun& run, const Examples& examples, const AnalyzeSettings& settings,
                         AttentionResult& result) {
  Reference out;
  bool layers_fit = true;
  for (const std::string& folder : settings.references) {
    if (same_folder(folder, run.path)) continue;
    const AnalysisRun other = load_analysis_run(folder, nullptr, {.snapshots = false});
    if (other.structure->tokens != run.structure->tokens || other.tokens() != run.tokens()) {
      throw DataError({.what = "a reference run has another number of tokens",
                       .where = folder,
                       .got = std::to_string(other.tokens()),
                       .expected = fmt::format("{} as in {}", run.tokens(), run.path.string()),
                       .hint = "compare runs of the same task and size"});
    }
    const AttentionMaps maps = attention_maps(other, other.require_trained(), examples, 0);
    add_scaled(out.example, maps.example);
    layers_fit = layers_fit && maps.has_layers() && maps.shape.layers == run.structure->layers();
    if (layers_fit) add_scaled(out.by_layer, maps.by_layer);
    ++out.runs;
  }
  if (out.runs == 0) {
    result.notes.push_back(settings.references.empty()
                               ? "no reference runs: no agreement (give folders of 2-D models as references)"
                               : "the only reference is this run itself: no agreement");
    return out;
  }
  if (!layers_fit) out.by_layer.clear();
  for (auto* maps : {&out.example, &out.by_layer}) {
    for (float& v : *maps) v /= static_cast<float>(out.runs);
  }
  return out;
}

double map_cosine(std::span<const float> a, std::span<const float> b, double shift) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]) - shift, y = static_cast<double>(b[i]) - shift;
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0.0;
}

class AttentionAnalysis {
 public:
  AttentionAnalysis(const AnalysisRun& run, const Dataset& dataset, const Examples& examples,
                    const AnalyzeSettings& settings, AttentionResult& result)
      : run_(run),
        dataset_(dataset),
        examples_(examples),
        settings_(settings),
        result_(result),
        answer_tokens_(source_of(run.config).answer_tokens) {
    for (std::int64_t i = 0; i < examples.count; ++i) {
      clusters_.push_back(examples.cluster.empty() ? static_cast<int>(i) : examples.cluster[static_cast<std::size_t>(i)]);
    }
  }

  void set_reference(const Reference& reference) { reference_ = &reference; }

  // The kept examples themselves, for a look beside their maps: ids (-1 blank, N the target) and the cells the solver used.
  void keep_puzzles() {
    if (answer_tokens_ == nullptr || examples_.ids.empty()) return;
    const std::int64_t kept = std::min(settings_.kept_examples, examples_.count);
    const std::int64_t t = run_.tokens();
    std::vector<float> ids, used;
    for (std::int64_t i = 0; i < kept; ++i) {
      const std::span<const std::int16_t> puzzle{examples_.ids.data() + i * t, static_cast<std::size_t>(t)};
      ids.insert(ids.end(), puzzle.begin(), puzzle.end());
      for (const bool cell : answer_tokens_(puzzle).used) used.push_back(cell ? 1.0f : 0.0f);
    }
    if (kept == 0) return;
    result_.arrays.push_back({"example_tokens", {kept, t}, std::move(ids), true});
    result_.arrays.push_back({"example_used", {kept, t}, std::move(used), true});
  }

  void add(const AnalysisModel& model) {
    const bool keep = !model.is_snapshot();
    const AttentionMaps maps = attention_maps(run_, model, examples_, keep ? settings_.kept_examples : 0);
    entropy(model, maps);
    if (reference_ != nullptr && reference_->runs > 0) agreement(model, maps);
    if (answer_tokens_ != nullptr && !examples_.ids.empty() && maps.has_layers()) dependencies(model, maps);
    truths(model, maps);
    const MapShape& s = maps.shape;
    if (!keep) return;
    result_.arrays.push_back(
        {"maps." + model.name, {s.layers, s.heads, s.tokens, s.tokens}, maps.mean, model.name == "final"});
    const std::int64_t kept = std::min(settings_.kept_examples, s.examples);
    if (kept > 0) {
      result_.arrays.push_back({"examples." + model.name, {kept, s.layers, s.heads, s.tokens, s.tokens}, maps.kept});
    }
    if (s.examples * s.area() <= kMostStored) {
      result_.arrays.push_back({"mean_maps." + model.name, {s.examples, s.tokens, s.tokens}, maps.example});
    }
  }

 private:
  static constexpr std::int64_t kMostStored = 2 << 20;

  void entropy(const AnalysisModel& model, const AttentionMaps& maps) {
    for (std::int64_t l = 0; l < maps.shape.layers; ++l) {
      for (std::int64_t h = 0; h < maps.shape.heads; ++h) {
        const auto at = static_cast<std::size_t>(l * maps.shape.heads + h);
        AttentionEntropyRow row;
        row.model = model.name;
        row.epoch = model.epoch;
        row.layer = l;
        row.head = h;
        row.entropy = maps.entropy[at];
        row.normalised = maps.entropy[at] / std::log(static_cast<double>(maps.shape.tokens));
        row.diagonal = maps.diagonal[at];
        result_.entropy.push_back(std::move(row));
      }
    }
  }

  // Cosines of every example's map with the reference's, and their mean with an interval over clusters.
  void agreement_rows(const AnalysisModel& model, const std::string& name, const std::vector<float>& maps,
                      const std::vector<float>& reference, std::pair<std::int64_t, std::int64_t> step) {
    const auto area = static_cast<std::size_t>(run_.structure->tokens * run_.structure->tokens);
    const auto n = static_cast<std::size_t>(examples_.count);
    const auto stride = static_cast<std::size_t>(step.first);
    const auto offset = static_cast<std::size_t>(step.second);
    const auto map_of = [&](const std::vector<float>& v, std::size_t i) {
      const std::size_t at = i * stride + offset;
      return std::span<const float>(v.data() + at * area, area);
    };
    std::vector<float> overall(area, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const auto map = map_of(reference, i);
      for (std::size_t j = 0; j < area; ++j) overall[j] += map[j] / static_cast<float>(n);
    }
    for (const bool centred : {false, true}) {
      for (const bool by_example : {true, false}) {
        const double shift = centred ? 1.0 / static_cast<double>(run_.structure->tokens) : 0.0;
        std::vector<double> cosines(n);
        for (std::size_t i = 0; i < n; ++i) {
          cosines[i] =
              map_cosine(map_of(maps, i), by_example ? map_of(reference, i) : std::span<const float>(overall), shift);
        }
        AttentionAgreementRow row;
        row.model = model.name;
        row.map = name;
        row.form = centred ? "centred" : "plain";
        row.reference = by_example ? "example" : "overall";
        row.examples = examples_.count;
        row.references = reference_->runs;
        interval(cosines, row);
        result_.agreement.push_back(std::move(row));
      }
    }
  }

  void interval(const std::vector<double>& cosines, AttentionAgreementRow& row) const {
    const auto mean = [&](std::span<const std::size_t> rows) {
      double sum = 0;
      for (const std::size_t r : rows) sum += cosines[r];
      return sum / static_cast<double>(rows.size());
    };
    std::vector<std::size_t> all(cosines.size());
    std::iota(all.begin(), all.end(), 0);
    row.cosine = mean(all);
    const bool several = std::any_of(clusters_.begin(), clusters_.end(), [&](int c) { return c != clusters_.front(); });
    if (!several || is_snapshot(row.model)) return;
    stats::BootstrapOptions options;
    options.resamples = 1000;
    options.seed = derive_seed(settings_.seed, "attention/interval", fnv1a64(row.model + row.map + row.form));
    options.kind = stats::BootstrapKind::kPercentile;
    const stats::BootstrapResult boot = stats::bootstrap_clusters(clusters_, mean, options);
    row.low = boot.interval.lo;
    row.high = boot.interval.hi;
  }

  void agreement(const AnalysisModel& model, const AttentionMaps& maps) {
    agreement_rows(model, "mean", maps.example, reference_->example, {1, 0});
    if (reference_->by_layer.empty() || !maps.has_layers()) return;
    for (std::int64_t l = 0; l < maps.shape.layers; ++l) {
      agreement_rows(model, fmt::format("layer.{}", l), maps.by_layer, reference_->by_layer, {maps.shape.layers, l});
    }
  }

  std::int64_t read_token(std::int64_t example) const {
    const ModelConfig& m = run_.config.model;
    if (m.readout == Readout::kToken)
      return m.readout_token < 0 ? run_.structure->tokens + m.readout_token : m.readout_token;
    if (m.readout == Readout::kCls) return run_.structure->tokens - 1;
    if (m.readout == Readout::kGiven && !examples_.read_token.empty()) {
      return examples_.read_token[static_cast<std::size_t>(example)];
    }
    return -1;
  }

  struct Mass {
    double mass = 0, chance = 0, filled = 0, filled_chance = 0;
    std::int64_t count = 0;
  };

  static void add_mass(std::span<const float> row, const AnswerTokens& cells, Mass& sum) {
    const auto keys = static_cast<double>(row.size());
    for (std::size_t j = 0; j < cells.used.size(); ++j) {
      if (cells.used[j]) {
        sum.mass += row[j];
        sum.chance += 1 / keys;
      } else if (cells.filled[j]) {
        sum.filled += row[j];
        sum.filled_chance += 1 / keys;
      }
    }
    ++sum.count;
  }

  void dependencies(const AnalysisModel& model, const AttentionMaps& maps) {
    const std::int64_t t = run_.tokens();
    std::vector<AnswerTokens> cells;
    for (std::int64_t i = 0; i < examples_.count; ++i) {
      cells.push_back(answer_tokens_({examples_.ids.data() + i * t, static_cast<std::size_t>(t)}));
    }
    const auto conditions = static_cast<std::int64_t>(examples_.condition.empty() ? 0 : dataset_.conditions.size());
    for (std::int64_t l = 0; l < maps.shape.layers; ++l) {
      for (const char* query : {"read", "target"}) {
        std::vector<Mass> sums(static_cast<std::size_t>(1 + conditions));
        for (std::int64_t i = 0; i < examples_.count; ++i) {
          const AnswerTokens& puzzle = cells[static_cast<std::size_t>(i)];
          const std::int64_t q = std::string_view(query) == "read" ? read_token(i) : puzzle.target;
          if (q < 0) continue;
          const auto row = maps.layer_map(i, l).subspan(static_cast<std::size_t>(q * maps.shape.tokens),
                                                        static_cast<std::size_t>(maps.shape.tokens));
          add_mass(row, puzzle, sums[0]);
          if (conditions > 0)
            add_mass(row, puzzle, sums[static_cast<std::size_t>(1 + examples_.condition[static_cast<std::size_t>(i)])]);
        }
        for (std::size_t c = 0; c < sums.size(); ++c) mass_row(model, l, query, c, sums[c]);
      }
    }
  }

  void mass_row(const AnalysisModel& model, std::int64_t layer, const char* query, std::size_t condition, const Mass& sum) {
    if (sum.count == 0) return;
    const auto n = static_cast<double>(sum.count);
    AttentionDependencyRow row;
    row.model = model.name;
    row.epoch = model.epoch;
    row.layer = layer;
    row.query = query;
    row.condition = condition == 0 ? "" : dataset_.conditions[condition - 1];
    row.mass = sum.mass / n;
    row.chance = sum.chance / n;
    row.filled_mass = sum.filled / n;
    row.filled_chance = sum.filled_chance / n;
    if (sum.chance > 0) row.lift = sum.mass / sum.chance;
    row.examples = sum.count;
    result_.dependencies.push_back(std::move(row));
  }

  void truths(const AnalysisModel& model, const AttentionMaps& maps) {
    const std::int64_t t = run_.tokens();
    const std::vector<Truth> all = truths_of(run_);
    for (std::int64_t l = 0; l < maps.shape.layers; ++l) {
      MatrixD symmetric(t, t);
      for (std::int64_t h = 0; h < maps.shape.heads; ++h) {
        const auto map = maps.mean_map(l, h);
        for (std::int64_t i = 0; i < t; ++i) {
          for (std::int64_t j = 0; j < t; ++j) {
            const double weight =
                map[static_cast<std::size_t>(i * maps.shape.tokens + j)] / (2.0 * static_cast<double>(maps.shape.heads));
            symmetric(i, j) += weight;
            symmetric(j, i) += weight;
          }
        }
      }
      for (const Truth& truth : all) {
        AttentionTruthRow row;
        row.model = model.name;
        row.epoch = model.epoch;
        row.layer = l;
        row.truth = truth.name;
        row.pearson = stats::matrix_correlation(symmetric.view(), truth.matrix.view()).r;
        row.spearman = stats::matrix_correlation(symmetric.view(), truth.matrix.view(), stats::CorrelationKind::kSpearman).r;
        if (!model.is_snapshot() && std::isfinite(row.pearson)) {
          stats::PermutationOptions options;
          options.permutations = static_cast<int>(settings_.permutations);
          options.seed = derive_seed(settings_.seed, "attention/mantel",
                                     fnv1a64(model.name + truth.name) + static_cast<std::uint64_t>(l));
          row.mantel_p = stats::mantel(symmetric.view(), truth.matrix.view(), stats::CorrelationKind::kPearson, options).p;
        }
        result_.truths.push_back(std::move(row));
      }
    }
  }

  const AnalysisRun& run_;
  const Dataset& dataset_;
  const Examples& examples_;
  const AnalyzeSettings& settings_;
  AttentionResult& result_;
  AnswerTokens (*answer_tokens_)(std::span<const std::int16_t> ids);  // not set: the source cannot tell
  const Reference* reference_ = nullptr;
  std::vector<int> clusters_;
};

}  // namespace

AttentionResult analyze_attention(const AnalysisRun& run, const Dataset& dataset, const AnalyzeSettings& settings,
                                  const AnalyzeProgress& progress) {
  AttentionResult result;
  run.require_trained();
  result.split = choose_split(dataset, settings.split);
  const Examples& all = dataset.split(result.split);
  const std::int64_t count = affordable_examples(run.structure->tokens, settings.examples);
  const Examples examples = sample_examples(dataset, all, count, settings.seed);
  result.examples = examples.count;
  if (examples.count < all.count) {
    result.notes.push_back(
        fmt::format("{} of {} examples of {} were used (setting examples)", examples.count, all.count, result.split));
  }
  if (progress) progress("attention of references", 0);
  const Reference reference = reference_maps(run, examples, settings, result);
  AttentionAnalysis analysis(run, dataset, examples, settings, result);
  analysis.set_reference(reference);
  analysis.keep_puzzles();
  for (std::size_t m = 0; m < run.models.size(); ++m) {
    if (progress)
      progress("attention " + run.models[m].name, static_cast<double>(m + 1) / static_cast<double>(run.models.size() + 1));
    analysis.add(run.models[m]);
  }
  if (run.initial() == nullptr) result.notes.push_back("no init/ model: no untrained floor");
  return result;
}

}  // namespace locus
