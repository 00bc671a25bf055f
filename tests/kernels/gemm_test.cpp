// Packed matrix products against plain loops in double, for shapes at and around every block limit.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/rng.h"
#include "kernels/elementwise.h"

namespace locus::kernels {
namespace {

// A matrix inside a wider buffer, so that strides differ from widths; the margin must stay as it was.
class Padded {
 public:
  Padded(std::int64_t rows, std::int64_t cols, std::int64_t margin, Rng& rng)
      : rows_(rows), cols_(cols), stride_(cols + margin), buffer_(static_cast<std::size_t>(rows * stride_ + 64)) {
    for (float& v : buffer_.span()) v = static_cast<float>(rng.normal());
    before_.assign(buffer_.span().begin(), buffer_.span().end());
  }
  Mat mat() { return {buffer_.data(), rows_, cols_, stride_}; }
  float before(std::int64_t r, std::int64_t c) const { return before_[static_cast<std::size_t>(r * stride_ + c)]; }
  bool margin_untouched() const {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      const bool inside = place < rows_ * stride_ && place % stride_ < cols_;
      if (!inside && buffer_[i] != before_[i]) return false;
    }
    return true;
  }

 private:
  std::int64_t rows_, cols_, stride_;
  AlignedBuffer<float> buffer_;
  std::vector<float> before_;
};

struct Shape {
  std::int64_t m, n, k;
};

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (const std::int64_t m : {1, 5, 6, 7, 13}) {
    for (const std::int64_t n : {1, 15, 16, 17, 33}) {
      for (const std::int64_t k : {1, 7, 8, 9, 40}) out.push_back({m, n, k});
    }
  }
  for (const Shape s : {Shape{191, 31, 319}, Shape{192, 32, 320}, Shape{193, 33, 321}, Shape{13, 65, 193},
                        Shape{197, 5, 641}, Shape{385, 17, 64}, Shape{6, 160, 640}, Shape{3, 1, 700}, Shape{400, 48, 2}}) {
    out.push_back(s);
  }
  return out;
}

// Sums of k products of standard normals in float: errors stay far below this.
double bound(std::int64_t k) { return 1e-6 * (static_cast<double>(k) + 8); }

TEST(GemmTest, agrees_with_plain_loops_for_every_edge) {
  Rng rng(1, "gemm");
  for (const Shape& s : shapes()) {
    Padded a(s.m, s.k, 3, rng), b(s.k, s.n, 5, rng);
    AlignedBuffer<float> packed(static_cast<std::size_t>(packed_size(s.k, s.n)));
    pack(b.mat(), packed.data());
    std::vector<float> bias(static_cast<std::size_t>(s.n));
    for (float& v : bias) v = static_cast<float>(rng.normal());
    for (const int way : {0, 1, 2}) {  // overwrite, overwrite with a bias, add
      Padded c(s.m, s.n, 7, rng);
      gemm(a.mat(), Packed(packed.data(), s.k), c.mat(), way == 2 ? Store::kAdd : Store::kOverwrite,
           way == 1 ? bias.data() : nullptr);
      double worst = 0;
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
          double sum = way == 2 ? c.before(i, j) : way == 1 ? bias[static_cast<std::size_t>(j)] : 0.0;
          for (std::int64_t k = 0; k < s.k; ++k) sum += static_cast<double>(a.mat()(i, k)) * b.mat()(k, j);
          worst = std::max(worst, std::abs(sum - c.mat()(i, j)));
        }
      }
      EXPECT_LT(worst, bound(s.k)) << s.m << " x " << s.n << " x " << s.k << " way " << way;
      EXPECT_TRUE(c.margin_untouched()) << s.m << " x " << s.n << " x " << s.k << " way " << way;
    }
  }
}

TEST(GemmTest, transposed_product_agrees_with_plain_loops_for_every_edge) {
  Rng rng(2, "gemm");
  for (const Shape& s : shapes()) {
    Padded a(s.k, s.m, 3, rng), b(s.k, s.n, 5, rng);
    AlignedBuffer<float> scratch(static_cast<std::size_t>(gemm_at_scratch(s.k)));
    for (const Store store : {Store::kOverwrite, Store::kAdd}) {
      Padded c(s.m, s.n, 7, rng);
      gemm_at(a.mat(), b.mat(), c.mat(), store, scratch.data());
      double worst = 0;
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
          double sum = store == Store::kAdd ? c.before(i, j) : 0.0;
          for (std::int64_t k = 0; k < s.k; ++k) sum += static_cast<double>(a.mat()(k, i)) * b.mat()(k, j);
          worst = std::max(worst, std::abs(sum - c.mat()(i, j)));
        }
      }
      EXPECT_LT(worst, bound(s.k)) << s.m << " x " << s.n << " x " << s.k;
      EXPECT_TRUE(c.margin_untouched()) << s.m << " x " << s.n << " x " << s.k;
    }
  }
}

