// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Least squares of one matrix, with its rank, and with its singular values where they are wanted.
//
// Without them, a matrix whose singular values surely count is solved by the factors Q R of A, or
// of Aᴴ for a wide A: X = R⁻¹ Qᴴ b, or Q R⁻ᴴ b. That takes less than half of the time of what
// follows. Estimates of the norms of R and R⁻¹ tell whether the values count; a matrix for which
// they do not tell it goes the other way, so that the rank is the same.
//
// With unitary Q and P, A = Q B Pᴴ for a bidiagonal B, whose singular values are those of A. If
// none of them counts as 0, B is solved by substitution: X = P B⁻¹ Qᴴ b. That takes a third of the
// time of LAPACK's gelsd, which computes the singular vectors, and which does the rest: matrices
// without full rank, and numbers so large or so small that it scales them.
#pragma once

#include <limits>

#include "backend/cpu/linalg/factorizations.h"

namespace tsr::cpu {

template <class T>
struct LeastSquaresOf : Facts<T> {
  using Facts<T>::Facts;
  using Real = RealOf<T>;

  // In order: LAPACK's own workspace, a copy of A, the R of a tall A, three lists of reflectors'
  // scalars. Of real numbers: LAPACK's own workspace, the diagonal, the numbers beside it,
  // those once more, and the singular values if they are not wanted.
  [[nodiscard]] ScratchSizes sizes() const {
    const int64_t k = this->least;
    T work{};
    Real real{};
    int whole = 0;
    int rank = 0;
    solve_by_vectors(nullptr, nullptr, nullptr, &rank, {&work, &real, &whole, -1, 0, 0});
    int64_t own = answered_size(work);
    if (matrices() != 0) own = std::max(own, largest_work());
    const int64_t reals = std::max<int64_t>(answered_size(real), 4 * k);
    return {own + matrices(), reals + 4 * k, whole};
  }

  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t side = int64_t{leading()} * this->others;
    T* a = nth<T>(this->plan.a, i, entries());
    T* b = nth<T>(this->plan.b, i, side);
    Real* values = with_values() ? nth<Real>(this->plan.values, i, this->least)
                                 : scratch.real + scratch.real_size - this->least;
    int* rank = this->plan.pivots + i;
    if (!all_finite(a, entries()) || !all_finite(b, side)) return kernel::kNotFinite;
    if (matrices() != 0 && in_range(a, entries()) && in_range(b, side)) {
      const Parts parts = parts_of(scratch);
      if (!with_values() && solve_by_triangle(a, b, parts)) {
        *rank = this->least;
        return 0;
      }
      std::copy(a, a + entries(), parts.copy);
      if (solve_by_substitution(a, b, values, parts)) {
        *rank = this->least;
        return 0;
      }
      std::copy(parts.copy, parts.copy + entries(), a);
    }
    return solve_by_vectors(a, b, values, rank, scratch);
  }

 private:
  static constexpr const char* kAdjoint = Lapack<T>::kComplex ? "C" : "T";
  // Columns that are solved side by side: each waits for its divisions.
  static constexpr int64_t kColumns = 8;

  struct Parts {
    T *work, *copy, *triangle, *tau, *left, *right;
    Real *real, *diagonal, *beside, *lost;
    int work_size;
  };

  // Steps of the power method, which tells the norms of R and R⁻¹ from below, and how much smaller
  // than the norms its answers are together at most.
  static constexpr int kSteps = 3;
  static constexpr double kMargin = 4;

  [[nodiscard]] bool with_values() const { return this->plan.values != nullptr; }
  [[nodiscard]] int64_t entries() const { return int64_t{this->rows} * this->columns; }
  [[nodiscard]] int leading() const { return std::max(this->rows, this->columns); }
  // Numbers of the copies; none of matrices that are so large that LAPACK could not count both.
  [[nodiscard]] int64_t matrices() const {
    const int64_t k = this->least;
    const int64_t count = entries() + k * k + 3 * k;
    return count <= std::numeric_limits<int>::max() / 2 ? count : 0;
  }
  [[nodiscard]] bool is_tall() const { return this->rows >= this->columns; }
  // So tall that its R has few numbers beside it.
  [[nodiscard]] bool very_tall() const { return this->rows >= int64_t{this->columns} / 5 * 8 + 8; }

  [[nodiscard]] Parts parts_of(const Scratch<T>& s) const {
    const int64_t k = this->least;
    Parts parts{};
    parts.work = s.work;
    parts.work_size = static_cast<int>(s.work_size - matrices());
    parts.copy = s.work + parts.work_size;
    parts.triangle = parts.copy + entries();
    parts.tau = parts.triangle + k * k;
    parts.left = parts.tau + k;
    parts.right = parts.left + k;
    parts.real = s.real;
    parts.diagonal = s.real + s.real_size - 4 * k;
    parts.beside = parts.diagonal + k;
    parts.lost = parts.beside + k;
    return parts;
  }

