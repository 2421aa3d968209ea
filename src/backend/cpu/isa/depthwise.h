// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of one plane: see Note [Packed planes].
//
// Note [Packed planes]. A plane is copied, with its padding, into rows of `length` numbers. Rows
// and columns with the same remainder modulo the strides are stored together, so that one tap of
// the kernel reads one contiguous run of numbers for all outputs. The numbers between the end of an
// output row and the start of the next one are computed too; they are dropped, or are zeros where
// they would be summed.
#pragma once

#include <algorithm>
#include <cmath>

#include "backend/common/vec.h"
#include "backend/common/vec_arch.h"
#include "backend/cpu/nn/depthwise_rows.h"

namespace tsr::cpu::TSR_ISA {

inline constexpr int kUnroll = 4;           // vectors in flight: the latency of an fma
inline constexpr int64_t kDotBlock = 4096;  // numbers whose products are summed in T

// Calls fn(remainder, first row or column of the plane, its place in the packed plane, count) for
// every remainder of an axis.
template <class Fn>
inline void each_remainder(const DepthwiseAxis& axis, Fn fn) {
  for (int64_t remainder = 0; remainder < axis.stride; ++remainder) {
    const int64_t lead = (axis.padding + axis.stride - 1 - remainder) / axis.stride;
    const int64_t first = lead * axis.stride + remainder - axis.padding;
    const int64_t count = (axis.input - first + axis.stride - 1) / axis.stride;
    fn(remainder, first, lead, std::max<int64_t>(0, std::min(count, axis.packed - lead)));
  }
}

template <class T>
inline void copy_in(int64_t count, int64_t stride, const T* from, T* to) {
  if (stride == 1) {
    std::copy_n(from, count, to);
  } else if (stride == 2) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}
template <class T>
inline void copy_out(int64_t count, int64_t stride, const T* from, T* to) {
  if (stride == 1) {
    std::copy_n(from, count, to);
  } else if (stride == 2) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[2 * i] = from[i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * stride] = from[i];
  }
}

// The padding keeps the zeros that the caller wrote.
template <class T>
inline void pack_input(const DepthwiseShape& s, const T* x, T* packed) {
  each_remainder(s.height, [&](int64_t rh, int64_t top, int64_t first_row, int64_t rows) {
    each_remainder(s.width, [&](int64_t rw, int64_t left, int64_t column, int64_t count) {
      T* part = packed + (rh * s.width.stride + rw) * s.part + first_row * s.length + column;
      for (int64_t r = 0; r < rows; ++r) {
        copy_in(count, s.width.stride, x + (top + r * s.height.stride) * s.width.input + left,
                part + r * s.length);
      }
    });
  });
}
template <class T>
inline void pack_output(const DepthwiseShape& s, const T* y, T* packed) {
  for (int64_t r = 0; r < s.height.output; ++r)
    std::copy_n(y + r * s.width.output, s.width.output, packed + r * s.length);
}

// to[i] = start + Σ weights[t] from[i + sign offsets[t]], i < count; both are padded to whole
// tiles.
template <class T>
inline void add_taps(int64_t count, int taps, const T* weights, const int64_t* offsets,
                     int64_t sign, T start, const T* from, T* to) {
  using V = Vec<T>;
  for (int64_t i = 0; i < count; i += kUnroll * V::kSize) {
    V sums[kUnroll];
    for (V& sum : sums) sum = V(start);
    for (int t = 0; t < taps; ++t) {
      const V weight(weights[t]);
      const T* source = from + i + sign * offsets[t];
#pragma GCC unroll 4
      for (int u = 0; u < kUnroll; ++u)
        sums[u] = fma(weight, V::load(source + u * V::kSize), sums[u]);
    }
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) sums[u].store(to + i + u * V::kSize);
  }
}

template <class T>
void depthwise_forward(const DepthwiseShape& s, const T* x, const T* weight, T bias, T* y,
                       T* scratch) {
  T* packed = scratch;
  T* sums = scratch + s.input_room;
  pack_input(s, x, packed);
  for (int64_t row = 0; row < s.height.output; row += s.block_rows) {
    const int64_t rows = std::min(s.block_rows, s.height.output - row);
    add_taps(rows * s.length, s.taps, weight, s.offsets, 1, bias, packed + row * s.length, sums);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(sums + r * s.length, s.width.output, y + (row + r) * s.width.output);
  }
}

// The taps that read the numbers of one remainder of row and column. A weight that is not finite is
// left out: its products with the zeros around the outputs are NaN.
template <class T>
struct TapsOf {
  int count = 0;
  T weights[kMaxTaps];
  int64_t offsets[kMaxTaps];

  TapsOf(const DepthwiseShape& s, int64_t part, const T* all) {
    for (int t = 0; t < s.taps; ++t) {
      if (s.offsets[t] / s.part != part || !std::isfinite(all[t])) continue;
      weights[count] = all[t];
      offsets[count++] = s.offsets[t] - part * s.part;
    }
  }
};

