// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bunch and Kaufman's factorization A = L D Lᵀ (or L D Lᴴ) of one matrix, by columns, in its lower
// triangle, with the pivots that LAPACK's sytrf (hetrf) chooses: positive for a block of 1, twice
// the same negative row for one of 2 (J. Bunch, L. Kaufman, Some stable methods for calculating
// inertia and solving symmetric linear systems, 1977; G. Golub, C. Van Loan, Matrix Computations,
// 4.4). Rows count from 0 here, in the pivots from 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

namespace tsr::ops {

template <class T>
struct LdlNumber {
  static T conj(T a) { return a; }
  static double size(T a) { return std::abs(static_cast<double>(a)); }
};
template <class T>
struct LdlNumber<std::complex<T>> {
  static std::complex<T> conj(std::complex<T> a) { return std::conj(a); }
  static double size(std::complex<T> a) {
    return std::abs(static_cast<double>(a.real())) + std::abs(static_cast<double>(a.imag()));
  }
};

template <class T>
class Ldl {
 public:
  using Number = LdlNumber<T>;

  Ldl(T* a, int32_t* pivots, int64_t n, bool hermitian)
      : a_(a), pivots_(pivots), n_(n), hermitian_(hermitian) {}

  // The first block of D that is zero, counted from 1, or 0.
  int32_t factor() {
    int32_t info = 0;
    for (int64_t k = 0; k < n_;) {
      const Choice choice = choose(k);
      if (choice.zero) {
        if (info == 0) info = static_cast<int32_t>(k + 1);
      } else {
        exchange(k, k + choice.step - 1, choice.row);
        if (choice.step == 1)
          eliminate_one(k);
        else
          eliminate_two(k);
      }
      const auto pivot = static_cast<int32_t>(choice.row + 1);
      if (choice.step == 1) {
        pivots_[k] = pivot;
      } else {
        pivots_[k] = pivots_[k + 1] = -pivot;
      }
      k += choice.step;
    }
    return info;
  }

  // b (by columns, n x count) becomes A⁻¹ b. The pivots are valid.
  void solve(T* b, int64_t count) const {
    for (int64_t j = 0; j < count; ++j) solve_column(b + j * n_);
  }

 private:
  struct Choice {
    int64_t row, step;
    bool zero;
  };

  T& at(int64_t i, int64_t j) const { return a_[i + j * n_]; }
  // The entry above the diagonal that stands for (i, j) below it.
  T mirrored(T below) const { return hermitian_ ? Number::conj(below) : below; }
  void make_real(int64_t k) const {
    if (hermitian_) at(k, k) = T(std::real(at(k, k)));
  }

  Choice choose(int64_t k) const {
    constexpr double kAlpha = 0.6403882032022076;  // (1 + sqrt(17)) / 8
    make_real(k);
    const double diagonal = Number::size(at(k, k));
    int64_t row = k;
    double column = 0;
    for (int64_t i = k + 1; i < n_; ++i) {
      const double size = Number::size(at(i, k));
      if (size > column) {
        column = size;
        row = i;
      }
    }
    if ((diagonal == 0 && column == 0) || std::isnan(diagonal)) return {k, 1, true};
    if (diagonal >= kAlpha * column) return {k, 1, false};
    double across = 0;
    for (int64_t j = k; j < row; ++j) across = std::max(across, Number::size(at(row, j)));
    for (int64_t i = row + 1; i < n_; ++i) across = std::max(across, Number::size(at(i, row)));
    if (diagonal >= kAlpha * column * (column / across)) return {k, 1, false};
    make_real(row);
    return {row, Number::size(at(row, row)) >= kAlpha * across ? 1 : 2, false};
  }

  // Exchanges rows and columns `to` and `from` of what is left of the matrix from column k on.
  void exchange(int64_t k, int64_t to, int64_t from) {
    if (from == to) return;
    for (int64_t i = from + 1; i < n_; ++i) std::swap(at(i, to), at(i, from));
    for (int64_t j = to + 1; j < from; ++j) {
      const T kept = mirrored(at(j, to));
      at(j, to) = mirrored(at(from, j));
      at(from, j) = kept;
    }
    at(from, to) = mirrored(at(from, to));
    std::swap(at(to, to), at(from, from));
    if (to != k) std::swap(at(to, k), at(from, k));
  }

  void eliminate_one(int64_t k) {
    if (k + 1 == n_) return;
    const T inverse = T(1) / at(k, k);
    for (int64_t j = k + 1; j < n_; ++j) {
      const T factor = inverse * mirrored(at(j, k));
      for (int64_t i = j; i < n_; ++i) at(i, j) -= at(i, k) * factor;
      make_real(j);
    }
    for (int64_t i = k + 1; i < n_; ++i) at(i, k) *= inverse;
  }

  // The multipliers of a row are its two entries times the inverse of the block.
  void eliminate_two(int64_t k) {
    const T q = at(k + 1, k);
    const T q_above = mirrored(q);
    const T r = at(k + 1, k + 1) / q;
    const T p = at(k, k) / q_above;
    const T scale = T(1) / (r * p - T(1));
    for (int64_t j = k + 2; j < n_; ++j) {
      const T first = scale * (r * at(j, k) - at(j, k + 1)) / q_above;
      const T second = scale * (p * at(j, k + 1) - at(j, k)) / q;
      const T first_factor = mirrored(first);
      const T second_factor = mirrored(second);
      for (int64_t i = j; i < n_; ++i) {
        at(i, j) -= at(i, k) * first_factor + at(i, k + 1) * second_factor;
      }
      make_real(j);
      at(j, k) = first;
      at(j, k + 1) = second;
    }
  }

  void solve_column(T* b) const {
    for (int64_t k = 0; k < n_;) {
      if (pivots_[k] > 0) {
        std::swap(b[k], b[pivots_[k] - 1]);
        for (int64_t i = k + 1; i < n_; ++i) b[i] -= at(i, k) * b[k];
        b[k] /= at(k, k);
        ++k;
        continue;
      }
      std::swap(b[k + 1], b[-pivots_[k] - 1]);
      for (int64_t i = k + 2; i < n_; ++i) b[i] -= at(i, k) * b[k] + at(i, k + 1) * b[k + 1];
      const T q = at(k + 1, k);
      const T q_above = mirrored(q);
      const T p = at(k, k) / q_above;
      const T r = at(k + 1, k + 1) / q;
      const T scale = T(1) / (p * r - T(1));
      const T upper = b[k] / q_above;
      const T lower = b[k + 1] / q;
      b[k] = scale * (r * upper - lower);
      b[k + 1] = scale * (p * lower - upper);
      k += 2;
    }
    for (int64_t k = n_ - 1; k >= 0;) {
      const int64_t first = pivots_[k] > 0 ? k : k - 1;
      for (int64_t column = first; column <= k; ++column) {
        for (int64_t i = k + 1; i < n_; ++i) b[column] -= mirrored(at(i, column)) * b[i];
      }
      std::swap(b[k], b[std::abs(pivots_[k]) - 1]);
      k = first - 1;
    }
  }

  T* a_;
  int32_t* pivots_;
  int64_t n_;
  bool hermitian_;
};

}  // namespace tsr::ops
