// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of normalisation; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

// Short rows without a mean are normalised so many at a time, because each waits for its root.
inline constexpr int64_t kRootsTogether = 8;
inline constexpr int64_t kShortRow = 512;

// The sums over numbers x with tangents t: of x - shift and its square, of t and of t (x - shift).
struct DualSums {
  double sum, squares, tangents, dot;
};

// A row's tangent and what it depends on besides the row: the tangents of the row's numbers and of
// weight and bias, which may be null, and where it is written.
template <class T>
struct RowTangent {
  const T* input;
  const T* weight;
  const T* bias;
  T* output;
};

template <class T>
struct NormRows {
  // Adds the sums of (x - shift) and its square over `count` contiguous numbers.
  void (*moments)(int64_t count, const T* x, T shift, double* sum, double* squares);
  // Adds the sums of g and of g (x - mean).
  void (*moments_backward)(int64_t count, const T* g, const T* x, T mean, double* sum, double* dot);
  // y = (x - mean) scale + bias
  void (*normalize)(int64_t count, const T* x, T mean, T scale, T bias, T* y);
  // dx = g a - (x - mean) b - c
  void (*normalize_backward)(int64_t count, const T* g, const T* x, T mean, T a, T b, T c, T* dx);
  // Forward mode: adds the four sums; the first two are those of `moments`.
  void (*moments_dual)(int64_t count, const T* x, const T* t, T shift, DualSums* sums);
  // y = (x - mean) scale + bias, dy = t scale - (x - mean) b - c; y may be x, and dy may be t.
  void (*normalize_dual)(int64_t count, const T* x, const T* t, T mean, T scale, T bias, T b, T c,
                         T* y, T* dy);
  // The same for channels last: `rows` rows of `channels` numbers, with one statistic per channel.
  void (*moments_channels)(int64_t rows, int64_t channels, const T* x, const T* shift, double* sum,
                           double* squares);
  void (*moments_channels_backward)(int64_t rows, int64_t channels, const T* g, const T* x,
                                    const T* mean, double* sum, double* dot);
  void (*normalize_channels)(int64_t rows, int64_t channels, const T* x, const T* mean,
                             const T* scale, const T* bias, T* y);
  void (*normalize_channels_backward)(int64_t rows, int64_t channels, const T* g, const T* x,
                                      const T* mean, const T* a, const T* b, const T* c, T* dx);
  void (*moments_channels_dual)(int64_t rows, int64_t channels, const T* x, const T* t,
                                const T* shift, double* sum, double* squares, double* tangents,
                                double* dot);
  void (*normalize_channels_dual)(int64_t rows, int64_t channels, const T* x, const T* t,
                                  const T* mean, const T* scale, const T* bias, const T* b,
                                  const T* c, T* y, T* dy);
  // Layer normalisation of one row; weight and bias may be null. Where `mean` is null the row is
  // not centred: the mean is 0 and rstd comes from the mean square.
  void (*layer_norm)(int64_t count, const T* x, const T* weight, const T* bias, double eps, T* mean,
                     T* rstd, T* y);
  // The same, and the tangent of y; y may be x, and the tangent may be that of x.
  void (*layer_norm_dual)(int64_t count, const T* x, const T* weight, const T* bias, double eps,
                          T* mean, T* rstd, T* y, const RowTangent<T>& tangent);
  // layer_norm without a mean of at most kRootsTogether rows, one behind the other.
  void (*rms_norm)(int64_t rows, int64_t count, const T* x, const T* weight, const T* bias,
                   double eps, T* rstd, T* y);
  // dx of one row (may be null); adds g xhat and g to the sums (may be null).
  void (*layer_norm_backward)(int64_t count, const T* g, const T* x, const T* weight, const T* mean,
                              T rstd, T* dx, T* weight_sum, T* bias_sum);
};

}  // namespace tsr::cpu
