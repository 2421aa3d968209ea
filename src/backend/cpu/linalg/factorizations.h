// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The calls of LAPACK for one matrix, one type for each FactorOp. LAPACK reads matrices by columns,
// so to it one whose rows are contiguous is its own transpose. Each type says what that changes.
// Real triangles and factors L U are our own (blocks.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "backend/cpu/linalg/blocks.h"
#include "backend/cpu/linalg/lapack.h"
#include "kernel/linalg.h"

namespace tsr::cpu {

using kernel::FactorPlan;

template <class T>
using RealOf = typename Lapack<T>::Real;

// Scratch memory of one thread, in numbers of the three types.
struct ScratchSizes {
  int64_t work = 0, real = 0, whole = 0;
};
template <class T>
struct Scratch {
  T* work;
  RealOf<T>* real;
  int* whole;
  int work_size, real_size, whole_size;
};

// What LAPACK answers when it is asked for a size: a number that may have been rounded down.
template <class T>
int64_t answered_size(const T& answer) {
  const double size = static_cast<double>(std::real(answer));
  return static_cast<int64_t>(size * (1 + 4e-7)) + 1;
}

// Matrix number i of an operand that has `size` numbers in each.
template <class T>
T* nth(void* operand, int64_t i, int64_t size) {
  return static_cast<T*>(operand) + i * size;
}

// Whether `count` numbers are all finite.
template <class T>
bool all_finite(const T* numbers, int64_t count) {
  const auto* parts = reinterpret_cast<const RealOf<T>*>(numbers);
  const int64_t length = count * static_cast<int64_t>(sizeof(T) / sizeof(RealOf<T>));
  int bad = 0;
  for (int64_t i = 0; i < length; ++i) {
    bad |= std::abs(parts[i]) <= std::numeric_limits<RealOf<T>>::max() ? 0 : 1;
  }
  return bad == 0;
}

// The facts that all of them need, as LAPACK takes them.
template <class T>
struct Facts {
  Facts(const FactorPlan& given, const Lapack<T>& functions, const Blas& products)
      : plan(given),
        lapack(functions),
        blas(products),
        rows(static_cast<int>(given.rows)),
        columns(static_cast<int>(given.columns)),
        least(std::min(rows, columns)),
        others(static_cast<int>(given.others)) {}

  // Whether A is factored here; a matrix whose copy has too many numbers to count is LAPACK's.
  [[nodiscard]] bool by_blocks() const {
    constexpr int64_t kMost = std::numeric_limits<int>::max() / 2;
    return !Lapack<T>::kComplex && int64_t{rows} * columns + room() <= kMost;
  }
  [[nodiscard]] int64_t room() const {
    if constexpr (Lapack<T>::kComplex)
      return 0;
    else
      return Blocks<T>::room_for(rows);
  }

  const FactorPlan& plan;
  const Lapack<T>& lapack;
  const Blas& blas;
  int rows, columns, least, others;
};

// A transposed Hermitian matrix is conj(A): conj(A) = Wᴴ W gives A = L Lᴴ for L = Wᵀ, and W by
// columns is L by rows.
template <class T>
struct CholeskyOf : Facts<T> {
  using Facts<T>::Facts;
  [[nodiscard]] ScratchSizes sizes() const { return {}; }
  int run(int64_t i, const Scratch<T>&) const {
    const int64_t n = this->columns;
    T* a = nth<T>(this->plan.a, i, n * n);
    const char* uplo = this->plan.upper != 0 ? "L" : "U";
    int info = 0;
    this->lapack.potrf(uplo, &this->columns, a, &this->columns, &info, 1);
    for (int64_t row = 0; row < n; ++row) {
      T* line = a + row * n;
      // OpenBLAS lets NaN pass, LAPACK itself says that it is not positive.
      if (info == 0 && std::isnan(std::real(line[row]))) info = static_cast<int>(row) + 1;
      if (this->plan.upper != 0)
        std::fill(line, line + row, T{});
      else
        std::fill(line + row + 1, line + n, T{});
    }
    return info;
  }
};

template <class T>
struct LuOf : Facts<T> {
  using Facts<T>::Facts;
  // A by rows, and what its factors need.
  [[nodiscard]] ScratchSizes sizes() const {
    if (!this->by_blocks()) return {};
    return {int64_t{this->rows} * this->columns + this->room(), 0, 0};
  }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t m = this->rows;
    const int64_t n = this->columns;
    T* a = nth<T>(this->plan.a, i, m * n);
    int* pivots = this->plan.pivots + i * this->least;
    int info = 0;
    if constexpr (!Lapack<T>::kComplex) {
      if (this->by_blocks()) {
        const auto turn = rows_of<TriangleRows<T>>().turn;
        T* const by_rows = scratch.work;
        turn(m, n, by_rows, n, a, m);
        info = Blocks<T>(this->blas).factor(m, n, by_rows, n, pivots, by_rows + m * n);
        turn(n, m, a, m, by_rows, n);
        return info;
      }
    }
    this->lapack.getrf(&this->rows, &this->columns, a, &this->rows, pivots, &info);
    return info;
  }
};

