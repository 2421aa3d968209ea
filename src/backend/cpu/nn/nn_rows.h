// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The neural-network rows: the arithmetic of softmax, losses, normalisation, pooling and
// optimizers, compiled per instruction-set level. Each works alone on the part its caller names;
// threads are the caller's.
#pragma once

#include <cstdint>

#include "backend/common/optim_step.h"
#include "kernel/nn.h"

namespace tsr::cpu {

using math::AdamStep;
using math::SgdStep;

// The windows of one pooled axis: output o covers input [begin[o], end[o]) in steps of `dilation`.
struct PoolAxis {
  int64_t input, output;
  const int64_t* begin;
  const int64_t* end;
  const int64_t* span;  // the window's size that counts in an average
  int64_t kernel, stride, padding, dilation;
  // Outputs whose window lies inside the input, at o stride - padding: [inner_begin, inner_end).
  int64_t inner_begin, inner_end;
};
struct PoolShape {
  PoolAxis axes[3];
  int64_t channels;  // of channels last; 1: one plane
  double divisor;    // 0: the window's size
};

// One axis of a depthwise convolution, whose packed numbers are those that a window reaches.
struct DepthwiseAxis {
  int64_t input, output, stride, padding;
  int64_t packed;  // rows or columns of each remainder modulo the stride
};
inline constexpr int kMaxTaps = 49;
// See Note [Packed planes]; sizes are in elements.
struct DepthwiseShape {
  DepthwiseAxis height, width;
  int taps;
  int64_t offsets[kMaxTaps];  // from where an output stands to what the tap reads for it
  int64_t length;             // of a packed row
  int64_t part;               // from one remainder's rows to the next one's
  int64_t margin;             // zeros before a packed gradient
  int64_t block_rows;         // that are computed at a time
  int64_t input_room, output_room, block_room;  // for packed planes, and for a block
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
  bool streams;  // the result goes past the caches
};

template <class T>
struct NnRows {
  // ---- softmax over `count` rows of `columns` contiguous numbers ----
  void (*softmax)(int64_t count, int64_t columns, bool log, const T* in, T* out);
  void (*softmax_backward)(int64_t count, int64_t columns, bool log, const T* g, const T* y,
                           T* out);
  // ---- along an axis of stride `inner`, for the positions [begin, end) of it ----
  void (*softmax_strided)(int64_t columns, int64_t inner, int64_t begin, int64_t end, bool log,
                          const T* in, T* out);
  void (*softmax_strided_backward)(int64_t columns, int64_t inner, int64_t begin, int64_t end,
                                   bool log, const T* g, const T* y, T* out);
  // ---- classification: one row of contiguous logits ----
  T (*log_sum_exp)(int64_t columns, const T* x);
  // out = slope exp(x - lse) - flat weight; a null weight is ones.
  void (*class_loss_backward)(int64_t columns, const T* x, T lse, T slope, T flat, const T* weight,
                              T* out);
  // ---- normalisation ----
  // Adds the sums of (x - shift) and its square over `count` contiguous numbers.
  void (*moments)(int64_t count, const T* x, T shift, double* sum, double* squares);
  // Adds the sums of g and of g (x - mean).
  void (*moments_backward)(int64_t count, const T* g, const T* x, T mean, double* sum, double* dot);
  // y = (x - mean) scale + bias
  void (*normalize)(int64_t count, const T* x, T mean, T scale, T bias, T* y);
  // dx = g a - (x - mean) b - c
  void (*normalize_backward)(int64_t count, const T* g, const T* x, T mean, T a, T b, T c, T* dx);
  // As above for `rows` rows of `channels` numbers with a statistic each (channels last).
  void (*moments_channels)(int64_t rows, int64_t channels, const T* x, const T* shift, double* sum,
                           double* squares);
  void (*moments_channels_backward)(int64_t rows, int64_t channels, const T* g, const T* x,
                                    const T* mean, double* sum, double* dot);
  void (*normalize_channels)(int64_t rows, int64_t channels, const T* x, const T* mean,
                             const T* scale, const T* bias, T* y);
  void (*normalize_channels_backward)(int64_t rows, int64_t channels, const T* g, const T* x,
                                      const T* mean, const T* a, const T* b, const T* c, T* dx);
  // Layer normalisation of one row; weight and bias may be null.
  void (*layer_norm)(int64_t count, const T* x, const T* weight, const T* bias, double eps, T* mean,
                     T* rstd, T* y);
  // dx of one row (may be null); adds g xhat and g to the sums (may be null).
  void (*layer_norm_backward)(int64_t count, const T* g, const T* x, const T* weight, T mean,
                              T rstd, T* dx, T* weight_sum, T* bias_sum);
  // ---- pooling: output rows [begin, end) of one plane or image ----
  void (*max_pool)(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out,
                   int64_t* positions);
  void (*average_pool)(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out);
  // Writes the whole gradient of one plane or image.
  void (*average_pool_backward)(const PoolShape& shape, const T* g, T* dx);
  // ---- depthwise convolution of one plane ----
  // `scratch` holds zeros at first (input_room or output_room, then block_room), and serves any
  // number of calls of the same kind.
  void (*depthwise_forward)(const DepthwiseShape& shape, const T* x, const T* weight, T bias, T* y,
                            T* scratch);
  void (*depthwise_backward_input)(const DepthwiseShape& shape, const T* g, const T* weight, T* dx,
                                   T* scratch);
  // Adds to the taps' and the bias' gradient (may be null); scratch: input_room and output_room.
  void (*depthwise_backward_weight)(const DepthwiseShape& shape, const T* x, const T* g, double* dw,
                                    double* db, T* scratch);
  // ---- products with few rows ----
  // out[r][j] = alpha Σ_i rows[r][i] matrix[j][i] + beta out[r][j], for j in [begin, end);
  // inner_step is 1.
  void (*skinny_dots)(const SkinnyProduct<T>& product, int64_t begin, int64_t end);
  // out[r][j] = alpha Σ_i rows[r][i] matrix[i][j] + beta out[r][j], for j in [begin, end).
  void (*skinny_sums)(const SkinnyProduct<T>& product, int64_t begin, int64_t end);
  // out[r][j] = alpha Σ_i rows[r][i] matrix[i][j] for all j, r in [begin, end) and few i.
  void (*skinny_outer)(const SkinnyProduct<T>& product, int64_t begin, int64_t end);
  // ---- optimizers ----
  void (*adam)(int64_t count, const AdamStep<T>& step, T* p, const T* g, T* m, T* v, T* v_max);
  void (*sgd)(int64_t count, const SgdStep<T>& step, T* p, const T* g, T* buffer);
  double (*sum_of_squares)(int64_t count, const T* g);
  void (*scale)(int64_t count, T factor, T* p);
};

// The rows of the best level; T is float or double.
template <class T>
const NnRows<T>& nn_rows() noexcept;

}  // namespace tsr::cpu
