// Attention maps, agreement and dependencies have the values that simple models make plain; interventions change what
// they say they change and nothing else.
#include "analyze/attention.h"

#include "analyze/attention_maps.h"
#include "analyze/interventions.h"
#include "data/latin_examples.h"
#include "infer/evaluate.h"
#include "stats/linalg.h"
#include "tests/analyze/support.h"
#include "tests/stats/planted.h"

namespace locus {
namespace {

using namespace testing_support;

// Queries are zero, so every key weighs the same.
std::vector<float> uniform_attention(const AnalysisRun& run, std::vector<float> p) {
  const std::int64_t c = run.structure->width();
  for (const BlockSlots& b : run.structure->blocks) {
    float* w = p.data() + run.structure->layout[b.in_weight].offset;
    std::fill_n(w, c * c, 0.0f);
  }
  return p;
}

TEST(AttentionTest, of_a_model_without_queries_is_uniform) {
  const Dataset data = small_lst();
  AnalysisRun run = make_analysis_run(tiny_lst_config({"model.heads=2"}), data);
  const std::vector<float> p = uniform_attention(run, initial_params(run, 0));
  add_model(run, "init", p);
  add_model(run, "final", p);
  const AttentionResult r = analyze_attention(run, data, quick_settings());
  EXPECT_EQ(r.split, "heldout");
  ASSERT_EQ(r.entropy.size(), 8u);  // models x layers x heads
  for (const AttentionEntropyRow& row : r.entropy) {
    EXPECT_NEAR(row.entropy, std::log(16.0), 1e-5);
    EXPECT_NEAR(row.normalised, 1, 1e-5);
    EXPECT_NEAR(row.diagonal, 1.0 / 16, 1e-6);
  }
  EXPECT_FALSE(r.dependencies.empty());
  for (const AttentionDependencyRow& row : r.dependencies) {
    EXPECT_NEAR(row.mass, row.chance, 1e-5);
    EXPECT_NEAR(row.lift, 1, 1e-4);
    EXPECT_NEAR(row.chance, 3.0 / 16, 1e-9);  // a one-step answer follows from three cells
  }
  ASSERT_FALSE(r.notes.empty());
  EXPECT_NE(r.notes[0].find("no reference runs"), std::string::npos);
}

TEST(AttentionTest, rows_of_maps_sum_to_one_and_means_are_means) {
  const Dataset data = small_lst();
  const AnalysisRun run = memory_run(tiny_lst_config({"model.heads=4"}), data, 0.3);
  const Examples e = take_examples({data.tokens, data.features}, data.split("heldout"), std::vector<std::int64_t>{0, 1, 2});
  const AttentionMaps maps = attention_maps(run, run.models.back(), e, 3);
  for (std::int64_t q = 0; q < 3 * 16; ++q) {
    double sum = 0;
    for (std::int64_t j = 0; j < 16; ++j) sum += maps.example[static_cast<std::size_t>(q * 16 + j)];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  double kept = 0;
  for (std::int64_t n = 0; n < 3; ++n) kept += maps.kept[static_cast<std::size_t>(((n * 2 + 1) * 4 + 2) * 256 + 37)] / 3.0;
  EXPECT_NEAR(maps.mean_map(1, 2)[37], kept, 1e-6);
}

TEST(AttentionTest, agrees_with_a_copy_of_itself_and_less_with_others) {
  const Dataset data = small_lst();
  TempRuns runs;
  const AnalysisRun run = memory_run(tiny_lst_config(), data, 0.3);
  const fs::path copy = runs.write("copy", run, data);
  const fs::path other = runs.write("other", memory_run(tiny_lst_config({"seed=5"}), data, 0.3), data);
  AnalyzeSettings settings = quick_settings();
  settings.references = {copy.string()};
  const AttentionResult same = analyze_attention(run, data, settings);
  settings.references = {other.string()};
  const AttentionResult different = analyze_attention(run, data, settings);
  const auto find = [](const AttentionResult& r, const std::string& model, const std::string& form, const std::string& map) {
    for (const auto& row : r.agreement) {
      if (row.model == model && row.form == form && row.map == map && row.reference == "example") return row;
    }
    throw std::runtime_error("no such row");
  };
  for (const char* form : {"plain", "centred"}) {
    EXPECT_NEAR(find(same, "final", form, "mean").cosine, 1, 1e-6);
    EXPECT_NEAR(find(same, "final", form, "layer.1").cosine, 1, 1e-6);
    EXPECT_LT(find(different, "final", form, "mean").cosine, 0.99);
  }
  const auto plain = find(different, "final", "plain", "mean"), centred = find(different, "final", "centred", "mean");
  EXPECT_LT(centred.cosine, plain.cosine);
  EXPECT_LE(plain.low, plain.cosine);
  EXPECT_GE(plain.high, plain.cosine);
  EXPECT_LT(find(same, "init", "centred", "mean").cosine, 0.9);  // the untrained floor
}

TEST(AttentionTest, refuses_references_of_other_sizes_and_unknown_splits) {
  const Dataset data = small_masked(20);
  TempRuns runs;
  const Dataset larger = small_masked(24);
  const fs::path other = runs.write("other", memory_run(tiny_masked_config(), larger), larger);
  AnalyzeSettings settings = quick_settings();
  settings.references = {other.string()};
  const AnalysisRun run = memory_run(tiny_masked_config(), data);
  const std::string tokens = error_of([&] { analyze_attention(run, data, settings); });
  EXPECT_NE(tokens.find("another number of tokens"), std::string::npos) << tokens;
  settings = quick_settings();
  settings.split = "tset";
  const std::string split = error_of([&] { analyze_attention(run, data, settings); });
  EXPECT_NE(split.find("did you mean test"), std::string::npos) << split;
}

TEST(AttentionTest, is_compared_with_true_matrices_in_masked_prediction) {
  Dataset data = small_masked(20);
  data.tokens_info.truths["W"] = MatrixD(20, 20);
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 20; ++j) data.tokens_info.truths["W"](i, j) = (i + j) % 3 == 0 ? 1 : 0;
  }
  const AttentionResult r = analyze_attention(memory_run(tiny_masked_config(), data), data, quick_settings());
  EXPECT_EQ(r.split, "test");
  EXPECT_TRUE(r.dependencies.empty());
  std::size_t with_w = 0;
  for (const AttentionTruthRow& row : r.truths) with_w += row.truth == "W" && std::isfinite(row.mantel_p) ? 1 : 0;
  EXPECT_EQ(with_w, 4u);
}

TEST(AttentionTest, knows_the_cells_a_puzzle_depends_on) {
  // Row 0 holds 1, 2, 3 and the target: the answer needs just these.
  std::vector<std::int16_t> ids(16, -1);
  ids[0] = 0;
  ids[1] = 1;
  ids[2] = 2;
  ids[3] = 4;
  ids[10] = 0;
  const AnswerTokens cells = latin_answer_tokens(ids);
  EXPECT_EQ(cells.target, 3);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(cells.used[i], i < 3) << i;
  EXPECT_TRUE(cells.filled[10]);
  EXPECT_FALSE(cells.filled[3]);
}

TEST(AttentionTest, keeps_the_puzzles_beside_their_maps) {
  const Dataset data = small_lst();
  const AnalysisRun run = memory_run(tiny_lst_config({}), data, 0.3);
  AnalyzeSettings settings;
  settings.kept_examples = 2;
  const AttentionResult result = analyze_attention(run, data, settings, {});
  const auto array = [&](const std::string& name) -> const ResultArray& {
    const auto it = std::find_if(result.arrays.begin(), result.arrays.end(), [&](const auto& a) { return a.name == name; });
    if (it == result.arrays.end()) throw std::runtime_error("no array " + name);
    return *it;
  };
  const ResultArray& tokens = array("example_tokens");
  const ResultArray& used = array("example_used");
  ASSERT_EQ(tokens.shape, (std::vector<std::int64_t>{2, 16}));
  ASSERT_EQ(used.shape, tokens.shape);
  for (std::size_t k = 0; k < 32; k += 16) {
    const std::vector<std::int16_t> ids(tokens.values.begin() + static_cast<std::ptrdiff_t>(k),
                                        tokens.values.begin() + static_cast<std::ptrdiff_t>(k + 16));
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 4), 1);
    const AnswerTokens cells = latin_answer_tokens(ids);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(used.values[k + i], cells.used[i] ? 1 : 0);
  }
}

