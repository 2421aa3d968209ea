// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of pooling; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

// The windows of one pooled axis: output o covers input [begin[o], end[o]) in steps of `dilation`.
struct PoolAxis {
  int64_t input, output;
  const int64_t* begin;
  const int64_t* end;
  const int64_t* span;  // the window's size that counts in an average
  int64_t kernel, stride, padding, dilation;
  // The outputs whose windows are inside the input and start at o stride - padding: [inner_begin,
  // inner_end).
  int64_t inner_begin, inner_end;
};
struct PoolShape {
  PoolAxis axes[3];
  int64_t channels;  // for channels last; 1: one plane
  double divisor;    // 0: the window's size
};

// Of one plane (row-major) or one image (channels last).
template <class T>
struct PoolRows {
  // Output rows [begin, end).
  void (*maximum)(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out,
                  int64_t* positions);
  void (*average)(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out);
  // Writes the whole gradient of one plane or image.
  void (*average_backward)(const PoolShape& shape, const T* g, T* dx);
};

}  // namespace tsr::cpu
