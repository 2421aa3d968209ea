// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Index family: gather, scatter, take, embedding, integer and boolean indexing are all these three
// plans.
#pragma once

#include "kernel/pointwise.h"

namespace tsr::kernel {

// An elementwise walk with index arrays. Operand 0 is values. Operand 1 is the indexed array (with
// stride 0 along the dims that the indices range over). Operands 2.. are int64 index arrays. Each
// element of the indexed array is read or written at data[1] + Σ index_j * indexed_strides[j]. If
// `from_end` is set, a negative index counts from the end. An index out of range fails with kIndex,
// even if no element is moved, and before the array is written (kGet may have written values). A
// device that works asynchronously reports it with take_fault. The dims of the walk keep their
// row-major order.
enum class IndexOp : int32_t {
  kGet,         // values = array[indices]
  kPut,         // array[indices] = values; for equal indices the last in row-major order wins
  kAccumulate,  // array[indices] += values, every occurrence counts, in a fixed order; sums of
                // 16-bit floats are kept in float32 and rounded once
  // As kAccumulate with a product, the larger and the smaller of two; NaN wins. Bools are and, or,
  // and. The last two take no complex numbers; products of 16-bit floats are rounded at each step.
  kMultiply,
  kMaximum,
  kMinimum,
  kCount
};

struct IndexPlan {
  IndexOp op;
  int32_t indices;
  int32_t from_end;  // 0: a negative index is out of range
  ElementwisePlan walk;
  int64_t indexed_sizes[kMaxOperands - 2];
  int64_t indexed_strides[kMaxOperands - 2];  // bytes
  int64_t indexed_axes[kMaxOperands - 2];     // axis numbers of the user's array, for messages
};
inline constexpr int kMaxIndices = kMaxOperands - 2;
inline const char* name_of(const IndexPlan& plan) noexcept {
  return name_in({"index_get", "index_put", "index_accumulate", "index_multiply", "index_maximum",
                  "index_minimum"},
                 plan.op);
}

// The positions of the nonzero elements of an array, in row-major order. Called twice: first with a
// null output to write their number to *count, then to write `ndim` int64 columns, column d at
// output + d * count.
struct NonzeroPlan {
  int32_t ndim;
  int64_t numel;
  Place place;
  const void* input;
  DType dtype;
  int64_t* count;
  int64_t* output;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];  // bytes
};

}  // namespace tsr::kernel
