// The singular value decomposition: Householder reflections to two diagonals, then implicitly shifted QR steps (Golub and
// Reinsch 1970, in the order of LINPACK's dsvdc). Eigen's takes half a minute to compile, for each instruction set.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "stats/checks.h"
#include "stats/linalg.h"

namespace locus::stats {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kTiny = 1e-290;
constexpr int kMostSteps = 75;  // for one singular value; four are usual

// Columns one after the other, so that reflections and rotations walk through memory in order.
struct Columns {
  Columns(std::ptrdiff_t n, std::ptrdiff_t m) : rows(n), cols(m), values(static_cast<std::size_t>(n * m)) {}
  double* operator[](std::ptrdiff_t c) { return values.data() + c * rows; }
  std::ptrdiff_t rows, cols;
  std::vector<double> values;
};

// Eight sums at once, added in one order on every machine.
double dot(const double* x, const double* y, std::ptrdiff_t n) {
  constexpr std::ptrdiff_t kLanes = 8;
  double lanes[kLanes] = {};
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::ptrdiff_t l = 0; l < kLanes; ++l) lanes[l] += x[i + l] * y[i + l];
  }
  for (std::ptrdiff_t l = 0; i < n; ++i, ++l) lanes[l] += x[i] * y[i];
  return std::accumulate(lanes, lanes + kLanes, 0.0);
}

void add(double* x, double factor, const double* y, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) x[i] += factor * y[i];
}

void rotate(Columns& m, std::ptrdiff_t a, std::ptrdiff_t b, double cosine, double sine) {
  double *x = m[a], *y = m[b];
  for (std::ptrdiff_t i = 0; i < m.rows; ++i) {
    const double t = cosine * x[i] + sine * y[i];
    y[i] = cosine * y[i] - sine * x[i];
    x[i] = t;
  }
}

// Turns x into the vector w of a reflection I - w w' / w[0], and returns what is left of x: the first entry (0: no
// reflection).
double reflector(double* x, std::ptrdiff_t n) {
  // Scaled, so that squares neither overflow nor vanish.
  double largest = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0) return 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) x[i] /= largest;
  const double length = std::copysign(std::sqrt(dot(x, x, n)), x[0]);
  for (std::ptrdiff_t i = 0; i < n; ++i) x[i] /= length;
  x[0] += 1;
  return -length * largest;
}

// of I - w w' / w[0] on x
void reflect(const double* w, double* x, std::ptrdiff_t n) { add(x, -dot(w, x, n) / w[0], w, n); }

struct Rotation {
  double cosine, sine, length;
};

Rotation rotation(double x, double y) {
  const double length = std::hypot(x, y);
  return length > 0 ? Rotation{x / length, y / length, length} : Rotation{1, 0, 0};
}

// Of a matrix with at least as many rows as columns.
class Decomposition {
 public:
  Decomposition(Columns a, bool vectors)
      : n_(a.cols), vectors_(vectors), s_(columns()), e_(columns()), u_(std::move(a)), v_(n_, vectors ? n_ : 0) {
    reduce();
    if (vectors_) accumulate();
    int steps = 0;
    for (std::ptrdiff_t end = n_; end > 0;) {
      if (step(end)) {
        --end;
        steps = 0;
      } else {
        LOCUS_CHECK(++steps <= kMostSteps, "singular values did not converge");
      }
    }
  }

  std::vector<double>& values() { return s_; }  // not negative, in no order
  Columns& u() { return u_; }
  Columns& v() { return v_; }

 private:
  std::vector<double> columns() const { return std::vector<double>(static_cast<std::size_t>(n_)); }
  double& s(std::ptrdiff_t k) { return s_[static_cast<std::size_t>(k)]; }
  double& e(std::ptrdiff_t k) { return e_[static_cast<std::size_t>(k)]; }

