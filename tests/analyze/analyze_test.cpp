// Analyses of run directories: everything that is on the list runs, is kept, is not computed twice, and what is missing is
// said. Groups of runs: seeds, layers, times, relations.
#include "analyze/analyze.h"

#include <algorithm>
#include <set>

#include "analyze/identifiability.h"
#include "analyze/relations.h"
#include "analyze/results/attention.h"
#include "analyze/results/interventions.h"
#include "analyze/results/kernel.h"
#include "analyze/results/movement.h"
#include "analyze/results/networks.h"
#include "analyze/results/recovery.h"
#include "io/npy.h"
#include "stats/linalg.h"
#include "tests/analyze/support.h"
#include "tests/stats/planted.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using namespace testing_support;

AnalyzeOptions options_for(const fs::path& run, const Dataset& data, int* made = nullptr) {
  AnalyzeOptions o;
  o.run = run;
  o.names = {"all"};
  o.settings = quick_settings();
  o.dataset = [&data, made] {
    if (made != nullptr) ++*made;
    return data;
  };
  return o;
}

const AnalysisOutcome& outcome_of(const std::vector<AnalysisOutcome>& all, const std::string& name) {
  for (const AnalysisOutcome& o : all) {
    if (o.name == name) return o;
  }
  throw std::runtime_error("no outcome of " + name);
}

TEST(AnalysisListTest, has_a_page_for_every_analysis_and_no_name_twice) {
  std::set<std::string> names;
  for (const Analysis& info : all_analyses()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.question.empty());
    EXPECT_FALSE(info.needs.empty());
    const fs::path page = fs::path(locus::test::source_dir()) / "docs/analyses" / (info.name + ".md");
    EXPECT_TRUE(fs::exists(page)) << page;
  }
  EXPECT_EQ(names.size(), 12u);
}

// Targets that a user named, or pictures: a masked study has neither.
bool needs_own_data(const std::string& analysis) { return analysis == "scores" || analysis == "unscramble"; }

TEST(AnalyzeRunTest, computes_everything_once_and_nothing_twice) {
  const Dataset data = small_masked();
  TempRuns runs;
  AnalysisRun run = memory_run(tiny_masked_config(), data);
  const fs::path folder = runs.write("run", run, data);
  int made = 0;
  const AnalyzeOptions options = options_for(folder, data, &made);
  const std::vector<AnalysisOutcome> first = analyze_run(options);
  std::size_t on_runs = 0;
  for (const Analysis& info : all_analyses()) on_runs += info.on_group() ? 0 : 1;
  ASSERT_EQ(first.size(), on_runs);
  for (const AnalysisOutcome& o : first) {
    if (needs_own_data(o.name)) {
      EXPECT_EQ(o.state, AnalysisState::kUnavailable) << o.name;
      continue;
    }
    EXPECT_EQ(o.state, AnalysisState::kComputed) << o.name << ": " << o.message;
    EXPECT_TRUE(fs::exists(o.file));
    EXPECT_TRUE(fs::exists(folder / "analysis" / (o.name + ".csv")));
  }
  EXPECT_EQ(made, 1);
  std::vector<fs::file_time_type> times;
  for (const AnalysisOutcome& o : first)
    times.push_back(needs_own_data(o.name) ? fs::file_time_type() : fs::last_write_time(o.file));
  const std::vector<AnalysisOutcome> second = analyze_run(options);
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (needs_own_data(second[i].name)) continue;
    EXPECT_EQ(second[i].state, AnalysisState::kCached) << second[i].name;
    EXPECT_EQ(fs::last_write_time(second[i].file), times[i]);
  }
  EXPECT_EQ(made, 1);
}

TEST(AnalyzeRunTest, computes_again_what_other_settings_or_models_concern) {
  const Dataset data = small_masked();
  TempRuns runs;
  AnalysisRun run = memory_run(tiny_masked_config(), data);
  const fs::path folder = runs.write("run", run, data);
  AnalyzeOptions options = options_for(folder, data);
  analyze_run(options);
  options.settings.permutations = 49;
  const std::vector<AnalysisOutcome> permuted = analyze_run(options);
  EXPECT_EQ(outcome_of(permuted, "recovery").state, AnalysisState::kComputed);
  EXPECT_EQ(outcome_of(permuted, "kernel").state, AnalysisState::kCached);
  fs::remove(folder / "analysis" / "recovery.npz");
  EXPECT_EQ(outcome_of(analyze_run(options), "recovery").state, AnalysisState::kComputed);
  add_model(run, "final", moved_params(initial_params(run, 0), 0.5, 9));
  runs.write("run", run, data);
  for (const AnalysisOutcome& o : analyze_run(options)) {
    if (needs_own_data(o.name)) continue;
    EXPECT_EQ(o.state, AnalysisState::kComputed) << o.name;
  }
}

