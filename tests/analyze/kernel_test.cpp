// The tangent kernel: against finite differences, constant for a linear model, still for large output scale.
#include "analyze/kernel.h"

#include <algorithm>
#include <numeric>

#include "analyze/movement.h"
#include "infer/evaluate.h"
#include "tests/analyze/support.h"

namespace locus {
namespace {

using namespace testing_support;

Examples first_examples(const Dataset& data, std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return take_examples({data.tokens, data.features}, data.split("train"), indices);
}

std::vector<OutputPlace> class_outputs(std::int64_t count) {
  std::vector<OutputPlace> out;
  for (std::int64_t c = 0; c < count; ++c) out.push_back({0, c});
  return out;
}

std::vector<float> gradient_of(const ModelStructure& s, const std::vector<float>& params, const Examples& e, std::int64_t i,
                               const OutputPlace& place, const Savings& savings) {
  Prepared prepared(s);
  prepared.update(params.data(), {});
  EncoderPass pass(s, 1, savings);
  AlignedBuffer<float> grads(params.size());
  pass.begin_shard(prepared, grads.data());
  pass.output_gradient(prepared, microbatch_of(s.shape, e, i, 1), {}, place.row, place.column);
  pass.end_shard(prepared);
  return {grads.data(), grads.data() + grads.size()};
}

TEST(OutputGradientTest, sums_to_the_gradient_of_the_loss) {
  const Dataset data = small_lst();
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"pe.kind=rotary"},
                                               {"model.readout=mean"},
                                               {"model.norm=pre", "model.heads=2"},
                                               {"model.output_gain=2.5", "model.head_hidden=8"}}) {
    const AnalysisRun run = memory_run(tiny_lst_config(more), data);
    const ModelStructure& s = *run.structure;
    const std::vector<float> params = moved_params(initial_params(run, 1), 0.05, 4);
    const Examples e = first_examples(data, 1);
    Prepared prepared(s);
    prepared.update(params.data(), {});
    EncoderPass pass(s, 1, admitted_savings(s));
    AlignedBuffer<float> loss_gradient(params.size());
    pass.begin_shard(prepared, loss_gradient.data());
    const PassResult result = pass.train(prepared, microbatch_of(s.shape, e, 0, 1), {});
    const std::vector<float> y(result.outputs.data, result.outputs.data + 4);
    pass.end_shard(prepared);
    double z = 0;
    for (const float v : y) z += std::exp(static_cast<double>(v));
    std::vector<double> sum(params.size(), 0.0);
    for (std::int64_t o = 0; o < 4; ++o) {
      const double weight = std::exp(static_cast<double>(y[static_cast<std::size_t>(o)])) / z - (e.labels[0] == o ? 1 : 0);
      const std::vector<float> g = gradient_of(s, params, e, 0, {0, o}, admitted_savings(s));
      const std::vector<float> plain = gradient_of(s, params, e, 0, {0, o}, no_savings());
      for (std::size_t i = 0; i < g.size(); ++i) {
        sum[i] += weight * static_cast<double>(g[i]);
        ASSERT_NEAR(g[i], plain[i], 1e-4) << i;
      }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], loss_gradient[i], 2e-5) << i;
  }
}

TEST(TangentKernelTest, agrees_with_finite_differences) {
  const Dataset data = small_lst();
  const AnalysisRun run = memory_run(config_of({"model.layers=1", "model.width=8", "model.mlp_width=8"}), data);
  const ModelStructure& s = *run.structure;
  std::vector<float> params = moved_params(initial_params(run, 1), 0.05, 3);
  const Examples e = first_examples(data, 4);
  const std::vector<OutputPlace> places = class_outputs(4);
  const TangentKernel k = tangent_kernel(s, params.data(), e, places);
  Evaluator evaluator(*run.structure);
  MatrixD pe(4, 4), rest(4, 4);
  constexpr float kStep = 1e-2f;
  for (const TensorSlot& slot : s.layout.slots()) {
    for (std::int64_t i = 0; i < slot.size; ++i) {
      float& p = params[static_cast<std::size_t>(slot.offset + i)];
      const float kept = p;
      p = kept + kStep;
      const MatrixF up = evaluator.run(params.data(), e, {.keep_outputs = true}).outputs;
      p = kept - kStep;
      const MatrixF down = evaluator.run(params.data(), e, {.keep_outputs = true}).outputs;
      p = kept;
      for (std::int64_t a = 0; a < 4; ++a) {
        for (std::int64_t b = 0; b < 4; ++b) {
          for (std::int64_t o = 0; o < 4; ++o) {
            const double x = (up(a, o) - down(a, o)) / (2 * kStep), y = (up(b, o) - down(b, o)) / (2 * kStep);
            (is_position_tensor(slot.name) ? pe : rest)(a, b) += x * y / 4;
          }
        }
      }
    }
  }
  for (std::int64_t a = 0; a < 4; ++a) {
    for (std::int64_t b = 0; b < 4; ++b) {
      EXPECT_NEAR(k.pe(a, b), pe(a, b), 0.01 * std::sqrt(pe(a, a) * pe(b, b)));
      EXPECT_NEAR(k.rest(a, b), rest(a, b), 0.01 * std::sqrt(rest(a, a) * rest(b, b)));
    }
  }
}

