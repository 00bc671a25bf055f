// Matrices: non-owning row-major views with a row stride, and an owning, 64-byte aligned buffer.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace locus {

// rows x cols, row-major; row r starts at data + r * stride. Does not own.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t cols = 0;
  std::ptrdiff_t stride = 0;

  MatrixView() = default;
  MatrixView(T* d, std::ptrdiff_t r, std::ptrdiff_t c) : data(d), rows(r), cols(c), stride(c) {}
  MatrixView(T* d, std::ptrdiff_t r, std::ptrdiff_t c, std::ptrdiff_t s) : data(d), rows(r), cols(c), stride(s) {}
  // A mutable view converts to a constant one.
  template <class U>
  requires(std::is_same_v<T, const U>) MatrixView(const MatrixView<U>& o)
      : data(o.data), rows(o.rows), cols(o.cols), stride(o.stride) {}

  T* row(std::ptrdiff_t r) const { return data + r * stride; }
  T& operator()(std::ptrdiff_t r, std::ptrdiff_t c) const { return data[r * stride + c]; }
  MatrixView block(std::ptrdiff_t r0, std::ptrdiff_t nr, std::ptrdiff_t c0, std::ptrdiff_t nc) const {
    return {data + r0 * stride + c0, nr, nc, stride};
  }
  MatrixView row_block(std::ptrdiff_t r0, std::ptrdiff_t nr) const { return block(r0, nr, 0, cols); }
  std::span<T> row_span(std::ptrdiff_t r) const { return {row(r), static_cast<std::size_t>(cols)}; }
};

using Mat = MatrixView<float>;
using ConstMat = MatrixView<const float>;
using MatD = MatrixView<double>;
using ConstMatD = MatrixView<const double>;

// A fixed-size array aligned to a cache line, zero-filled.
template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t n) : data_(n == 0 ? nullptr : allocate(n)), size_(n) {
    if (n != 0) std::memset(static_cast<void*>(data_.get()), 0, n * sizeof(T));
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }

 private:
  static constexpr std::align_val_t kAlign{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(static_cast<void*>(p), kAlign); }
  };
  static T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlign)); }
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

// An owning rows x cols matrix of doubles or floats, for analysis code.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::ptrdiff_t rows, std::ptrdiff_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols)) {}
  std::ptrdiff_t rows() const { return rows_; }
  std::ptrdiff_t cols() const { return cols_; }
  T& operator()(std::ptrdiff_t r, std::ptrdiff_t c) { return values_[static_cast<std::size_t>(r * cols_ + c)]; }
  const T& operator()(std::ptrdiff_t r, std::ptrdiff_t c) const { return values_[static_cast<std::size_t>(r * cols_ + c)]; }
  MatrixView<T> view() { return {values_.data(), rows_, cols_}; }
  MatrixView<const T> view() const { return {values_.data(), rows_, cols_}; }
  std::span<T> row(std::ptrdiff_t r) { return {values_.data() + r * cols_, static_cast<std::size_t>(cols_)}; }
  std::span<const T> row(std::ptrdiff_t r) const { return {values_.data() + r * cols_, static_cast<std::size_t>(cols_)}; }
  std::vector<T>& values() { return values_; }
  const std::vector<T>& values() const { return values_; }
  bool operator==(const Matrix&) const = default;

 private:
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t cols_ = 0;
  std::vector<T> values_;
};

using MatrixD = Matrix<double>;
using MatrixF = Matrix<float>;

}  // namespace locus