TEST(AnalyzeRunTest, gives_the_same_bytes_again) {
  const Dataset data = small_lst();
  TempRuns runs;
  const fs::path folder = runs.write("run", memory_run(tiny_lst_config(), data), data);
  AnalyzeOptions options = options_for(folder, data);
  analyze_run(options);
  std::map<std::string, std::string> before;
  for (const auto& entry : fs::directory_iterator(folder / "analysis"))
    before[entry.path().filename()] = text_of(entry.path());
  options.force = true;
  analyze_run(options);
  EXPECT_GT(before.size(), 10u);
  for (const auto& [name, text] : before) EXPECT_EQ(text_of(folder / "analysis" / name), text) << name;
}

TEST(AnalyzeRunTest, says_what_a_run_cannot_give_and_goes_on) {
  const Dataset data = small_lst();
  TempRuns runs;
  const fs::path folder = runs.write("run", memory_run(tiny_lst_config(), data), data);
  const std::vector<AnalysisOutcome> all = analyze_run(options_for(folder, data));
  EXPECT_EQ(outcome_of(all, "networks").state, AnalysisState::kUnavailable);
  EXPECT_NE(outcome_of(all, "networks").message.find("no labels"), std::string::npos);
  EXPECT_EQ(outcome_of(all, "interventions").state, AnalysisState::kComputed);
  EXPECT_NE(error_of([&] { read_analysis(folder, "networks"); }).find("no labels"), std::string::npos);
  const auto recovery = read_result<RecoveryResult>(folder);
  const bool tells = std::any_of(recovery.notes.begin(), recovery.notes.end(), [](const std::string& n) {
    return n.find("watch.snapshots=[0,5,20]") != std::string::npos;
  });
  EXPECT_TRUE(tells);
}

TEST(AnalyzeRunTest, names_missing_models_data_and_analyses) {
  const Dataset data = small_lst();
  TempRuns runs;
  AnalysisRun only_init = make_analysis_run(tiny_lst_config(), data);
  add_model(only_init, "init", initial_params(only_init, 0));
  const fs::path unfinished = runs.write("unfinished", only_init, data);
  const std::vector<AnalysisOutcome> all = analyze_run(options_for(unfinished, data));
  EXPECT_EQ(outcome_of(all, "recovery").state, AnalysisState::kComputed);
  for (const char* name : {"movement", "attention", "interventions", "kernel"}) {
    EXPECT_NE(outcome_of(all, name).message.find("no trained model"), std::string::npos) << name;
  }
  const fs::path folder = runs.write("run", memory_run(tiny_lst_config(), data), data);
  AnalyzeOptions options = options_for(folder, data);
  options.names = {"recovry"};
  EXPECT_NE(error_of([&] { analyze_run(options); }).find("did you mean recovery"), std::string::npos);
  options.names = {"attention"};
  options.dataset = nullptr;
  EXPECT_NE(analyze_run(options)[0].message.find("not at hand"), std::string::npos);
  Dataset changed = data;
  changed.hash = "other";
  EXPECT_NE(analyze_run(options_for(folder, changed))[3].message.find("not the one the run was trained on"),
            std::string::npos);
  options.run = runs.path() / "nowhere";
  EXPECT_NE(error_of([&] { analyze_run(options); }).find("no such run directory"), std::string::npos);
}

TEST(AnalyzeRunTest, follows_snapshots_through_training) {
  const Dataset data = small_lst();
  TempRuns runs;
  AnalysisRun run = make_analysis_run(tiny_lst_config(), data);
  const std::vector<float> start = initial_params(run, 0);
  add_model(run, "init", start);
  add_model(run, "snapshots/5", moved_params(start, 0.01, 1));
  add_model(run, "snapshots/20", moved_params(start, 0.1, 1));
  add_model(run, "final", moved_params(start, 0.2, 1));
  const fs::path folder = runs.write("run", run, data);
  analyze_run(options_for(folder, data));
  const KernelResult kernel = read_result<KernelResult>(folder);
  std::vector<double> changes;
  for (const KernelRow& row : kernel.kernels) {
    if (row.part == "all") changes.push_back(row.change);
  }
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_TRUE(std::is_sorted(changes.begin(), changes.end()));
  const MovementResult movement = read_result<MovementResult>(folder);
  EXPECT_EQ(movement.rows.front().epoch, 5);
  const RecoveryResult recovery = read_result<RecoveryResult>(folder);
  EXPECT_EQ(recovery.layers.size(), 8u);
}