  // To s on the diagonal and e above it. The vectors of reflections stay in the columns of u and, of those from the right,
  // v.
  void reduce() {
    const std::ptrdiff_t m = u_.rows;
    std::vector<double> row(static_cast<std::size_t>(n_)), sums(static_cast<std::size_t>(m));
    for (std::ptrdiff_t k = 0; k < n_; ++k) {
      double* w = u_[k] + k;
      s(k) = reflector(w, m - k);
      for (std::ptrdiff_t j = k + 1; j < n_; ++j) {
        if (s(k) != 0) reflect(w, u_[j] + k, m - k);
        row[static_cast<std::size_t>(j)] = u_[j][k];
      }
      if (k + 1 == n_) break;
      double* r = row.data() + k + 1;
      const std::ptrdiff_t rest = n_ - k - 1;
      e(k) = rest > 1 ? reflector(r, rest) : r[0];
      if (rest > 1 && vectors_) std::copy_n(r, rest, v_[k] + k + 1);
      if (rest == 1 || e(k) == 0) continue;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::ptrdiff_t j = 0; j < rest; ++j) add(sums.data() + k + 1, r[j], u_[k + 1 + j] + k + 1, m - k - 1);
      for (std::ptrdiff_t j = 0; j < rest; ++j) add(u_[k + 1 + j] + k + 1, -r[j] / r[0], sums.data() + k + 1, m - k - 1);
    }
  }

  // Columns of vectors of reflections become the product of these reflections; column k acts from row k + shift on.
  static void multiply_out(Columns& m, std::ptrdiff_t shift, const std::vector<double>& kept) {
    for (std::ptrdiff_t k = m.cols - 1; k >= 0; --k) {
      const std::ptrdiff_t first = k + shift, size = m.rows - first;
      double* w = m[k];
      const bool reflects = size > 0 && (shift == 0 || size > 1) && kept[static_cast<std::size_t>(k)] != 0;
      if (!reflects) {
        std::fill_n(w, m.rows, 0.0);
        w[k] = 1;
        continue;
      }
      for (std::ptrdiff_t j = k + 1; j < m.cols; ++j) reflect(w + first, m[j] + first, size);
      if (shift == 0) {
        for (std::ptrdiff_t i = first; i < m.rows; ++i) w[i] = -w[i];
        w[k] += 1;
        std::fill_n(w, k, 0.0);
      } else {
        std::fill_n(w, m.rows, 0.0);
        w[k] = 1;
      }
    }
  }

  void accumulate() {
    multiply_out(u_, 0, s_);
    multiply_out(v_, 1, e_);
  }

  // One step on the block that ends before `end`; true when its last value is final.
  bool step(std::ptrdiff_t end) {
    std::ptrdiff_t first = end - 1;  // of the block, which no zero of e divides
    for (; first > 0; --first) {
      if (std::abs(e(first - 1)) > kTiny + kEps * (std::abs(s(first - 1)) + std::abs(s(first)))) continue;
      e(first - 1) = 0;
      break;
    }
    if (first == end - 1) {
      if (s(first) < 0) {
        s(first) = -s(first);
        for (std::ptrdiff_t i = 0; i < v_.rows && vectors_; ++i) v_[first][i] = -v_[first][i];
      }
      return true;
    }
    for (std::ptrdiff_t k = end - 1; k >= first; --k) {
      const double near = (k < end - 1 ? std::abs(e(k)) : 0) + (k > first ? std::abs(e(k - 1)) : 0);
      if (std::abs(s(k)) > kTiny + kEps * near) continue;
      s(k) = 0;
      k == end - 1 ? clear_last_column(first, end) : clear_row(k, end);
      return false;
    }
    qr_step(first, end);
    return false;
  }

  // The last s is 0: rotations from the right take e of its column out.
  void clear_last_column(std::ptrdiff_t first, std::ptrdiff_t end) {
    double f = std::exchange(e(end - 2), 0);
    for (std::ptrdiff_t j = end - 2; j >= first; --j) {
      const Rotation r = rotation(s(j), f);
      s(j) = r.length;
      if (j > first) {
        f = -r.sine * e(j - 1);
        e(j - 1) *= r.cosine;
      }
      if (vectors_) rotate(v_, j, end - 1, r.cosine, r.sine);
    }
  }

  // s(k) is 0: rotations from the left take e of its row out.
  void clear_row(std::ptrdiff_t k, std::ptrdiff_t end) {
    double f = std::exchange(e(k), 0);
    for (std::ptrdiff_t j = k + 1; j < end; ++j) {
      const Rotation r = rotation(s(j), f);
      s(j) = r.length;
      f = -r.sine * e(j);
      e(j) *= r.cosine;
      if (vectors_) rotate(u_, j, k, r.cosine, r.sine);
    }
  }

  void qr_step(std::ptrdiff_t first, std::ptrdiff_t end) {
    const double scale =
        std::max({std::abs(s(end - 1)), std::abs(s(end - 2)), std::abs(e(end - 2)), std::abs(s(first)), std::abs(e(first))});
    const double last = s(end - 1) / scale, before = s(end - 2) / scale, above = e(end - 2) / scale;
    const double top = s(first) / scale, beside = e(first) / scale;
    const double b = ((before + last) * (before - last) + above * above) / 2, c = last * above * (last * above);
    const double shift = b != 0 || c != 0 ? c / (b + std::copysign(std::sqrt(b * b + c), b)) : 0;
    double f = (top + last) * (top - last) + shift, g = top * beside;
    for (std::ptrdiff_t j = first; j < end - 1; ++j) {
      const Rotation right = rotation(f, g);
      if (j > first) e(j - 1) = right.length;
      f = right.cosine * s(j) + right.sine * e(j);
      e(j) = right.cosine * e(j) - right.sine * s(j);
      g = right.sine * s(j + 1);
      s(j + 1) *= right.cosine;
      if (vectors_) rotate(v_, j, j + 1, right.cosine, right.sine);
      const Rotation left = rotation(f, g);
      s(j) = left.length;
      f = left.cosine * e(j) + left.sine * s(j + 1);
      s(j + 1) = left.cosine * s(j + 1) - left.sine * e(j);
      g = left.sine * e(j + 1);
      e(j + 1) *= left.cosine;
      if (vectors_) rotate(u_, j, j + 1, left.cosine, left.sine);
    }
    e(end - 2) = f;
  }

  std::ptrdiff_t n_;
  bool vectors_;
  std::vector<double> s_, e_;  // e_'s last entry stays 0
  Columns u_, v_;
};