  // The matrix that is made bidiagonal: A itself, or the R of a tall one.
  [[nodiscard]] int height() const { return very_tall() ? this->columns : this->rows; }

  [[nodiscard]] int64_t largest_work() const {
    const int ask = -1;
    const int height = this->height();
    const int leading = this->leading();
    const int n = this->columns;
    int info = 0;
    T sizes[7] = {};
    const Lapack<T>& call = this->lapack;
    call.gebrd(&height, &n, nullptr, &height, nullptr, nullptr, nullptr, nullptr, &sizes[0], &ask,
               &info);
    call.ormbr("Q", "L", kAdjoint, &height, &this->others, &n, nullptr, &height, nullptr, nullptr,
               &leading, &sizes[1], &ask, &info, 1, 1, 1);
    call.ormbr("P", "L", "N", &n, &this->others, &height, nullptr, &height, nullptr, nullptr,
               &leading, &sizes[2], &ask, &info, 1, 1, 1);
    if (very_tall()) {
      call.geqrf(&this->rows, &n, nullptr, &this->rows, nullptr, &sizes[3], &ask, &info);
      call.ormqr("L", kAdjoint, &this->rows, &this->others, &n, nullptr, &this->rows, nullptr,
                 nullptr, &leading, &sizes[4], &ask, &info, 1, 1);
    }
    if (!with_values()) {
      call.geqrf(&leading, &this->least, nullptr, &leading, nullptr, &sizes[5], &ask, &info);
      call.ormqr("L", is_tall() ? kAdjoint : "N", &leading, &this->others, &this->least, nullptr,
                 &leading, nullptr, nullptr, &leading, &sizes[6], &ask, &info, 1, 1);
    }
    int64_t largest = 1;
    for (const T& size : sizes) largest = std::max(largest, answered_size(size));
    return largest;
  }