TEST(AnalyzeRunTest, results_read_back_as_written) {
  const Dataset data = small_masked();
  TempRuns runs;
  const fs::path folder = runs.write("run", memory_run(tiny_masked_config(), data), data);
  analyze_run(options_for(folder, data));
  const auto same = [&]<class R>(const R&) {
    const std::string name = R::kName;
    const Json json = read_analysis(folder, name);
    const Json again = to_json(result_from_json<R>(json));
    EXPECT_GT(again.size(), 1u);
    for (const auto& [key, value] : again.items()) EXPECT_EQ(value.dump(), json.at(key).dump()) << name << " " << key;
  };
  same(RecoveryResult());
  same(NetworkResult());
  same(MovementResult());
  same(AttentionResult());
  same(InterventionResult());
  same(KernelResult());
  const auto arrays = read_npz(folder / "analysis" / "networks.npz", "labels");
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].array.shape, std::vector<std::int64_t>{20});
}

TEST(AnalyzeRunTest, loads_every_encoding_from_its_folder) {
  Dataset data = small_masked();
  data.tokens_info.graph = MatrixD(20, 20);
  for (std::int64_t i = 0; i < 20; ++i)
    data.tokens_info.graph(i, (i + 1) % 20) = data.tokens_info.graph((i + 1) % 20, i) = 1;
  TempRuns runs;
  for (const std::string_view kind : kPeKindNames) {
    const AnalysisRun run = memory_run(tiny_masked_config({"pe.kind=" + std::string(kind)}), data);
    const AnalysisRun loaded = load_analysis_run(runs.write(std::string(kind), run, data));
    ASSERT_EQ(loaded.models.size(), 2u) << kind;
    for (const TensorSlot& slot : run.structure->layout.slots()) {
      const float* const a = run.models[1].params.data() + slot.offset;
      EXPECT_TRUE(std::equal(a, a + slot.size, loaded.models[1].params.data() + slot.offset)) << kind << " " << slot.name;
    }
    EXPECT_EQ(adds_codes(loaded), kind == "learned" || kind == "sinusoidal" || kind == "laplacian") << kind;
  }
}

TEST(AnalyzeSettingsTest, are_set_by_name_and_checked) {
  AnalyzeSettings s;
  apply_setting(s, "permutations=49");
  apply_setting(s, "alphas=[0, 0.5,1]");
  apply_setting(s, "references=runs/a, runs/b");
  apply_setting(s, "snapshots=false");
  EXPECT_EQ(s.permutations, 49);
  EXPECT_EQ(s.alphas, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(s.references, (std::vector<std::string>{"runs/a", "runs/b"}));
  EXPECT_FALSE(s.snapshots);
  EXPECT_NE(error_of([&] { apply_setting(s, "permutation=5"); }).find("did you mean permutations"), std::string::npos);
  EXPECT_NE(error_of([&] { apply_setting(s, "probe=x"); }).find("a whole number"), std::string::npos);
  EXPECT_NE(error_of([&] { apply_setting(s, "alphas=[0,x]"); }).find("a list of numbers"), std::string::npos);
  EXPECT_NE(error_of([&] { apply_setting(s, "permutations=0"); }).find("out of range"), std::string::npos);
  EXPECT_NE(error_of([&] { apply_setting(s, "probe"); }).find("key=value"), std::string::npos);
}

// The same code turned by an arbitrary rotation: what another seed would give if the code were identifiable.
MatrixD turned(const MatrixD& code, std::uint64_t seed) {
  const stats::Svd svd = stats::thin_svd(stats::planted_noise(code.cols(), code.cols(), seed).view());
  MatrixD out(code.rows(), code.cols());
  for (std::ptrdiff_t i = 0; i < code.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < code.cols(); ++j) {
      for (std::ptrdiff_t k = 0; k < code.cols(); ++k) out(i, j) += code(i, k) * svd.u(k, j);
    }
  }
  return out;
}