// To LAPACK, transposed, A X = B is Xᵀ Aᵀ = Bᵀ with Aᵀ = P L U: two triangles from the right, then
// P.
template <class T>
struct SolveOf : Facts<T> {
  using Facts<T>::Facts;
  [[nodiscard]] ScratchSizes sizes() const { return {this->by_blocks() ? this->room() : 0, 0, 0}; }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t n = this->columns;
    const int nrhs = this->others;
    T* a = nth<T>(this->plan.a, i, n * n);
    T* b = nth<T>(this->plan.b, i, n * nrhs);
    int* pivots = this->plan.pivots + i * n;
    if constexpr (!Lapack<T>::kComplex) {
      if (this->by_blocks()) return run_by_blocks(a, b, pivots, scratch.work);
    }
    int info = 0;
    this->lapack.getrf(&this->columns, &this->columns, a, &this->columns, pivots, &info);
    if (info != 0) return info;
    if (nrhs == 1) {
      this->lapack.getrs("T", &this->columns, &nrhs, a, &this->columns, pivots, b, &this->columns,
                         &info, 1);
      return info;
    }
    const T one{1};
    this->lapack.trsm("R", "U", "N", "N", &nrhs, &this->columns, &one, a, &this->columns, b, &nrhs,
                      1, 1, 1, 1);
    this->lapack.trsm("R", "L", "N", "U", &nrhs, &this->columns, &one, a, &this->columns, b, &nrhs,
                      1, 1, 1, 1);
    for (int64_t row = n - 1; row >= 0; --row) {
      const int64_t other = pivots[row] - 1;
      if (other != row) std::swap_ranges(b + row * nrhs, b + (row + 1) * nrhs, b + other * nrhs);
    }
    return 0;
  }

 private:
  int run_by_blocks(T* a, T* b, int* pivots, T* room) const {
    const int64_t n = this->columns;
    const int64_t nrhs = this->others;
    const Blocks<T> blocks(this->blas);
    const int info = blocks.factor(n, n, a, n, pivots, room);
    if (info != 0) return info;
    blocks.swap_rows(pivots, n, nrhs, b, nrhs);
    if (nrhs == 1) {
      const int step = 1;
      this->lapack.trsv("U", "T", "U", &this->columns, a, &this->columns, b, &step, 1, 1, 1);
      this->lapack.trsv("L", "T", "N", &this->columns, a, &this->columns, b, &step, 1, 1, 1);
      return 0;
    }
    blocks.solve({a, n, 1, false, true}, n, nrhs, b, nrhs);
    blocks.solve({a, n, 1, true, false}, n, nrhs, b, nrhs);
    return 0;
  }
};

// The inverse of the transpose is the transpose of the inverse. Small complex ones are solved for
// the identity, because getri costs more than they do.
template <class T>
struct InverseOf : Facts<T> {
  using Facts<T>::Facts;
  [[nodiscard]] ScratchSizes sizes() const {
    const int64_t n = this->columns;
    if (this->by_blocks()) return {n * n + this->room(), 0, 0};
    if (n <= kSmall) return {n * n, 0, 0};
    T answer{};
    const int ask = -1;
    int info = 0;
    this->lapack.getri(&this->columns, nullptr, &this->columns, nullptr, &answer, &ask, &info);
    return {answered_size(answer), 0, 0};
  }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t n = this->columns;
    T* a = nth<T>(this->plan.a, i, n * n);
    int* pivots = this->plan.pivots + i * n;
    if constexpr (!Lapack<T>::kComplex) {
      if (this->by_blocks()) return run_by_blocks(a, pivots, scratch.work);
    }
    int info = 0;
    this->lapack.getrf(&this->columns, &this->columns, a, &this->columns, pivots, &info);
    if (info != 0) return info;
    if (n > kSmall) {
      this->lapack.getri(&this->columns, a, &this->columns, pivots, scratch.work,
                         &scratch.work_size, &info);
      return info;
    }
    set_identity(scratch.work);
    this->lapack.getrs("N", &this->columns, &this->columns, a, &this->columns, pivots, scratch.work,
                       &this->columns, &info, 1);
    std::copy(scratch.work, scratch.work + n * n, a);
    return info;
  }

 private:
  static constexpr int64_t kSmall = 16;

  void set_identity(T* matrix) const {
    const int64_t n = this->columns;
    std::fill(matrix, matrix + n * n, T{});
    for (int64_t row = 0; row < n; ++row) matrix[row * (n + 1)] = T{1};
  }

  // A = P L U: A⁻¹ = U⁻¹ L⁻¹ Pᵀ, the columns of U⁻¹ L⁻¹ in another order.
  int run_by_blocks(T* a, int* pivots, T* inverse) const {
    const int64_t n = this->columns;
    const Blocks<T> blocks(this->blas);
    const int info = blocks.factor(n, n, a, n, pivots, inverse);
    if (info != 0) return info;
    set_identity(inverse);
    blocks.invert_lower({a, n, 1, false, true}, n, inverse, n);
    blocks.solve({a, n, 1, true, false}, n, n, inverse, n);
    // Where row i of P L U comes from is where column i of the inverse goes.
    int* const order = reinterpret_cast<int*>(inverse + n * n);
    for (int64_t row = 0; row < n; ++row) order[row] = static_cast<int>(row);
    for (int64_t row = 0; row < n; ++row) std::swap(order[row], order[pivots[row] - 1]);
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t j = 0; j < n; ++j) a[row * n + order[j]] = inverse[row * n + j];
    }
    return 0;
  }
};

