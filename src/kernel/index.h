// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Index family: gather, scatter, take, embedding, integer and boolean indexing are all these three
// plans.
#pragma once

#include "kernel/pointwise.h"

namespace tsr::kernel {

// An elementwise walk whose operand 1 is displaced by index arrays: operand 0 = values, operand 1 =
// the indexed array (restrided: stride 0 along the dims the indices range over), operands 2.. =
// int64 index arrays. At each element the indexed array is read or written at data[1] + Σ index_j *
// indexed_strides[j]. A negative index counts from the end where `from_end` says so; one out of
// range fails with kIndex, also when no element is moved, and before the array is written (kGet may
// have written values). A device that works later tells it by take_fault.
// The dims of the walk keep their row-major order.
enum class IndexOp : int32_t {
  kGet,         // values = array[indices]
  kPut,         // array[indices] = values; of equal indices the last in row-major order wins
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
  int64_t indexed_axes[kMaxOperands - 2];     // the user's numbers of them, for messages
};
inline constexpr int kMaxIndices = kMaxOperands - 2;
inline const char* name_of(const IndexPlan& plan) noexcept {
  return name_in({"index_get", "index_put", "index_accumulate", "index_multiply", "index_maximum",
                  "index_minimum"},
                 plan.op);
}

// The positions of the nonzero elements of an array, in row-major order. Called twice: with output
// null to count into *count, then to write `ndim` int64 columns, column d at output + d * count.
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
