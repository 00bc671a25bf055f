// Halves of the people: what they share is found, what they do not share is not, and a region that differs stands out.
#include "analyze/reliability.h"

#include "io/file.h"
#include "run/layout.h"
#include "stats/linalg.h"
#include "stats/matrix_correlation.h"
#include "tests/analyze/support.h"
#include "tests/stats/planted.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr std::int64_t kTokens = 24;

MatrixD sum(const MatrixD& a, const MatrixD& b, double scale) {
  MatrixD out = a;
  for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < out.cols(); ++j) out(i, j) += scale * b(i, j);
  }
  return out;
}

// Runs on both halves with two seeds; `change` gives what a run learned.
class HalvesTest : public testing::Test {
 protected:
  void train(const std::function<MatrixD(int half, int seed)>& change, double sigma = 2) {
    const Dataset data = small_masked(kTokens);
    for (int half = 1; half <= 2; ++half) {
      for (int seed = 0; seed < 2; ++seed) {
        AnalysisRun run = make_analysis_run(tiny_masked_config({"seed=" + std::to_string(seed)}), data);
        std::vector<float> p = initial_params(run, seed);
        const std::vector<std::int64_t> layers = code_layers(run);
        std::vector<MatrixD> starts;
        for (std::size_t l = 0; l < layers.size(); ++l) {
          starts.push_back(stats::planted_noise(kTokens, 16, 100 * static_cast<std::uint64_t>(seed) + l));
          for (double& v : starts.back().values()) v *= sigma;
          set_code(run, layers[l], starts.back(), p);
        }
        add_model(run, "init", p);
        for (std::size_t l = 0; l < layers.size(); ++l) set_code(run, layers[l], sum(starts[l], change(half, seed), 1), p);
        add_model(run, "final", p);
        paths_.push_back(runs_.write("half" + std::to_string(half) + "seed" + std::to_string(seed), run, data));
        const fs::path manifest = paths_.back() / run_files::kManifest;
        Json json = Json::parse(read_text_file(manifest));
        json["data"]["subjects.train"] = half == 1 ? "11 13" : "12 14";
        write_file_atomic(manifest, json.dump());
      }
    }
  }
  static const ReliabilityRow& row(const ReliabilityResult& r, const std::string& code, const std::string& comparison) {
    for (const ReliabilityRow& row : r.rows) {
      if (row.layer == 0 && row.code == code && row.comparison == comparison) return row;
    }
    throw std::runtime_error("no such row");
  }

  TempRuns runs_;
  std::vector<fs::path> paths_;
};

TEST_F(HalvesTest, what_both_halves_learned_is_found_in_the_change_and_drowned_in_the_code) {
  const MatrixD shared = stats::planted_noise(kTokens, 16, 7);
  train([&](int half, int seed) {
    return sum(shared, stats::planted_noise(kTokens, 16, 50 + 2 * static_cast<std::uint64_t>(half) + seed), 0.3);
  });
  const ReliabilityResult r = analyze_reliability(paths_, {});
  const ReliabilityRow& halves = row(r, "change", "halves");
  EXPECT_EQ(halves.pairs, 2);
  EXPECT_GT(halves.agreement, 0.75);
  EXPECT_LT(halves.low, halves.agreement);
  EXPECT_GT(halves.high, halves.agreement);
  EXPECT_GT(halves.low, halves.shuffled);
  EXPECT_NEAR(halves.whole, 2 * halves.agreement / (1 + halves.agreement), 1e-12);
  EXPECT_GT(row(r, "change", "seeds").agreement, 0.75);
  EXPECT_LT(row(r, "centred", "halves").agreement, 0.5) << "starts of twice the size differ between seeds";
  EXPECT_GT(row(r, "centred", "halves_same_seed").agreement, 0.9) << "the shared start looks like reliability";
}

TEST_F(HalvesTest, the_agreement_is_the_correlation_of_the_two_matrices_of_cosines) {
  std::map<std::pair<int, int>, MatrixD> learned;
  train([&](int half, int seed) {
    return learned[{half, seed}] = stats::planted_noise(kTokens, 16, 300 + 2 * static_cast<std::uint64_t>(half) + seed);
  });
  const auto cosines = [&](int half, int seed) {
    return stats::cosine_similarity(stats::centre_rows(learned[{half, seed}].view()).view());
  };
  const auto direct = [&](int seed) {
    return stats::matrix_correlation(cosines(1, seed).view(), cosines(2, 1 - seed).view()).r;
  };
  const ReliabilityRow halves = row(analyze_reliability(paths_, {}), "change", "halves");
  EXPECT_NEAR(halves.agreement, (direct(0) + direct(1)) / 2, 1e-5);
  EXPECT_LT(std::abs(halves.agreement), 0.2) << "nothing was shared";
  EXPECT_LT(halves.low, halves.shuffled);
}

TEST_F(HalvesTest, a_region_that_other_people_place_elsewhere_stands_out) {
  const MatrixD shared = stats::planted_noise(kTokens, 16, 7);
  constexpr std::ptrdiff_t kOdd = 5;
  train([&](int half, int seed) {
    MatrixD code = sum(shared, stats::planted_noise(kTokens, 16, 50 + 2 * static_cast<std::uint64_t>(half) + seed), 0.1);
    const MatrixD other = stats::planted_noise(kTokens, 16, 70 + static_cast<std::uint64_t>(half));
    for (std::ptrdiff_t j = 0; j < 16; ++j) code(kOdd, j) = other(kOdd, j);
    return code;
  });
  const ReliabilityResult r = analyze_reliability(paths_, {});
  ASSERT_EQ(r.regions.size(), static_cast<std::size_t>(kTokens));
  // Every other region has the odd one among its 23 partners, so none is perfect; but all are above it.
  const RegionReliabilityRow& odd = r.regions[static_cast<std::size_t>(kOdd)];
  EXPECT_EQ(odd.token, kOdd);
  EXPECT_LT(odd.halves, 0.6);
  EXPECT_GT(odd.seeds, 0.9) << "on the same half both seeds place it alike";
  for (const RegionReliabilityRow& region : r.regions) {
    if (region.token == kOdd) continue;
    EXPECT_GT(region.halves, odd.high) << region.name;
    EXPECT_LE(region.low, region.halves);
  }
}

TEST_F(HalvesTest, one_half_alone_is_refused_with_the_way_to_get_the_other) {
  train([](int, int) { return stats::planted_noise(kTokens, 16, 1); });
  paths_.resize(2);
  EXPECT_NE(error_of([&] { analyze_reliability(paths_, {}); }).find("different people"), std::string::npos);
}

}  // namespace
}  // namespace locus
