#include "data/ridge.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/error.h"

namespace locus {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Positions in `samples` of those with one mask.
using Group = std::vector<std::size_t>;

std::vector<Group> groups_of_equal_masks(const Examples& e, std::int64_t tokens, std::span<const std::int64_t> samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto compare = [&](std::size_t a, std::size_t b) {
    return std::memcmp(e.masks.data() + samples[a] * tokens, e.masks.data() + samples[b] * tokens,
                       static_cast<std::size_t>(tokens));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  std::vector<Group> groups;
  for (const std::size_t i : order) {
    if (groups.empty() || compare(groups.back().front(), i) != 0) groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

struct Sides {
  std::vector<Eigen::Index> hidden, visible;  // variables
};

Sides sides_of(const std::uint8_t* mask, std::int64_t tokens, std::int64_t features) {
  Sides sides;
  for (std::int64_t t = 0; t < tokens; ++t) {
    if (mask[t] == kMissing) continue;
    auto& side = mask[t] == kHidden ? sides.hidden : sides.visible;
    for (std::int64_t f = 0; f < features; ++f) side.push_back(t * features + f);
  }
  return sides;
}

Eigen::MatrixXd centred(const RidgeModel& model, const Examples& e, std::span<const std::int64_t> samples,
                        const Group& group, const std::vector<Eigen::Index>& variables) {
  const auto d = static_cast<std::int64_t>(model.mean.size());
  Eigen::MatrixXd out(static_cast<Eigen::Index>(variables.size()), static_cast<Eigen::Index>(group.size()));
  for (std::size_t g = 0; g < group.size(); ++g) {
    const float* x = e.values.data() + samples[group[g]] * d;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      out(static_cast<Eigen::Index>(v), static_cast<Eigen::Index>(g)) =
          static_cast<double>(x[variables[v]]) - model.mean[static_cast<std::size_t>(variables[v])];
    }
  }
  return out;
}

}  // namespace

Moments variable_moments(const Examples& examples, std::int64_t first, std::int64_t last, std::int64_t d) {
  constexpr std::int64_t kBlock = 512;
  Moments moments(d);
  MatrixD block(std::min(kBlock, std::max<std::int64_t>(last - first, 1)), d);
  for (std::int64_t s = first; s < last; s += kBlock) {
    const std::int64_t n = std::min(kBlock, last - s);
    std::copy_n(examples.values.begin() + s * d, n * d, block.values().begin());
    moments.add_rows(std::as_const(block).view().row_block(0, n));
  }
  return moments;
}

RidgeModel ridge_from(const Moments& moments, double relative_penalty) {
  RidgeModel model{moments.mean(), moments.covariance(), 0};
  double trace = 0;
  for (std::int64_t i = 0; i < moments.size(); ++i) trace += model.covariance(i, i);
  model.penalty = relative_penalty * trace / static_cast<double>(moments.size());
  return model;
}

std::vector<double> ridge_errors(const RidgeModel& model, const Examples& examples, std::int64_t tokens,
                                 std::span<const std::int64_t> samples, ThreadPool& pool) {
  const auto d = static_cast<std::int64_t>(model.mean.size());
  LOCUS_CHECK(d % tokens == 0, "variables are tokens times features");
  const Eigen::Map<const RowMatrix> covariance(model.covariance.values().data(), d, d);
  const std::vector<Group> groups = groups_of_equal_masks(examples, tokens, samples);
  std::vector<double> errors(samples.size());
  pool.run(static_cast<int>(groups.size()), [&](int task, int) {
    const Group& group = groups[static_cast<std::size_t>(task)];
    const Sides sides = sides_of(examples.masks.data() + samples[group.front()] * tokens, tokens, d / tokens);
    Eigen::MatrixXd system = covariance(sides.visible, sides.visible);
    system.diagonal().array() += model.penalty;
    Eigen::MatrixXd weights = centred(model, examples, samples, group, sides.visible);
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(system).solveInPlace(weights);
    const Eigen::MatrixXd cross = covariance(sides.visible, sides.hidden);
    const Eigen::MatrixXd truth = centred(model, examples, samples, group, sides.hidden);
    const Eigen::MatrixXd difference = cross.transpose() * weights - truth;
    for (std::size_t g = 0; g < group.size(); ++g) {
      errors[group[g]] = difference.col(static_cast<Eigen::Index>(g)).squaredNorm() /
                         static_cast<double>(std::max<Eigen::Index>(difference.rows(), 1));
    }
  });
  return errors;
}

}  // namespace locus
