// The oracle's hand-written backward against complex step: every encoding with 1, 2 and 4 heads, both masks and odd lengths,
// dropout and signs, and every option that a golden case has.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "kernels/reference/encoder.h"
#include "tests/support/golden.h"
#include "tests/support/reference_cases.h"

namespace locus::reference {
namespace {

using Complex = std::complex<double>;
constexpr double kStep = 1e-50;

struct Problem {
  Spec spec;
  Params<double> params;
  Batch batch;
  Noise noise;
};

Params<Complex> to_complex(const Params<double>& params) {
  Params<Complex> converted;
  for (const auto& [name, values] : params) converted[name].assign(values.begin(), values.end());
  return converted;
}

// Checks all entries of small tensors and of encodings, `sample` of the others, and one random direction of all parameters.
void expect_backward_is_derivative(const Problem& problem, std::size_t sample, Rng& rng) {
  const auto result = loss_and_gradients(problem.spec, problem.params, problem.batch, problem.noise);
  Params<Complex> params = to_complex(problem.params), moved = params;
  double largest_of_all = 0, along = 0;
  for (const auto& [name, gradient] : result.gradients) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double direction = rng.normal();
      moved[name][i] += Complex(0, direction * kStep);
      along += direction * gradient[i];
      largest_of_all = std::max(largest_of_all, std::abs(gradient[i]));
    }
  }
  ASSERT_GT(largest_of_all, 1e-4);
  EXPECT_NEAR(loss(problem.spec, moved, problem.batch, problem.noise).imag() / kStep, along, 1e-10 * (std::abs(along) + 1));
  for (const auto& [name, gradient] : result.gradients) {
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    const bool all = gradient.size() <= sample || name.find("pe.") != std::string::npos;
    for (std::size_t n = 0; n < (all ? gradient.size() : sample); ++n) {
      const std::size_t i = all ? n : rng.below(static_cast<std::uint32_t>(gradient.size()));
      params[name][i] += Complex(0, kStep);
      const double derivative = loss(problem.spec, params, problem.batch, problem.noise).imag() / kStep;
      params[name][i] = problem.params.at(name)[i];
      // A gradient that is truly zero (a key bias) is noise on both sides: 1e-14 of the largest one allows for it.
      EXPECT_NEAR(gradient[i], derivative, 1e-10 * largest + 1e-14 * largest_of_all) << name << "[" << i << "]";
    }
  }
}

Spec small_spec(PeKind kind, int heads, bool causal, int tokens) {
  Spec spec;
  spec.tokens = tokens;
  spec.features = 2;
  spec.outputs = 3;
  spec.width = 8;
  spec.layers = 1;
  spec.heads = heads;
  spec.mlp_width = 5;
  spec.causal = causal;
  spec.readout = Readout::kMean;
  spec.pe = kind;
  spec.buckets = 8;
  spec.value_term = true;
  return spec;
}

class ReferenceEncodingGradientTest : public testing::TestWithParam<int> {};

TEST_P(ReferenceEncodingGradientTest, backward_is_complex_step_for_heads_masks_and_odd_lengths) {
  Rng rng(7, "reference/gradient");
  for (const int heads : {1, 2, 4}) {
    for (const bool causal : {false, true}) {
      for (const int tokens : {1, 3, 7}) {
        const Spec spec = small_spec(static_cast<PeKind>(GetParam()), heads, causal, tokens);
        SCOPED_TRACE(testing::Message() << "heads " << heads << " causal " << causal << " tokens " << tokens);
        expect_backward_is_derivative({spec, random_params(spec, rng), random_batch(spec, 2, rng), {}}, 10, rng);
      }
    }
  }
}

TEST_P(ReferenceEncodingGradientTest, backward_is_complex_step_with_dropout_and_signs) {
  Rng rng(8, "reference/gradient");
  for (const bool pre : {false, true}) {
    Spec spec = small_spec(static_cast<PeKind>(GetParam()), 2, pre, 5);
    spec.pre_norm = pre;
    spec.layers = 2;
    spec.pe_shared = pre;
    expect_backward_is_derivative({spec, random_params(spec, rng), random_batch(spec, 2, rng), random_noise(spec, 2, rng)},
                                  4, rng);
  }
}

TEST_P(ReferenceEncodingGradientTest, backward_is_complex_step_in_space) {
  Rng rng(9, "reference/gradient");
  for (const int axes : {2, 3}) {
    Spec spec = small_spec(static_cast<PeKind>(GetParam()), 1, axes == 3, 5);
    spec.readout = axes == 2 ? Readout::kCls : Readout::kMasked;
    spec.task = axes == 2 ? Task::kClassification : Task::kRegression;
    spec.coord_scale = 1.25;
    for (int t = 0; t < spec.tokens; ++t) spec.coordinates.push_back(random_values(rng, axes, 2.0));
    expect_backward_is_derivative({spec, random_params(spec, rng), random_batch(spec, 2, rng), {}}, 10, rng);
  }
}

std::string kind_name(const testing::TestParamInfo<int>& at) {
  const std::vector<std::string> names = {"none", "learned", "sinusoidal", "laplacian", "rotary", "relative", "t5", "alibi"};
  return names.at(at.param);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ReferenceEncodingGradientTest, testing::Range(0, static_cast<int>(kPeKindNames.size())),
                         kind_name);

class ReferenceOptionGradientTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceOptionGradientTest, backward_is_complex_step) {
  const golden::File file = golden::read_file(GetParam());
  Rng rng(10, "reference/gradient");
  expect_backward_is_derivative({golden::spec_of(file.config()), file.group<double>("param."), golden::batch_of(file), {}},
                                3, rng);
}

std::string case_name(const testing::TestParamInfo<std::string>& at) {
  return std::filesystem::path(at.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceOptionGradientTest, testing::ValuesIn(golden::files()), case_name);

}  // namespace
}  // namespace locus::reference