TEST(AnalyzeGroupTest, sees_that_rotated_codes_are_the_same_and_random_ones_are_not) {
  const Dataset data = small_lst();
  TempRuns runs;
  const MatrixD code = stats::planted_noise(16, 16, 3);
  AnalyzeGroupOptions group;
  group.out = runs.path() / "group";
  group.names = {"identifiability"};
  for (int seed = 0; seed < 2; ++seed) {
    AnalysisRun run = make_analysis_run(tiny_lst_config({"seed=" + std::to_string(seed)}), data);
    std::vector<float> p = initial_params(run, seed);
    add_model(run, "init", p);
    for (std::int64_t layer = 0; layer < 2; ++layer)
      set_code(run, layer, turned(code, 10 * static_cast<std::uint64_t>(seed) + 1), p);
    add_model(run, "final", p);
    group.runs.push_back(runs.write("seed" + std::to_string(seed), run, data));
  }
  ASSERT_EQ(analyze_group(group)[0].state, AnalysisState::kComputed);
  EXPECT_EQ(analyze_group(group)[0].state, AnalysisState::kCached);
  const IdentifiabilityResult r = read_result<IdentifiabilityResult>(group.out);
  int seeds = 0, layers = 0, times = 0;
  for (const CodePairRow& row : r.pairs) {
    if (row.comparison == "seeds" && row.model_a == "final") {
      EXPECT_NEAR(row.procrustes_matched, 0, 1e-3);
      EXPECT_NEAR(row.cosine_pearson, 1, 1e-5);
      EXPECT_NEAR(row.cka, 1, 1e-5);
      ++seeds;
    } else if (row.comparison == "seeds") {
      EXPECT_LT(row.cosine_pearson, 0.5);
      EXPECT_GT(row.procrustes_matched, 0.3);
    }
    layers += row.comparison == "layers" ? 1 : 0;
    times += row.comparison == "time" ? 1 : 0;
  }
  EXPECT_EQ(seeds, 2);
  EXPECT_EQ(layers, 2);
  EXPECT_EQ(times, 4);
  EXPECT_EQ(r.settings[0], r.settings[1]);
}

TEST(AnalyzeGroupTest, pair_measures_agree_with_the_direct_formulas_for_wide_and_for_narrow_codes) {
  for (const std::ptrdiff_t width : {6, 30}) {
    const MatrixD a = stats::planted_noise(16, width, 1), b = stats::planted_noise(16, width, 2);
    CodePairRow row;
    ComparableCode(a).compare(ComparableCode(b), row);
    EXPECT_NEAR(row.procrustes_matched, stats::procrustes(a.view(), b.view(), {.centre = true}).matched_distance, 1e-6);
    EXPECT_NEAR(
        row.cosine_pearson,
        stats::matrix_correlation(stats::cosine_similarity(a.view()).view(), stats::cosine_similarity(b.view()).view()).r,
        1e-12);
  }
}

TEST(AnalyzeGroupTest, refuses_runs_of_different_sizes_and_single_runs) {
  TempRuns runs;
  AnalyzeGroupOptions group;
  group.out = runs.path() / "group";
  for (const std::int64_t tokens : {20, 24}) {
    const Dataset data = small_masked(tokens);
    group.runs.push_back(runs.write(std::to_string(tokens), memory_run(tiny_masked_config(), data), data));
  }
  const std::vector<AnalysisOutcome> all = analyze_group(group);
  EXPECT_NE(outcome_of(all, "identifiability").message.find("different numbers of tokens"), std::string::npos);
  EXPECT_NE(outcome_of(all, "relations").message.find("at least 3"), std::string::npos);
  group.runs.pop_back();
  EXPECT_NE(outcome_of(analyze_group(group), "identifiability").message.find("several runs"), std::string::npos);
}

TEST(AnalyzeGroupTest, relates_measures_with_outcomes_over_runs_and_over_sigmas) {
  const Dataset data = small_lst();
  TempRuns runs;
  AnalyzeGroupOptions group;
  group.out = runs.path() / "group";
  group.names = {"relations"};
  int i = 0;
  for (const char* sigma : {"0.1", "0.5", "2"}) {
    for (int seed = 0; seed < 2; ++seed, ++i) {
      const RunConfig config = tiny_lst_config({std::string("pe.sigma=") + sigma, "seed=" + std::to_string(seed)});
      const AnalysisRun run = memory_run(config, data, 0.02);
      group.runs.push_back(runs.write("run" + std::to_string(i), run, data, 1 - 0.1 * i));
      AnalyzeOptions options = options_for(group.runs.back(), data);
      options.names = {"movement", "recovery"};
      analyze_run(options);
    }
  }
  ASSERT_EQ(analyze_group(group)[0].state, AnalysisState::kComputed);
  const RelationResult r = read_result<RelationResult>(group.out);
  bool found = false;
  for (const RelationRow& row : r.relations) {
    if (row.measure != "movement.pe.relative") continue;  // falls with sigma by itself, as the outcome here does
    found = true;
    EXPECT_GT(row.spearman, 0.8);
    EXPECT_NEAR(row.spearman_sigma, 1, 1e-12);
    EXPECT_EQ(row.runs, 6);
    EXPECT_EQ(row.sigmas, 3);
    EXPECT_EQ(row.outcome, "heldout.accuracy");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace locus