const InterventionRow& find(const InterventionResult& r, const std::string& kind, double amount = kNotAvailable,
                            std::int64_t layer = -1) {
  for (const InterventionRow& row : r.rows) {
    const bool amount_fits = std::isnan(amount) ? std::isnan(row.amount) : row.amount == amount;
    if (row.kind == kind && amount_fits && row.layer == layer) return row;
  }
  throw std::runtime_error("no intervention " + kind);
}

TEST(InterventionsTest, shuffling_or_zeroing_positions_that_are_zero_changes_nothing) {
  const Dataset data = small_lst();
  AnalysisRun run = make_analysis_run(tiny_lst_config({"pe.init=zero"}), data);
  std::vector<float> p = moved_params(initial_params(run, 0), 0.1, 3);
  for (const std::int64_t layer : code_layers(run)) set_code(run, layer, MatrixD(16, 16), p);
  add_model(run, "init", initial_params(run, 0));
  add_model(run, "final", p);
  const InterventionResult r = analyze_interventions(run, data, quick_settings());
  const double loss = find(r, "none").loss;
  for (const InterventionRow& row : r.rows) {
    if (row.split != "heldout" || row.kind.starts_with("true2d_unaligned")) continue;
    EXPECT_EQ(row.loss, loss) << row.kind;
    EXPECT_EQ(row.change, 0) << row.kind;
  }
}