// To LAPACK, transposed, A X = B is Xᵀ Aᵀ = Bᵀ: a triangle from the right.
template <class T>
struct TriangularSolveOf : Facts<T> {
  using Facts<T>::Facts;
  [[nodiscard]] ScratchSizes sizes() const { return {}; }
  int run(int64_t i, const Scratch<T>&) const {
    const int64_t n = this->columns;
    const int nrhs = this->others;
    const T* a = nth<T>(this->plan.a, i, this->plan.a_step);
    T* b = nth<T>(this->plan.b, i, n * nrhs);
    const bool by_columns = this->plan.transposed != 0;
    const char* uplo = (this->plan.upper != 0) == by_columns ? "U" : "L";
    const char* diag = this->plan.unit != 0 ? "U" : "N";
    if (nrhs == 1) {
      const int step = 1;
      this->lapack.trsv(uplo, by_columns ? "N" : "T", diag, &this->columns, a, &this->columns, b,
                        &step, 1, 1, 1);
      return 0;
    }
    if constexpr (!Lapack<T>::kComplex) {
      if (nrhs >= kFew || n >= kLarge) {
        const Triangle<T> triangle{a, by_columns ? 1 : n, by_columns ? n : 1, this->plan.upper != 0,
                                   this->plan.unit != 0};
        Blocks<T>(this->blas).solve(triangle, n, nrhs, b, nrhs);
        return 0;
      }
    }
    const T one{1};
    this->lapack.trsm("R", uplo, by_columns ? "T" : "N", diag, &nrhs, &this->columns, &one, a,
                      &this->columns, b, &nrhs, 1, 1, 1, 1);
    return 0;
  }

 private:
  // For fewer columns LAPACK's triangles are faster, as long as they are small.
  static constexpr int64_t kFew = 8;
  static constexpr int64_t kLarge = 256;
};

template <class T>
struct QrOf : Facts<T> {
  using Facts<T>::Facts;
  // The k scalars of the reflectors stand before LAPACK's own workspace.
  [[nodiscard]] ScratchSizes sizes() const {
    T answer{};
    T basis{};
    const int ask = -1;
    int info = 0;
    this->lapack.geqrf(&this->rows, &this->columns, nullptr, &this->rows, nullptr, &answer, &ask,
                       &info);
    if (this->plan.q != nullptr) {
      this->lapack.orgqr(&this->rows, &this->others, &this->least, nullptr, &this->rows, nullptr,
                         &basis, &ask, &info);
    }
    return {std::max(answered_size(answer), answered_size(basis)) + this->least, 0, 0};
  }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t m = this->rows;
    T* a = nth<T>(this->plan.a, i, m * this->columns);
    T* work = scratch.work + this->least;
    const int room = scratch.work_size - this->least;
    int info = 0;
    this->lapack.geqrf(&this->rows, &this->columns, a, &this->rows, scratch.work, work, &room,
                       &info);
    if (info != 0) return info;
    if (this->plan.values != nullptr) {
      std::copy(scratch.work, work, nth<T>(this->plan.values, i, this->least));
    }
    if (this->plan.q == nullptr) return 0;
    T* q = nth<T>(this->plan.q, i, m * this->others);
    std::copy(a, a + m * std::min(this->columns, this->others), q);
    this->lapack.orgqr(&this->rows, &this->others, &this->least, q, &this->rows, scratch.work, work,
                       &room, &info);
    return info;
  }
};

}  // namespace tsr::cpu
