// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/index_launch.h"

#include <limits>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/sum_to.h"

namespace tsr::ops {

Tensor index_array(const Tensor& index, Device device, const char* arg) {
  TSR_CHECK(is_integral(index.dtype()), Code::kDType, arg, "expected integers as index, got ",
            index.dtype());
  TSR_CHECK(index.device() == device || index.device().is_cpu(), Code::kDevice, arg,
            "expected an index on ", device, " or the CPU, got one on ", index.device());
  // An empty index has no memory, which tells the kernel that there is nothing to check.
  if (index.numel() == 0) return zeros_like_shape(index.sizes(), DType::kInt64, device);
  const Tensor here = index.device() == device ? index : to(index, device, std::nullopt);
  if (here.dtype() != DType::kUInt64) return cast_memory(here, DType::kInt64);
  // As int64, numbers from 2^63 on would count from the end.
  return cast_memory(minimum(here, std::numeric_limits<int64_t>::max()), DType::kInt64);
}

Tensor shown_as(const Tensor& input, const Dims& sizes) {
  return make_view(input, sizes, broadcast_strides(input.sizes(), input.strides(), sizes),
                   input.offset());
}

kernel::IndexPlan index_plan(kernel::IndexOp op, const IndexWalk& walk, const Tensor& array,
                             const Tensor& values) {
  const Tensor window = make_view(array, walk.shape, walk.array_strides, array.offset());
  kernel::IndexPlan plan;
  kernel::plan_index(plan, op, shown_as(values, walk.shape), window,
                     {walk.indices.data(), walk.indices.size()},
                     {walk.axes.data(), walk.axes.size()}, walk.from_end);
  return plan;
}

void launch_index(kernel::IndexOp op, const IndexWalk& walk, const Tensor& array,
                  const Tensor& values) {
  kernel::launch(kernel::kIndex, array.device(), index_plan(op, walk, array, values));
}

}  // namespace tsr::ops