TEST(TangentKernelTest, does_not_depend_on_how_memory_is_shared_out) {
  const Dataset data = small_lst();
  const AnalysisRun run = memory_run(tiny_lst_config(), data);
  const Examples e = first_examples(data, 11);
  const std::vector<OutputPlace> places = class_outputs(2);
  const float* params = run.models.back().params.data();
  const TangentKernel whole = tangent_kernel(*run.structure, params, e, places);
  KernelOptions tight;
  tight.memory = 4.0 * static_cast<double>(run.structure->layout.floats()) * 8.5;  // four examples a group
  const TangentKernel parts = tangent_kernel(*run.structure, params, e, places, {}, tight);
  const MatrixD a = whole.all(), b = parts.all();
  for (std::size_t i = 0; i < a.values().size(); ++i) EXPECT_NEAR(a.values()[i], b.values()[i], 1e-6 * a(0, 0));
  EXPECT_EQ(whole.outputs, parts.outputs);
  for (std::int64_t i = 0; i < 11; ++i) {
    for (std::int64_t j = 0; j < 11; ++j) EXPECT_EQ(a(i, j), a(j, i));
  }
}

TEST(TangentKernelTest, of_a_linear_model_is_exactly_constant) {
  const Dataset data = small_lst();
  const RunConfig config =
      config_of({"model.layers=0", "model.width=5", "model.embed=none", "model.readout=flat", "pe.kind=none"});
  AnalysisRun run = make_analysis_run(config, data);
  add_model(run, "init", initial_params(run, 0));
  add_model(run, "snapshots/5", moved_params(initial_params(run, 0), 1.0, 1));
  add_model(run, "final", moved_params(initial_params(run, 0), 10.0, 2));
  const KernelResult r = analyze_kernel(run, data, quick_settings());
  ASSERT_EQ(r.kernels.size(), 9u);
  for (const KernelRow& row : r.kernels) {
    if (row.part != "all") continue;
    EXPECT_EQ(row.change, 0) << row.model;
  }
  for (const TaylorRow& row : r.taylor) EXPECT_NEAR(row.r2, 1, 1e-8) << row.model;
}

// Training on squared error of alpha (f - f0) with learning rate / alpha^2: the larger alpha, the lazier.
double change_after_training(double alpha, double& last_loss) {
  const Dataset data = small_lst();
  AnalysisRun run = make_analysis_run(config_of({"model.layers=1", "model.width=8", "model.mlp_width=16"}), data);
  const ModelStructure& s = *run.structure;
  const std::vector<float> start = initial_params(run, 2);
  std::vector<float> params = start;
  const Examples e = first_examples(data, 3);
  Evaluator evaluator(*run.structure);
  const MatrixF f0 = evaluator.run(start.data(), e, {.keep_outputs = true}).outputs;
  const double rate = 0.04 / (alpha * alpha);
  for (int step = 0; step < 300; ++step) {
    const MatrixF f = evaluator.run(params.data(), e, {.keep_outputs = true}).outputs;
    std::vector<double> gradient(params.size(), 0.0);
    last_loss = 0;
    for (std::int64_t i = 0; i < e.count; ++i) {
      const double target = e.labels[static_cast<std::size_t>(i)] == 0 ? 1 : -1;
      const double error = alpha * (static_cast<double>(f(i, 0)) - static_cast<double>(f0(i, 0))) - target;
      last_loss += error * error / static_cast<double>(e.count);
      const std::vector<float> g = gradient_of(s, params, e, i, {0, 0}, no_savings());
      for (std::size_t p = 0; p < g.size(); ++p)
        gradient[p] += 2 * error * alpha * static_cast<double>(g[p]) / static_cast<double>(e.count);
    }
    for (std::size_t p = 0; p < params.size(); ++p) params[p] -= static_cast<float>(rate * gradient[p]);
  }
  const std::vector<OutputPlace> places = class_outputs(1);
  return kernel_change(tangent_kernel(s, start.data(), e, places).all(), tangent_kernel(s, params.data(), e, places).all());
}