  // Whether gelsd would not scale the matrix; it does not scale zeros either.
  [[nodiscard]] static bool in_range(const T* matrix, int64_t entries) {
    const auto* numbers = reinterpret_cast<const Real*>(matrix);
    const int64_t count = entries * static_cast<int64_t>(sizeof(T) / sizeof(Real));
    Real largest = 0;
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(numbers[i]));
    constexpr Real kSmall = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
    return largest == 0 || (largest > kSmall && largest < 1 / kSmall);
  }

  // False, with b as it was, unless all singular values count.
  bool solve_by_substitution(T* a, T* b, Real* values, const Parts& s) const {
    const int m = this->rows;
    const int n = this->columns;
    const int k = this->least;
    const int height = this->height();
    const int leading = this->leading();
    const Lapack<T>& call = this->lapack;
    int info = 0;
    T* whole = a;
    if (very_tall()) {
      call.geqrf(&m, &n, a, &m, s.tau, s.work, &s.work_size, &info);
      if (info != 0) return false;
      for (int64_t j = 0; j < n; ++j) {
        std::copy(a + j * m, a + j * m + j + 1, s.triangle + j * n);
        std::fill(s.triangle + j * n + j + 1, s.triangle + (j + 1) * n, T{});
      }
      whole = s.triangle;
    }
    call.gebrd(&height, &n, whole, &height, s.diagonal, s.beside, s.left, s.right, s.work,
               &s.work_size, &info);
    if (info != 0 || !find_values(values, s)) return false;
    if (very_tall()) {
      call.ormqr("L", kAdjoint, &m, &this->others, &n, a, &m, s.tau, b, &leading, s.work,
                 &s.work_size, &info, 1, 1);
    }
    call.ormbr("Q", "L", kAdjoint, &height, &this->others, &n, whole, &height, s.left, b, &leading,
               s.work, &s.work_size, &info, 1, 1, 1);
    for (int64_t j = 0; j < this->others; j += kColumns)
      substitute(b + j * leading, std::min(kColumns, this->others - j), s);
    for (int64_t j = 0; j < this->others; ++j)
      std::fill(b + j * leading + k, b + j * leading + n, T{});
    call.ormbr("P", "L", "N", &n, &this->others, &height, whole, &height, s.right, b, &leading,
               s.work, &s.work_size, &info, 1, 1, 1);
    return true;
  }

  // The singular values of the bidiagonal matrix; whether all of them count.
  bool find_values(Real* values, const Parts& s) const {
    const int none = 0;
    const int one = 1;
    const int k = this->least;
    int info = 0;
    std::copy(s.diagonal, s.diagonal + k, values);
    std::copy(s.beside, s.beside + k - 1, s.lost);
    this->lapack.bdsqr("U", &k, &none, &none, &none, values, s.lost, nullptr, &one, nullptr, &one,
                       nullptr, &one, s.real, &info, 1);
    return info == 0 && values[k - 1] > share() * values[0];
  }

  // The share of the largest singular value up to which others count as 0, as gelsd reads it.
  [[nodiscard]] Real share() const {
    constexpr Real kLeast = std::numeric_limits<Real>::epsilon() / 2;
    const auto given = static_cast<Real>(this->plan.tolerance);
    return given > 0 && given < 1 ? given : kLeast;
  }

  // False, with A and b as they were, unless all singular values surely count.
  bool solve_by_triangle(const T* a, T* b, const Parts& s) const {
    const int leading = this->leading();
    const int k = this->least;
    const T one{1};
    const Lapack<T>& call = this->lapack;
    int info = 0;
    if (is_tall())
      std::copy(a, a + entries(), s.copy);
    else
      copy_adjoint(a, s.copy);
    call.geqrf(&leading, &k, s.copy, &leading, s.tau, s.work, &s.work_size, &info);
    if (info != 0 || !surely_counts(s)) return false;
    if (!is_tall()) {
      call.trsm("L", "U", kAdjoint, "N", &k, &this->others, &one, s.copy, &leading, b, &leading, 1,
                1, 1, 1);
      for (int64_t j = 0; j < this->others; ++j)
        std::fill(b + j * leading + k, b + (j + 1) * leading, T{});
    }
    call.ormqr("L", is_tall() ? kAdjoint : "N", &leading, &this->others, &k, s.copy, &leading,
               s.tau, b, &leading, s.work, &s.work_size, &info, 1, 1);
    if (is_tall()) {
      call.trsm("L", "U", "N", "N", &k, &this->others, &one, s.copy, &leading, b, &leading, 1, 1, 1,
                1);
    }
    return true;
  }

  void copy_adjoint(const T* a, T* to) const {
    const int64_t m = this->rows;
    const int64_t n = this->columns;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if constexpr (Lapack<T>::kComplex)
          to[i * n + j] = std::conj(a[j * m + i]);
        else
          to[i * n + j] = a[j * m + i];
      }
    }
  }

  // (A zero on the diagonal of R makes the second norm infinite or NaN.)
  [[nodiscard]] bool surely_counts(const Parts& s) const {
    const double norm = norm_from_below(s, this->lapack.trmv, "N", kAdjoint);
    const double inverse_norm = norm_from_below(s, this->lapack.trsv, kAdjoint, "N");
    return norm * inverse_norm * kMargin * static_cast<double>(share()) < 1;
  }

  // The power method for R or its inverse: how much one of its last steps lengthens a vector.
  double norm_from_below(const Parts& s, typename Lapack<T>::Trsv multiply, const char* forth,
                         const char* back) const {
    const int leading = this->leading();
    const int step = 1;
    const int64_t k = this->least;
    // Any fixed vector that no singular vector is likely to be orthogonal to.
    T* const vector = s.left;
    uint32_t random = 1;
    for (int64_t i = 0; i < k; ++i) {
      random = random * 1664525U + 1013904223U;
      vector[i] = static_cast<Real>(static_cast<int32_t>(random)) * Real(0x1p-31);
    }
    double growth = 0;
    for (int i = 0; i < kSteps; ++i) {
      const auto length = static_cast<Real>(length_of(vector));
      for (int64_t j = 0; j < k; ++j) vector[j] /= length;
      multiply("U", forth, "N", &this->least, s.copy, &leading, vector, &step, 1, 1, 1);
      growth = length_of(vector);
      if (i + 1 < kSteps)
        multiply("U", back, "N", &this->least, s.copy, &leading, vector, &step, 1, 1, 1);
    }
    return growth;
  }
  [[nodiscard]] double length_of(const T* vector) const {
    double sum = 0;
    for (int64_t i = 0; i < this->least; ++i) sum += std::norm(std::complex<double>(vector[i]));
    return std::sqrt(sum);
  }

  // Y = B⁻¹ Y for some columns. B is upper bidiagonal, or lower for a wide A.
  void substitute(T* y, int64_t sides, const Parts& s) const {
    const int64_t k = this->least;
    const int64_t step = leading();
    const bool upper = is_tall();
    for (int64_t at = 0; at < k; ++at) {
      const int64_t row = upper ? k - 1 - at : at;
      const int64_t before = upper ? row + 1 : row - 1;
      const Real beside = at == 0 ? Real{0} : s.beside[upper ? row : before];
      for (int64_t j = 0; j < sides; ++j) {
        T& number = y[j * step + row];
        if (at != 0) number -= beside * y[j * step + before];
        number /= s.diagonal[row];
      }
    }
  }

  int solve_by_vectors(T* a, T* b, Real* values, int* rank, const Scratch<T>& s) const {
    const int leading = this->leading();
    const auto tolerance = static_cast<Real>(this->plan.tolerance);
    int info = 0;
    if constexpr (Lapack<T>::kComplex) {
      this->lapack.gelsd(&this->rows, &this->columns, &this->others, a, &this->rows, b, &leading,
                         values, &tolerance, rank, s.work, &s.work_size, s.real, s.whole, &info);
    } else {
      this->lapack.gelsd(&this->rows, &this->columns, &this->others, a, &this->rows, b, &leading,
                         values, &tolerance, rank, s.work, &s.work_size, s.whole, &info);
    }
    return info;
  }
};

}  // namespace tsr::cpu
