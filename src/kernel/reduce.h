// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reduction family: reductions over any set of axes, and scans along one axis.
#pragma once

#include "kernel/contract.h"
#include "kernel/generated/op_ids.h"

namespace tsr::kernel {

// out[kept] = reduce over the reduced dims of in[kept, reduced]. Both groups of dims are merged
// where strides allow, outermost first, each with at least one dim; kArgmax and kArgmin keep the
// order of the reduced dims. Strides are in BYTES. An empty reduction writes the identity of the op
// (the op layer refuses ops without one). Sums of 16-bit floats accumulate in float32; integer sums
// come with an int64 or uint64 output, and the variance of 16-bit floats may come with a float32
// one.
struct ReducePlan {
  ReduceOp op;
  int32_t kept_ndim;
  int32_t reduced_ndim;
  int64_t kept_numel;
  int64_t reduced_numel;
  Place place;
  const void* input;
  void* output;
  DType input_dtype;
  DType output_dtype;
  Parameter params[2];
  int64_t kept_sizes[kMaxRank];
  int64_t kept_input_strides[kMaxRank];
  int64_t kept_output_strides[kMaxRank];
  int64_t reduced_sizes[kMaxRank];
  int64_t reduced_strides[kMaxRank];
};

enum class ScanOp : int32_t { kSum, kProd, kMax, kMin, kLogSumExp, kCount };

// out[..., i, ...] = scan of in[..., 0..i, ...] along one axis; the other dims are merged where
// possible. kMax and kMin (real dtypes) also write the position of the last extremum so far, and
// once they have met a NaN they give NaN, at the position of the last one.
struct ScanPlan {
  ScanOp op;
  int32_t ndim;   // of the other dims, at least 1
  int64_t numel;  // of the other dims
  int64_t axis_size;
  int64_t axis_input_stride;
  int64_t axis_output_stride;
  int64_t axis_position_stride;
  Place place;
  const void* input;
  void* output;
  int64_t* positions;  // null but for kMax and kMin
  DType dtype;
  int64_t sizes[kMaxRank];
  int64_t input_strides[kMaxRank];
  int64_t output_strides[kMaxRank];
  int64_t position_strides[kMaxRank];
};
inline const char* name_of(const ScanPlan& plan) noexcept {
  return name_in({"cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min",
                  "cumulative_logsumexp"},
                 plan.op);
}

// Along the middle axis of a contiguous (rows, columns, inner) block; inner is 1 for the last axis.
// 16-bit floats are computed in float32 and rounded once; a backend that cannot answers
// kNotImplemented.
struct SoftmaxPlan {
  int64_t rows;
  int64_t columns;
  int64_t inner;
  int32_t log;  // 1: log_softmax
  Place place;
  DType dtype;
  const void* input;  // forward: x; backward: the upstream gradient
  const void* saved;  // backward: the forward's output
  void* output;
};

}  // namespace tsr::kernel
