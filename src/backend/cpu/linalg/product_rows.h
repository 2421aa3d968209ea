// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of matrix products that BLAS lacks or computes slowly: integers, 16-bit floats, and
// skinny products.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace tsr::cpu {

// A product of matrices of integers (wrapping) or bools (or of ands). The elements of a line of the
// right matrix and of a row of the result are contiguous; steps count elements.
struct IntegerProduct {
  const void* left;
  int64_t left_row, left_step;
  const void* right;
  int64_t right_row;
  void* out;
  int64_t out_row;
  int64_t inner, columns;
  bool narrow;  // the elements are 64-bit numbers that int32 can hold
};
// The rows [begin, end) of the result.
using IntegerProductRow = void (*)(const IntegerProduct& product, int64_t begin, int64_t end);
// to[i] += *factor * from[i].
using MultiplyAddRow = void (*)(int64_t count, void* to, const void* factor, const void* from);

struct IntegerProductRows {
  IntegerProductRow (*multiply)(DType dtype);
  MultiplyAddRow (*multiply_add)(DType dtype);
};

// sums[l] += Σ_i lines[l * step + i] row[i] for lines of 16-bit floats.
using ShortDotsRow = void (*)(int64_t count, int64_t lines, const uint16_t* first, int64_t step,
                              const float* row, float* sums);

struct ShortProductRows {
  ShortDotsRow (*dots)(DType dtype);  // float16 or bfloat16
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

// Σ Re a Re b and so on: what a dot product of complex numbers a and b consists of, conjugated or
// not.
struct PartProducts {
  double real_real, real_imag, imag_real, imag_imag;
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
  // The four sums of products of the parts of `count` complex numbers.
  PartProducts (*complex_dot)(int64_t count, const T* a, const T* b);
};

// A matrix before it is packed: strides in elements.
template <class T>
struct MatrixToPack {
  const T* data;
  int64_t rows, columns;
  int64_t row_step, column_step;
};

// out (+)= left times a packed matrix (inner, columns); rows of left and out are contiguous. The
// matrix may be some lines of a larger one.
template <class T>
struct PackedProduct {
  const T* left;      // rows, or what pack_left made of them
  int64_t left_step;  // 0: packed
  const T* packed;
  int64_t panel_step;  // between the first numbers of two panels
  T* out;
  int64_t out_step;
  int64_t rows, inner, columns;
  bool adds;
};

// T is float or double.
template <class T>
struct PackedRows {
  int64_t panel;  // columns
  // Packs the panels [begin, end) to their places.
  void (*pack)(const MatrixToPack<T>& matrix, int64_t begin, int64_t end, T* packed);
  // Packs the left matrix: the numbers that are read together become neighbours. Rows a multiple of
  // 4096 bytes apart share a set of the cache and would evict each other. `packed` has as many
  // numbers as the matrix.
  void (*pack_left)(int64_t rows, int64_t inner, const T* left, int64_t left_step, T* packed);
  // The columns of the result that belong to the panels [begin, end).
  void (*multiply)(const PackedProduct<T>& product, int64_t begin, int64_t end);
};

}  // namespace tsr::cpu