TEST(GemmTest, packing_a_transpose_equals_packing_the_matrix) {
  Rng rng(3, "gemm");
  for (const Shape& s : shapes()) {
    Padded bt(s.n, s.k, 2, rng);
    std::vector<float> plain(static_cast<std::size_t>(s.k * s.n));
    for (std::int64_t k = 0; k < s.k; ++k) {
      for (std::int64_t j = 0; j < s.n; ++j) plain[static_cast<std::size_t>(k * s.n + j)] = bt.mat()(j, k);
    }
    const auto size = static_cast<std::size_t>(packed_size(s.k, s.n));
    AlignedBuffer<float> one(size), two(size);
    pack(ConstMat(plain.data(), s.k, s.n), one.data());
    pack_transposed(bt.mat(), two.data());
    EXPECT_TRUE(std::equal(one.span().begin(), one.span().end(), two.span().begin())) << s.n << " x " << s.k;
    const std::int64_t panel = panel_columns();
    for (std::int64_t k = 0; k < s.k; ++k) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        ASSERT_EQ(one[static_cast<std::size_t>(j / panel * s.k * panel + k * panel + j % panel)], bt.mat()(j, k));
      }
    }
  }
}

// A matrix in panels with the values of a plain one; what lies between and behind is NaN, which a product must not see.
struct InPanels {
  explicit InPanels(ConstMat from) : buffer(static_cast<std::size_t>(Panels::floats(from.rows, from.cols))) {
    std::fill(buffer.span().begin(), buffer.span().end(), NAN);
    panels = Panels(buffer.data(), from.rows, from.cols);
    for (std::int64_t r = 0; r < from.rows; ++r) {
      for (std::int64_t c = 0; c < from.cols; ++c) panels(r, c) = from(r, c);
    }
  }
  AlignedBuffer<float> buffer;
  Panels panels;
};

template <class Left, class Right>
double product(std::int64_t depth, Left&& left, Right&& right) {
  double sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) sum += static_cast<double>(left(k)) * static_cast<double>(right(k));
  return sum;
}

TEST(PanelTest, products_from_and_into_panels_agree_with_plain_loops_for_every_edge) {
  Rng rng(6, "gemm");
  for (const Shape& s : shapes()) {
    Padded a(s.m, s.k, 3, rng), b(s.k, s.n, 5, rng), c(s.m, s.n, 7, rng), factor(s.m, s.n, 0, rng);
    AlignedBuffer<float> packed(static_cast<std::size_t>(packed_size(s.k, s.n)));
    pack(b.mat(), packed.data());
    const Packed right(packed.data(), s.k);
    std::vector<float> bias(static_cast<std::size_t>(s.n));
    for (float& v : bias) v = static_cast<float>(rng.normal());
    InPanels left(a.mat()), factors(factor.mat()), times(factor.mat()), active(factor.mat()), slope(factor.mat());
    gemm_panels(left.panels, right, c.mat(), bias.data());
    gemm_times(a.mat(), right, factors.panels, times.panels);
    gemm_gelu(a.mat(), right, bias.data(), active.panels, slope.panels);
    double worst = 0, worst_times = 0, worst_active = 0, worst_slope = 0;
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        const double sum = product(
            s.k, [&](std::int64_t k) { return a.mat()(i, k); }, [&](std::int64_t k) { return b.mat()(k, j); });
        const double x = sum + static_cast<double>(bias[static_cast<std::size_t>(j)]);
        const double cdf = 0.5 * std::erfc(-x / std::sqrt(2.0));
        worst = std::max(worst, std::abs(x - c.mat()(i, j)));
        worst_times = std::max(worst_times, std::abs(sum * factor.mat()(i, j) - times.panels(i, j)) /
                                                std::max(1.0, static_cast<double>(std::abs(factor.mat()(i, j)))));
        worst_active = std::max(worst_active, std::abs(x * cdf - active.panels(i, j)));
        worst_slope =
            std::max(worst_slope, std::abs(cdf + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI) - slope.panels(i, j)));
      }
    }
    const std::string what = std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k);
    EXPECT_LT(worst, bound(s.k)) << what;
    EXPECT_LT(worst_times, bound(s.k)) << what;
    EXPECT_LT(worst_active, 1.2 * bound(s.k)) << what;
    EXPECT_LT(worst_slope, bound(s.k)) << what;
    EXPECT_TRUE(c.margin_untouched()) << what;
  }
}

