// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of matrix products that BLAS lacks or computes slowly: integers, and skinny products.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace tsr::cpu {

// to[i] += *factor * from[i] for integers (wrapping) and bools (or of and).
using MultiplyAddRow = void (*)(int64_t count, void* to, const void* factor, const void* from);

struct IntegerProductRows {
  MultiplyAddRow (*multiply_add)(DType dtype);
};

// A product of a large matrix with few rows, or of few lines with a large result.
template <class T>
struct SkinnyProduct {
  const T* matrix;
  int64_t line_step;  // lines are contiguous
  const T* rows;
  int64_t row_step, inner_step;
  T* out;
  int64_t out_row_step;         // rows of the result are contiguous
  int64_t few, inner, columns;  // rows, what is summed over, length of the result's rows
  T alpha, beta;
  bool streams;  // the result is written with non-temporal stores
};

// T is float or double.
template <class T>
struct SkinnyRows {
  // out[r][j] = alpha Σ_i rows[r][i] matrix[j][i] + beta out[r][j], for j in [begin, end);
  // inner_step is 1.
  void (*dots)(const SkinnyProduct<T>& product, int64_t begin, int64_t end);
  // out[r][j] = alpha Σ_i rows[r][i] matrix[i][j] + beta out[r][j], for j in [begin, end).
  void (*sums)(const SkinnyProduct<T>& product, int64_t begin, int64_t end);
  // out[r][j] = alpha Σ_i rows[r][i] matrix[i][j] for all j, r in [begin, end) and few i.
  void (*outer)(const SkinnyProduct<T>& product, int64_t begin, int64_t end);
};

}  // namespace tsr::cpu