TEST(InterventionsTest, a_models_own_positions_change_nothing_and_others_do) {
  const Dataset data = small_lst();
  TempRuns runs;
  const AnalysisRun run = memory_run(tiny_lst_config({"pe.sigma=1"}), data, 0.2);
  AnalyzeSettings settings = quick_settings();
  settings.others = {runs.write("self", run, data).string()};
  settings.alphas = {0, 1};
  settings.scales = {1, 2};
  const InterventionResult r = analyze_interventions(run, data, settings);
  const double loss = find(r, "none").loss;
  EXPECT_EQ(find(r, "other").loss, loss);
  EXPECT_NEAR(find(r, "other_aligned").loss, loss, 1e-4);
  EXPECT_EQ(find(r, "interpolated", 1).loss, loss);
  EXPECT_EQ(find(r, "scaled", 1).loss, loss);
  for (const char* kind : {"shuffled", "rotated", "zeroed", "averaged", "true2d", "true2d_permuted"}) {
    EXPECT_GT(std::abs(find(r, kind).loss - loss), 1e-4) << kind;
  }
  EXPECT_NE(find(r, "zeroed", kNotAvailable, 0).loss, find(r, "zeroed", kNotAvailable, 1).loss);
  std::size_t lesions = 0;
  for (const InterventionRow& row : r.rows) lesions += row.kind == "lesion" ? 1 : 0;
  EXPECT_EQ(lesions, 16u);
}

TEST(InterventionsTest, the_true_code_leaves_a_model_that_has_it_as_it_is) {
  const Dataset data = small_lst();
  const AnalysisRun run = memory_run(tiny_lst_config({"pe.kind=sinusoidal", "pe.positions=grid"}), data, 0);
  const InterventionResult r = analyze_interventions(run, data, quick_settings());
  EXPECT_NEAR(find(r, "true2d").loss, find(r, "none").loss, 1e-5);
  EXPECT_NEAR(find(r, "true2d_unaligned").loss, find(r, "none").loss, 1e-6);
}

TEST(InterventionsTest, an_aligned_code_keeps_norm_and_mean_and_undoes_rotations) {
  const MatrixD code = stats::planted_noise(16, 12, 1);
  const MatrixD source = stats::planted_noise(16, 12, 2);
  const MatrixD out = align_code(code, source);
  const MatrixD a = stats::centre_rows(out.view()), b = stats::centre_rows(code.view());
  double na = 0, nb = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) {
    na += a.values()[i] * a.values()[i];
    nb += b.values()[i] * b.values()[i];
    EXPECT_NEAR(out.values()[i] - a.values()[i], code.values()[i] - b.values()[i], 1e-9);
  }
  EXPECT_NEAR(na, nb, 1e-9 * nb);
  EXPECT_NEAR(stats::procrustes(b.view(), a.view()).matched_distance,
              stats::procrustes(b.view(), stats::centre_rows(source.view()).view()).matched_distance, 1e-6);
}

TEST(InterventionsTest, evaluation_agrees_with_counting_by_hand) {
  const Dataset data = small_masked();
  const AnalysisRun run = memory_run(tiny_masked_config(), data, 0.1);
  Evaluator evaluator(*run.structure);
  const Examples& e = data.split("test");
  const Evaluation got = evaluator.run(run.models.back().params.data(), e, {.keep_outputs = true});
  double squares = 0;
  std::size_t row = 0;
  for (std::size_t i = 0; i < e.masks.size(); ++i) {
    if (e.masks[i] == 0) continue;
    const double d = static_cast<double>(got.outputs.values()[row++]) - static_cast<double>(e.values[i]);
    squares += d * d;
  }
  ASSERT_EQ(row, got.outputs.values().size());
  EXPECT_NEAR(got.mse, squares / static_cast<double>(row), 1e-6);
  EXPECT_NEAR(got.loss, got.mse, 1e-6);
  const InterventionResult r = analyze_interventions(run, data, quick_settings());
  EXPECT_EQ(r.measure, "mse");
  EXPECT_TRUE(std::isnan(r.rows[0].accuracy));
}

TEST(InterventionsTest, says_which_encodings_have_no_table_to_replace) {
  const Dataset data = small_lst();
  const std::string message =
      error_of([&] { analyze_interventions(memory_run(tiny_lst_config({"pe.kind=alibi"}), data), data, quick_settings()); });
  EXPECT_NE(message.find("no table of positions"), std::string::npos) << message;
  EXPECT_NE(message.find("pe.kind=alibi"), std::string::npos);
}

}  // namespace
}  // namespace locus
