// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Shared by all indexing ops: checks of index arrays, and the launch of the index kernel.
#pragma once

#include "kernel/index.h"
#include "kernel/plan.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"

namespace tsr::ops {

using IndexList = SmallVector<Tensor, 6>;

// The index as int64 on the device of the array. Throws kDType, kDevice.
Tensor index_array(const Tensor& index, Device device, const char* arg);

// A view of the input broadcast to `sizes`, without autograd.
Tensor shown_as(const Tensor& input, const Dims& sizes);

// How elements of the values, the array and the indices correspond: all have the shape `shape`.
struct IndexWalk {
  Dims shape;
  Dims array_strides;  // 0 for the dims of the indices
  IndexList indices;
  SmallVector<kernel::IndexedAxis, 4> axes;
  bool from_end = true;  // negative indices count from the end; otherwise they are out of range
};

// `values` broadcasts to the walk and has the array's dtype. Throws kIndex before it writes the
// array.
void launch_index(kernel::IndexOp op, const IndexWalk& walk, const Tensor& array,
                  const Tensor& values);
kernel::IndexPlan index_plan(kernel::IndexOp op, const IndexWalk& walk, const Tensor& array,
                             const Tensor& values);

// array[indices] += values; make_walk(array) gives the walk.
template <class MakeWalk>
void launch_accumulate(const Tensor& array, const Tensor& values, MakeWalk make_walk) {
  const Tensor added = cast_memory(values, array.dtype());
  launch_or_widen(kernel::kIndex, {updates(array), reads(added)}, [&](const Tensor* const* t) {
    return index_plan(kernel::IndexOp::kAccumulate, make_walk(*t[0]), *t[0], *t[1]);
  });
}

}  // namespace tsr::ops
