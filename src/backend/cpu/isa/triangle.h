// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Substitution with a small triangle, and factors L and U of a panel of few columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/common/vec.h"
#include "backend/common/vec_arch.h"
#include "backend/cpu/isa/transpose.h"
#include "backend/cpu/linalg/triangle_rows.h"

namespace tsr::cpu::TSR_ISA {

// ---- Triangles ----

// The columns of X in one register, of all rows. Its own function, because it is long.
template <class T>
[[gnu::noinline]] void substitute(const PackedTriangle<T>& p, T* x, int64_t step) {
  using V = Vec<T>;
  constexpr int kRows = kSolvedRows;
  const T* column = p.numbers;
  for (int64_t first = 0; first < p.rows; first += kRows) {
    const int64_t rows = std::min<int64_t>(kRows, p.rows - first);
    T* const from = x + first * step;
    V block[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) block[r] = r < rows ? V::load(from + r * step) : V(0);
    for (int64_t s = 0; s < first; ++s, column += kRows) {
      const V above = V::load(x + s * step);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) block[r] = fma(V(column[r]), above, block[r]);
    }
#pragma GCC unroll 8
    for (int s = 0; s < kRows; ++s, column += kRows) {
      const V number(p.diagonal[first + s]);
      block[s] = p.divides ? block[s] / number : block[s] * number;
#pragma GCC unroll 8
      for (int r = s + 1; r < kRows; ++r) block[r] = fma(V(column[r]), block[s], block[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      if (r < rows) block[r].store(from + r * step);
    }
  }
}

template <class T>
void solve_triangle(const PackedTriangle<T>& p, int64_t columns, T* x, int64_t step) {
  using V = Vec<T>;
  int64_t j = 0;
  for (; j + V::kSize <= columns; j += V::kSize) substitute(p, x + j, step);
  const int64_t rest = columns - j;
  if (rest == 0) return;
  // Parts of registers would be moved number by number, more than once.
  alignas(64) T part[kTriangle * V::kSize];
  for (int64_t r = 0; r < p.rows; ++r)
    V::load_part(x + r * step + j, rest, T{0}).store(part + r * V::kSize);
  substitute(p, part, V::kSize);
  for (int64_t r = 0; r < p.rows; ++r)
    V::load(part + r * V::kSize).store_part(x + r * step + j, rest);
}

// ---- Transposes ----

// to[r][c] = from[c][r]. Squares are turned in registers.
template <class T>
void turn(int64_t rows, int64_t columns, T* to, int64_t to_step, const T* from, int64_t from_step) {
  using V = Vec<T>;
  const int64_t height = rows / V::kSize * V::kSize;
  const int64_t width = columns / V::kSize * V::kSize;
  for (int64_t r = 0; r < height; r += V::kSize) {
    for (int64_t c = 0; c < width; c += V::kSize) {
      V square[V::kSize];
#pragma GCC unroll 16
      for (int k = 0; k < V::kSize; ++k) square[k] = V::load(from + (c + k) * from_step + r);
      transpose(square);
#pragma GCC unroll 16
      for (int k = 0; k < V::kSize; ++k) square[k].store(to + (r + k) * to_step + c);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < height ? width : 0; c < columns; ++c)
      to[r * to_step + c] = from[c * from_step + r];
  }
}

// ---- Panels ----

// The first of the largest absolute values of numbers[first, count). NaN is larger than zeros only:
// as a multiplier it reaches all rows below, but a zero as pivot would hide it.
template <class T>
[[gnu::always_inline]] inline int64_t find_largest(const T* numbers, int64_t first, int64_t count) {
  using V = Vec<T>;
  V largest(0);
  int64_t i = first;
  for (; i + V::kSize <= count; i += V::kSize)
    largest = greater_of(abs(V::load(numbers + i)), largest);
  T lanes[V::kSize];
  largest.store(lanes);
  T most = *std::max_element(lanes, lanes + V::kSize);
  for (; i < count; ++i) most = std::max(most, std::abs(numbers[i]));
  if (most == T{0}) {
    const T* nan = std::find_if(numbers + first, numbers + count, [](T x) { return x != x; });
    return nan == numbers + count ? first : nan - numbers;
  }
  for (i = first; i + V::kSize <= count; i += V::kSize) {
    if (any(abs(V::load(numbers + i)) == V(most))) break;
  }
  for (; i < count; ++i) {
    if (std::abs(numbers[i]) == most) return i;
  }
  return first;  // only NaN
}

// Column by column: the multipliers, and what they take from all columns behind. Registers are
// whole ones: the last reaches into the padding.
template <class T>
int factor_panel(int64_t rows, int64_t columns, T* a, int64_t step, int32_t* pivots) {
  using V = Vec<T>;
  int first_zero = 0;
  for (int64_t j = 0; j < columns; ++j) {
    T* const column = a + j * step;
    const int64_t pivot = find_largest(column, j, rows);
    pivots[j] = static_cast<int32_t>(pivot + 1);
    if (pivot != j) {
      for (int64_t k = 0; k < columns; ++k) std::swap(a[k * step + j], a[k * step + pivot]);
    }
    const T number = column[j];
    if (number == T{0}) {  // and so is all below it
      if (first_zero == 0) first_zero = static_cast<int>(j + 1);
      continue;
    }
    const T reciprocal = T{1} / number;
    const bool divides = !std::isnormal(reciprocal);
    for (int64_t i = j + 1; i < rows; i += V::kSize) {
      const V below = V::load(column + i);
      (divides ? below / V(number) : below * V(reciprocal)).store(column + i);
    }
    T minus[kPanelColumns];
    for (int64_t k = j + 1; k < columns; ++k) minus[k] = -a[k * step + j];
    for (int64_t i = j + 1; i < rows; i += V::kSize) {
      const V factors = V::load(column + i);
      for (int64_t k = j + 1; k < columns; ++k) {
        T* const other = a + k * step + i;
        fma(V(minus[k]), factors, V::load(other)).store(other);
      }
    }
  }
  return first_zero;
}

template <class T>
inline constexpr TriangleRows<T> kTriangleRows{
    .solve = solve_triangle<T>,
    .factor = factor_panel<T>,
    .turn = turn<T>,
};

}  // namespace tsr::cpu::TSR_ISA
