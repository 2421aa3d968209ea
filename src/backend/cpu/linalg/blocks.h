// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Triangular systems and the factors L U of real matrices, by halves: what is not a small triangle
// or a panel of few columns is a matrix product. Rows are contiguous, so that the exchange of two
// rows moves whole cache lines.
//
// LAPACK's algorithms with other blocks: substitution and partial pivoting with their bounds of the
// error. OpenBLAS's triangular solver has half of the speed of its products.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "backend/cpu/level.h"
#include "backend/cpu/linalg/blas.h"
#include "backend/cpu/linalg/triangle_rows.h"
#include "base/parallel.h"
#include "base/round_up.h"

namespace tsr::cpu {

// Part of a matrix whose rows or columns are contiguous; steps count elements.
template <class T>
struct Triangle {
  const T* a;
  int64_t row_step, column_step;
  bool upper, unit;

  [[nodiscard]] const T* at(int64_t row, int64_t column) const {
    return a + row * row_step + column * column_step;
  }
  [[nodiscard]] Triangle from(int64_t row) const {
    return {at(row, row), row_step, column_step, upper, unit};
  }
};

// T is float or double.
template <class T>
class Blocks {
 public:
  explicit Blocks(const Blas& blas) : blas_(blas), rows_(rows_of<TriangleRows<T>>()) {}

  // X := A⁻¹ X; A has n rows, X as many and `columns`.
  void solve(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t step) const {
    if (n <= kTriangle) return solve_small(a, n, columns, x, step);
    const int64_t half = half_of(n, kTriangle);
    T* const below = x + half * step;
    if (a.upper) {
      solve(a.from(half), n - half, columns, below, step);
      subtract(half, columns, n - half, a.at(0, half), a, below, step, x, step);
      solve(a, half, columns, x, step);
    } else {
      solve(a, half, columns, x, step);
      subtract(n - half, columns, half, a.at(half, 0), a, x, step, below, step);
      solve(a.from(half), n - half, columns, below, step);
    }
  }

  // X := A⁻¹ for a lower A; X is the identity before.
  void invert_lower(const Triangle<T>& a, int64_t n, T* x, int64_t step) const {
    if (n <= kTriangle) return solve_small(a, n, n, x, step);
    const int64_t half = half_of(n, kTriangle);
    T* const below = x + half * step;
    invert_lower(a, half, x, step);
    subtract(n - half, half, half, a.at(half, 0), a, x, step, below, step);
    solve(a.from(half), n - half, half, below, step);
    invert_lower(a.from(half), n - half, below + half, step);
  }

  // The numbers that factor() needs beside A.
  static int64_t room_for(int64_t rows) { return kPanelColumns * panel_step(rows); }

  // A (m x n) becomes the L (unit diagonal, not stored) and U of A = P L U. pivots (the smaller of
  // m and n): row i was swapped with row pivots[i], counted from 1. The result is the first zero on
  // the diagonal of U, counted from 1, or 0.
  int factor(int64_t m, int64_t n, T* a, int64_t step, int32_t* pivots, T* room) const {
    const int64_t least = std::min(m, n);
    const int64_t left = least <= kPanelColumns ? least : half_of(least, kPanelColumns);
    const int first = least <= kPanelColumns ? factor_panel(m, left, a, step, pivots, room)
                                             : factor(m, left, a, step, pivots, room);
    if (n == left) return first;
    T* const right = a + left;
    swap_rows(pivots, left, n - left, right, step);
    solve({a, step, 1, false, true}, left, n - left, right, step);
    if (m == left) return first;
    T* const rest = right + left * step;
    subtract(m - left, n - left, left, a + left * step, {a, step, 1, false, true}, right, step,
             rest, step);
    if (least == left) return first;
    const int second = factor(m - left, n - left, rest, step, pivots + left, room);
    swap_rows(pivots + left, least - left, left, a + left * step, step);
    for (int64_t i = left; i < least; ++i) pivots[i] += static_cast<int32_t>(left);
    return first != 0 || second == 0 ? first : second + static_cast<int>(left);
  }