TEST(PanelTest, activation_without_a_slope_is_the_same) {
  Rng rng(7, "gemm");
  Padded a(13, 20, 0, rng), b(20, 37, 0, rng), any(13, 37, 0, rng);
  AlignedBuffer<float> packed(static_cast<std::size_t>(packed_size(20, 37)));
  pack(b.mat(), packed.data());
  InPanels with(any.mat()), without(any.mat()), slope(any.mat());
  gemm_gelu(a.mat(), Packed(packed.data(), 20), nullptr, with.panels, slope.panels);
  gemm_gelu(a.mat(), Packed(packed.data(), 20), nullptr, without.panels, {});
  for (std::int64_t i = 0; i < 13; ++i) {
    for (std::int64_t j = 0; j < 37; ++j) ASSERT_EQ(with.panels(i, j), without.panels(i, j));
  }
}

TEST(PanelTest, transposed_products_agree_with_plain_loops_for_every_edge) {
  Rng rng(8, "gemm");
  for (const Shape& s : shapes()) {
    Padded a(s.k, s.m, 3, rng), b(s.k, s.n, 5, rng);
    const InPanels left(a.mat()), right(b.mat());
    AlignedBuffer<float> scratch(static_cast<std::size_t>(gemm_at_scratch(s.k)));
    AlignedBuffer<float> packed(static_cast<std::size_t>(packed_size(s.k, s.n)));
    pack(b.mat(), packed.data());
    for (const int way : {0, 1, 2, 3}) {  // left in panels, right in panels, packed and added, packed and overwritten
      Padded c(s.m, s.n, 7, rng);
      if (way == 0) gemm_at_left_panels(left.panels, b.mat(), c.mat(), scratch.data());
      if (way == 1) gemm_at_right_panels(a.mat(), right.panels, c.mat(), scratch.data());
      if (way >= 2) gemm_at_packed(a.mat(), Packed(packed.data(), s.k), c.mat(), way == 2 ? Store::kAdd : Store::kOverwrite);
      double worst = 0;
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
          const double sum = product(
              s.k, [&](std::int64_t k) { return a.mat()(k, i); }, [&](std::int64_t k) { return b.mat()(k, j); });
          worst = std::max(worst, std::abs(sum + (way == 3 ? 0.0 : c.before(i, j)) - c.mat()(i, j)));
        }
      }
      EXPECT_LT(worst, bound(s.k)) << s.m << " x " << s.n << " x " << s.k << " way " << way;
      EXPECT_TRUE(c.margin_untouched()) << s.m << " x " << s.n << " x " << s.k << " way " << way;
    }
  }
}

TEST(PanelTest, column_sums_agree_with_plain_loops) {
  Rng rng(9, "gemm");
  for (const std::int64_t rows : {1, 2, 7, 96}) {
    for (const std::int64_t cols : {1, 8, 15, 16, 17, 31, 33, 64}) {
      Padded a(rows, cols, 0, rng);
      const InPanels panels(a.mat());
      std::vector<float> sums(static_cast<std::size_t>(cols), 2.0f);
      add_panel_sums(panels.panels, sums.data());
      for (std::int64_t j = 0; j < cols; ++j) {
        double sum = 2;
        for (std::int64_t r = 0; r < rows; ++r) sum += static_cast<double>(a.mat()(r, j));
        EXPECT_NEAR(sums[static_cast<std::size_t>(j)], sum, 1e-4) << rows << " x " << cols;
      }
    }
  }
}

TEST(GemmTest, a_row_is_the_same_whatever_rows_stand_beside_it) {
  Rng rng(4, "gemm");
  const std::int64_t m = 200, n = 37, k = 401;
  Padded a(m, k, 0, rng), b(k, n, 0, rng), all(m, n, 0, rng);
  AlignedBuffer<float> packed(static_cast<std::size_t>(packed_size(k, n)));
  pack(b.mat(), packed.data());
  gemm(a.mat(), Packed(packed.data(), k), all.mat(), Store::kOverwrite);
  for (const std::int64_t i : {0, 5, 77, 191, 192, 199}) {
    std::vector<float> alone(static_cast<std::size_t>(n));
    gemm(a.mat().row_block(i, 1), Packed(packed.data(), k), Mat(alone.data(), 1, n), Store::kOverwrite);
    for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(alone[static_cast<std::size_t>(j)], all.mat()(i, j)) << i << " " << j;
  }
}

TEST(GemmTest, depth_zero_gives_zero_or_the_bias) {
  const std::vector<float> bias = {1, 2, 3};
  std::vector<float> c(6, 9.0f);
  const float nothing[16] = {};
  gemm(ConstMat(nothing, 2, 0), Packed(nothing, 0), Mat(c.data(), 2, 3), Store::kOverwrite, bias.data());
  EXPECT_EQ(c, (std::vector<float>{1, 2, 3, 1, 2, 3}));
  gemm(ConstMat(nothing, 2, 0), Packed(nothing, 0), Mat(c.data(), 2, 3), Store::kOverwrite);
  EXPECT_EQ(c, std::vector<float>(6, 0.0f));
}

}  // namespace
}  // namespace locus::kernels