// As many rows as columns or more: the matrix or its transpose.
Columns upright(ConstMatD a) {
  Columns out(std::max(a.rows, a.cols), std::min(a.rows, a.cols));
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < a.cols; ++j) (a.rows >= a.cols ? out[j][i] : out[i][j]) = a(i, j);
  }
  return out;
}

MatrixD arranged(Columns& m, const std::vector<std::size_t>& order, const std::vector<double>& signs) {
  MatrixD out(m.rows, m.cols);
  for (std::ptrdiff_t c = 0; c < m.cols; ++c) {
    const std::size_t from = order[static_cast<std::size_t>(c)];
    for (std::ptrdiff_t i = 0; i < m.rows; ++i) out(i, c) = signs[from] * m[static_cast<std::ptrdiff_t>(from)][i];
  }
  return out;
}

}  // namespace

Svd thin_svd(ConstMatD a) {
  require_finite(a, "thin_svd");
  if (a.rows == 0 || a.cols == 0) return {MatrixD(a.rows, 0), {}, MatrixD(a.cols, 0)};
  Decomposition d(upright(a), true);
  std::vector<double>& s = d.values();
  std::vector<std::size_t> order(s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return s[x] > s[y]; });
  Columns& u = a.rows >= a.cols ? d.u() : d.v();
  Columns& v = a.rows >= a.cols ? d.v() : d.u();
  std::vector<double> signs;  // the largest entry of each column of v is positive
  for (std::ptrdiff_t c = 0; c < v.cols; ++c) {
    const double* largest =
        std::max_element(v[c], v[c] + v.rows, [](double x, double y) { return std::abs(x) < std::abs(y); });
    signs.push_back(*largest < 0 ? -1 : 1);
  }
  Svd out{arranged(u, order, signs), {}, arranged(v, order, signs)};
  for (const std::size_t k : order) out.s.push_back(s[k]);
  return out;
}

std::vector<double> singular_values(ConstMatD a) {
  require_finite(a, "singular_values");
  if (a.rows == 0 || a.cols == 0) return {};
  Decomposition d(upright(a), false);
  std::sort(d.values().begin(), d.values().end(), std::greater<>());
  return std::move(d.values());
}

}  // namespace locus::stats