  // Swaps row i with row pivots[i] - 1, for i from 0 on.
  static void swap_rows(const int32_t* pivots, int64_t count, int64_t columns, T* a, int64_t step) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t other = pivots[i] - 1;
      if (other != i) swap_row(columns, a + i * step, a + other * step);
    }
  }

 private:
  static constexpr int64_t kForThreads = int64_t{1} << 23;

  static int64_t half_of(int64_t n, int64_t multiple) {
    return (n / 2 + multiple - 1) / multiple * multiple;
  }
  static int64_t panel_step(int64_t rows) {
    return static_cast<int64_t>(round_up(static_cast<uint64_t>(rows), kPanelPadding)) +
           kPanelPadding;
  }

  // An upper triangle is a lower one when it is read from its end.
  void solve_small(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t step) const {
    PackedTriangle<T> packed;
    if (a.upper) {
      pack({a.at(n - 1, n - 1), -a.row_step, -a.column_step, false, a.unit}, n, packed);
      rows_.solve(packed, columns, x + (n - 1) * step, -step);
    } else {
      pack(a, n, packed);
      rows_.solve(packed, columns, x, step);
    }
  }

  static void pack(const Triangle<T>& a, int64_t n, PackedTriangle<T>& to) {
    to.rows = n;
    to.divides = false;
    std::fill(to.diagonal, to.diagonal + round_up(static_cast<uint64_t>(n), kSolvedRows), T{1});
    for (int64_t r = 0; r < n && !a.unit; ++r) {
      to.diagonal[r] = T{1} / *a.at(r, r);
      to.divides = to.divides || !std::isnormal(to.diagonal[r]);
    }
    for (int64_t r = 0; r < n && to.divides && !a.unit; ++r) to.diagonal[r] = *a.at(r, r);
    T* column = to.numbers;
    for (int64_t first = 0; first < n; first += kSolvedRows) {
      const int64_t rows = std::min(kSolvedRows, n - first);
      for (int64_t s = 0; s < first + kSolvedRows; ++s, column += kSolvedRows) {
        const T* const from = a.at(first, s);
        if (s < first && rows == kSolvedRows) {
          for (int64_t r = 0; r < kSolvedRows; ++r) column[r] = -from[r * a.row_step];
          continue;
        }
        // What is above the diagonal is not read.
        for (int64_t r = std::max<int64_t>(0, s + 1 - first); r < rows; ++r)
          column[r] = -from[r * a.row_step];
        for (int64_t r = rows; r < kSolvedRows; ++r) column[r] = T{0};
      }
    }
  }

  // C (m x n) -= A B, with A (m x k) part of the matrix that `whole` describes.
  void subtract(int64_t m, int64_t n, int64_t k, const T* a, const Triangle<T>& whole, const T* b,
                int64_t b_step, T* c, int64_t c_step) const {
    const bool by_rows = whole.column_step == 1;
    const auto transpose = by_rows ? BlasTranspose::kNo : BlasTranspose::kYes;
    const auto leading = static_cast<int>(by_rows ? whole.row_step : whole.column_step);
    const auto gemm = [&] {
      if constexpr (std::is_same_v<T, float>)
        return blas_.sgemm;
      else
        return blas_.dgemm;
    }();
    // Threads would take longer to wake than to multiply.
    std::optional<OpenMpThreads> alone;
    if (m * n * k < kForThreads) alone.emplace(true);
    gemm(BlasOrder::kRows, transpose, BlasTranspose::kNo, static_cast<int>(m), static_cast<int>(n),
         static_cast<int>(k), T{-1}, a, leading, b, static_cast<int>(b_step), T{1}, c,
         static_cast<int>(c_step));
  }

  int factor_panel(int64_t m, int64_t n, T* a, int64_t step, int32_t* pivots, T* room) const {
    const int64_t room_step = panel_step(m);
    for (int64_t j = 0; j < n; ++j)
      std::fill(room + j * room_step + m, room + (j + 1) * room_step, T{0});
    rows_.turn(n, m, room, room_step, a, step);
    const int first_zero = rows_.factor(m, n, room, room_step, pivots);
    rows_.turn(m, n, a, step, room, room_step);
    return first_zero;
  }

  // In pieces whose size the compiler knows.
  static void swap_row(int64_t count, T* one, T* two) {
    constexpr int64_t kPiece = 16;
    int64_t i = 0;
    for (; i + kPiece <= count; i += kPiece) {
      T pieces[2][kPiece];
      std::memcpy(pieces[0], one + i, sizeof pieces[0]);
      std::memcpy(pieces[1], two + i, sizeof pieces[1]);
      std::memcpy(one + i, pieces[1], sizeof pieces[1]);
      std::memcpy(two + i, pieces[0], sizeof pieces[0]);
    }
    std::swap_ranges(one + i, one + count, two + i);
  }

  const Blas& blas_;
  const TriangleRows<T>& rows_;
};

}  // namespace tsr::cpu
