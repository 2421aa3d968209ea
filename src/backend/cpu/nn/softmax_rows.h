// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of softmax and of the losses over classes; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

template <class T>
struct SoftmaxRows {
  // Over `count` rows of `columns` contiguous numbers.
  void (*forward)(int64_t count, int64_t columns, bool log, const T* in, T* out);
  void (*backward)(int64_t count, int64_t columns, bool log, const T* g, const T* y, T* out);
  // Along an axis of stride `inner`, for the inner positions [begin, end).
  void (*strided)(int64_t columns, int64_t inner, int64_t begin, int64_t end, bool log, const T* in,
                  T* out);
  void (*strided_backward)(int64_t columns, int64_t inner, int64_t begin, int64_t end, bool log,
                           const T* g, const T* y, T* out);
};

// Over the logits of positions: rows of contiguous logits, or `count` neighbouring positions whose
// logits of class c are the contiguous numbers at x + c * step. A null weight is ones.
template <class T>
struct ClassLossRows {
  // Over `rows` rows; writes a number for each.
  void (*log_sum_exp)(int64_t rows, int64_t columns, const T* x, T* out);
  void (*log_sum_exp_beside)(int64_t classes, int64_t step, int64_t count, const T* x, T* out);
  // The sum of weight (lse - x) of one row.
  double (*distance)(int64_t columns, const T* x, T lse, const T* weight);
  // out = slope exp(x - lse) - flat weight, of one row, of each position. `out` may be x.
  void (*backward)(int64_t columns, const T* x, T lse, T slope, T flat, const T* weight, T* out);
  void (*backward_beside)(int64_t classes, int64_t step, int64_t out_step, int64_t count,
                          const T* x, const T* lse, const T* slope, const T* flat, const T* weight,
                          T* out);
};

}  // namespace tsr::cpu
