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

// Over rows of contiguous logits; all but the first over one.
template <class T>
struct ClassLossRows {
  // Over `rows` rows; writes a number for each.
  void (*log_sum_exp)(int64_t rows, int64_t columns, const T* x, T* out);
  // The sum of weight (lse - x); a null weight is ones.
  double (*distance)(int64_t columns, const T* x, T lse, const T* weight);
  // out = slope exp(x - lse) - flat weight; a null weight is ones.
  void (*backward)(int64_t columns, const T* x, T lse, T slope, T flat, const T* weight, T* out);
};

}  // namespace tsr::cpu