// Adds what one tap contributes to the numbers of its remainder, output by output; `first_row` and
// `column` are where those begin in the packed plane, `top` and `left` in the plane.
template <class T>
void add_tap(const DepthwiseShape& s, T weight, int64_t offset, const T* g, int64_t first_row,
             int64_t rows, int64_t top, int64_t column, int64_t count, int64_t left, T* dx) {
  for (int64_t place = 0; place < s.height.output * s.width.output; ++place) {
    const int64_t to = place / s.width.output * s.length + place % s.width.output + offset;
    const int64_t r = to / s.length - first_row;
    const int64_t c = to % s.length - column;
    if (r < 0 || r >= rows || c < 0 || c >= count) continue;
    dx[(top + r * s.height.stride) * s.width.input + left + c * s.width.stride] +=
        weight * g[place];
  }
}

template <class T>
void depthwise_backward_input(const DepthwiseShape& s, const T* g, const T* weight, T* dx,
                              T* scratch) {
  T* packed = scratch + s.margin;
  T* sums = scratch + s.output_room;
  pack_output(s, g, packed);
  std::fill_n(dx, s.height.input * s.width.input,
              T{0});  // windows may not reach the last rows and columns
  each_remainder(s.height, [&](int64_t rh, int64_t top, int64_t first_row, int64_t rows) {
    each_remainder(s.width, [&](int64_t rw, int64_t left, int64_t column, int64_t count) {
      const TapsOf<T> taps(s, rh * s.width.stride + rw, weight);
      for (int64_t row = 0; row < rows; row += s.block_rows) {
        const int64_t part = std::min(s.block_rows, rows - row);
        const int64_t from = (first_row + row) * s.length;
        add_taps(part * s.length, taps.count, taps.weights, taps.offsets, -1, T{0}, packed + from,
                 sums);
        for (int64_t r = 0; r < part; ++r) {
          copy_out(count, s.width.stride, sums + r * s.length + column,
                   dx + (top + (row + r) * s.height.stride) * s.width.input + left);
        }
      }
      for (int t = 0; t < s.taps; ++t) {
        const int64_t offset = s.offsets[t] - (rh * s.width.stride + rw) * s.part;
        if (offset < 0 || offset >= s.part || std::isfinite(weight[t])) continue;
        add_tap(s, weight[t], offset, g, first_row, rows, top, column, count, left, dx);
      }
    });
  });
}

template <class T>
inline double dot(int64_t count, const T* a, const T* b) {
  using V = Vec<T>;
  double total = 0;
  for (int64_t start = 0; start < count; start += kDotBlock) {
    const int64_t stop = std::min(count, start + kDotBlock);
    V sums[kUnroll];
    for (V& sum : sums) sum = V(0);
    for (int64_t i = start; i < stop; i += kUnroll * V::kSize) {
#pragma GCC unroll 4
      for (int u = 0; u < kUnroll; ++u)
        sums[u] = fma(V::load(a + i + u * V::kSize), V::load(b + i + u * V::kSize), sums[u]);
    }
    T lanes[V::kSize];
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).store(lanes);
    T sum = 0;
    for (const T lane : lanes) sum += lane;
    total += static_cast<double>(sum);
  }
  return total;
}

// The same without the numbers between two output rows, whose products with an infinity are NaN.
template <class T>
double dot_of_rows(const DepthwiseShape& s, const T* slopes, const T* packed) {
  double total = 0;
  for (int64_t r = 0; r < s.height.output; ++r) {
    for (int64_t i = r * s.length; i < r * s.length + s.width.output; ++i)
      total += static_cast<double>(slopes[i] * packed[i]);
  }
  return total;
}

template <class T>
void depthwise_backward_weight(const DepthwiseShape& s, const T* x, const T* g, double* dw,
                               double* db, T* scratch) {
  T* packed = scratch;
  T* slopes = scratch + s.input_room;
  pack_input(s, x, packed);
  pack_output(s, g, slopes);
  const int64_t count = s.height.output * s.length;  // followed by zeros up to a whole tile
  for (int t = 0; t < s.taps; ++t) {
    const double sum = dot(count, slopes, packed + s.offsets[t]);
    dw[t] += std::isfinite(sum) ? sum : dot_of_rows(s, slopes, packed + s.offsets[t]);
  }
  if (db == nullptr) return;
  for (int64_t start = 0; start < count; start += kDotBlock) {
    T sum = 0;
    const int64_t stop = std::min(count, start + kDotBlock);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < stop; ++i) sum += slopes[i];
    *db += static_cast<double>(sum);
  }
}

template <class T>
inline constexpr DepthwiseRows<T> kDepthwiseRows{
    .forward = depthwise_forward<T>,
    .backward_input = depthwise_backward_input<T>,
    .backward_weight = depthwise_backward_weight<T>,
};

}  // namespace tsr::cpu::TSR_ISA