TEST(TangentKernelTest, stands_still_as_the_output_scale_grows) {
  std::vector<double> changes;
  for (const double alpha : {1.0, 8.0, 64.0}) {
    double loss = 0;
    changes.push_back(change_after_training(alpha, loss));
    EXPECT_LT(loss, 0.8) << alpha;  // all of them learn
    RecordProperty("change_at_" + std::to_string(static_cast<int>(alpha)), std::to_string(changes.back()));
  }
  EXPECT_GT(changes[0], 1e-4);
  EXPECT_LT(changes[1], 0.2 * changes[0]);
  EXPECT_LT(changes[2], 0.1 * changes[1]);
  EXPECT_LT(changes[2], 1e-4);
}

TEST(KernelAnalysisTest, splits_positions_from_the_rest_and_reports_every_model) {
  const Dataset data = small_lst();
  AnalysisRun run = memory_run(tiny_lst_config({"pe.sigma=1"}), data);
  const KernelResult r = analyze_kernel(run, data, quick_settings());
  ASSERT_EQ(r.kernels.size(), 6u);
  EXPECT_EQ(r.outputs, 4);
  EXPECT_EQ(r.probe, 12);
  EXPECT_EQ(r.split, "test");
  const KernelRow &all = r.kernels[3], &pe = r.kernels[4], &rest = r.kernels[5];
  EXPECT_NEAR(all.trace, pe.trace + rest.trace, 1e-9 * all.trace);
  EXPECT_NEAR(pe.share + rest.share, 1, 1e-9);
  EXPECT_GT(all.change, 0);
  EXPECT_EQ(r.kernels[0].change, 0);
  EXPECT_GE(all.effective_rank, 1);
  EXPECT_LE(all.effective_rank, 12);
  ASSERT_EQ(r.taylor.size(), 1u);
  EXPECT_LE(r.taylor[0].r2, 1);
}

TEST(KernelAnalysisTest, a_first_order_model_is_near_for_small_steps) {
  const Dataset data = small_lst();
  const KernelResult near = analyze_kernel(memory_run(tiny_lst_config(), data, 1e-4), data, quick_settings());
  const KernelResult far = analyze_kernel(memory_run(tiny_lst_config(), data, 0.2), data, quick_settings());
  EXPECT_GT(near.taylor[0].r2, 0.9999);
  EXPECT_LT(far.taylor[0].r2, near.taylor[0].r2);
  EXPECT_GT(far.kernels[3].change, 100 * near.kernels[3].change);
}

TEST(KernelAnalysisTest, works_for_masked_prediction_with_one_mask_for_all_probes) {
  const Dataset data = small_masked();
  AnalyzeSettings settings = quick_settings();
  settings.probe_outputs = 3;
  const AnalysisRun run = memory_run(tiny_masked_config(), data);
  const Probe probe = make_probe(run, data, settings);
  for (std::size_t i = 20; i < probe.examples.masks.size(); ++i) {
    ASSERT_EQ(probe.examples.masks[i], probe.examples.masks[i - 20]);
  }
  const KernelResult r = analyze_kernel(run, data, settings);
  EXPECT_EQ(r.outputs, 3);
  EXPECT_TRUE(std::isfinite(r.taylor[0].mse_linear));
  EXPECT_TRUE(std::isnan(r.taylor[0].accuracy_linear));
}

TEST(KernelAnalysisTest, alignment_is_one_for_the_kernel_of_the_targets) {
  MatrixD y(4, 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) y(i, j) = i / 2 == j / 2 ? 1 : 0;
  }
  MatrixD shifted = y;
  for (double& v : shifted.values()) v = 3 * v + 7;
  EXPECT_NEAR(kernel_alignment(shifted, y), 1, 1e-12);
  EXPECT_NEAR(kernel_rank(y), 2, 1e-12);
  EXPECT_NEAR(kernel_change(y, y), 0, 1e-15);
}

TEST(MovementTest, measures_what_was_added) {
  const Dataset data = small_lst();
  AnalysisRun run = make_analysis_run(tiny_lst_config(), data);
  std::vector<float> p = initial_params(run, 0);
  add_model(run, "init", p);
  const TensorSlot& slot = *run.structure->layout.find("blocks.1.pe.table");
  for (std::int64_t i = 0; i < slot.size; ++i) p[static_cast<std::size_t>(slot.offset + i)] *= 3;
  add_model(run, "final", p);
  const MovementResult r = analyze_movement(run, {});
  for (const MovementRow& row : r.rows) {
    if (row.name == "blocks.1.pe.table") {
      EXPECT_NEAR(row.relative, 2, 1e-6);
      EXPECT_NEAR(row.cosine, 1, 1e-6);
      EXPECT_EQ(row.parameters, 16 * 16);
    } else if (row.name == "rest" || row.name == "mlp") {
      EXPECT_EQ(row.movement, 0);
    }
  }
  AnalysisRun bare = make_analysis_run(tiny_lst_config(), data);
  add_model(bare, "final", p);
  EXPECT_NE(error_of([&] { analyze_movement(bare, {}); }).find("no model at initialisation"), std::string::npos);
}

}  // namespace
}  // namespace locus
