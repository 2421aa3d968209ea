// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of factorizations: small triangles, and panels of few columns. Their remainder is
// products.
#pragma once

#include <cstdint>

namespace tsr::cpu {

inline constexpr int64_t kTriangle = 32;
// Rows that are solved together, one register each.
inline constexpr int64_t kSolvedRows = 8;
inline constexpr int64_t kPanelColumns = 16;
inline constexpr int64_t kPanelPadding = 16;

// A lower triangle of at most kTriangle rows as substitution reads it: for every block of
// kSolvedRows rows its columns one after the other, each the block's rows below the diagonal,
// negated; what is above is not read. Rows that are missing are 0.
template <class T>
struct PackedTriangle {
  alignas(64) T numbers[kTriangle * (kTriangle + kSolvedRows) / 2];
  T diagonal[kTriangle];  // or its reciprocals
  bool divides;           // by the diagonal, because a reciprocal would be inexact or overflow
  int64_t rows;
};

// T is float or double.
template <class T>
struct TriangleRows {
  // X := A⁻¹ X. Rows of X are contiguous, `step` apart.
  void (*solve)(const PackedTriangle<T>& a, int64_t columns, T* x, int64_t step);
  // Factors P L U = A with partial pivoting. A has at most kPanelColumns columns, and not more than
  // rows; they are contiguous, `step` apart, and kPanelPadding numbers behind each may be written.
  // pivots: row i was swapped with row pivots[i], counted from 1. The result is the first zero on
  // the diagonal of U, counted from 1, or 0.
  int (*factor)(int64_t rows, int64_t columns, T* a, int64_t step, int32_t* pivots);
  // to[r][c] = from[c][r] for all r in rows and c in columns; c is contiguous in `to`, r in `from`.
  void (*turn)(int64_t rows, int64_t columns, T* to, int64_t to_step, const T* from,
               int64_t from_step);
};

}  // namespace tsr::cpu
