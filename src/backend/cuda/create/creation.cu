// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sequences and triangles.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::SequencePlan;
using kernel::Status;
using kernel::TrianglePlan;

namespace {

// The second half counts back from stop, so that both ends are exact and the sequence is symmetric.
// One without its end has the elements of the sequence with it, except the last.
__device__ double real_element(const SequencePlan& plan, int64_t i) {
  const bool from_end = plan.symmetric != 0 && i >= (plan.numel + plan.symmetric) / 2;
  const int64_t from_stop = plan.numel + plan.symmetric - 2 - i;
  return from_end ? plan.stop - plan.step * static_cast<double>(from_stop)
                  : plan.start + plan.step * static_cast<double>(i);
}

__global__ void sequence_kernel(SequencePlan plan, int64_t size) {
  for (int64_t i = first_index(); i < plan.numel; i += index_step()) {
    char* at = static_cast<char*>(plan.output) + i * size;
    if (is_integral(plan.dtype)) {
      // Wraps as integer arithmetic does.
      const uint64_t value = static_cast<uint64_t>(plan.start_integer) +
                             static_cast<uint64_t>(plan.step_integer) * static_cast<uint64_t>(i);
      store_as(plan.dtype, at, value);
    } else {
      store_as(plan.dtype, at, real_element(plan, i));
    }
  }
}

template <class T>
__global__ void triangle_kernel(TrianglePlan plan) {
  const int64_t count = plan.batch * plan.rows * plan.columns;
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t column = i % plan.columns;
    const int64_t row = i / plan.columns % plan.rows;
    const bool kept =
        plan.upper != 0 ? column - row >= plan.diagonal : column - row <= plan.diagonal;
    static_cast<T*>(plan.output)[i] = kept ? static_cast<const T*>(plan.input)[i] : T{};
  }
}

}  // namespace

Status sequence(const SequencePlan& plan) {
  if (plan.dtype == DType::kBool)
    return failure(Code::kDType, "expected a numeric dtype, got bool");
  return launch(plan.place, plan.numel, &sequence_kernel, plan, itemsize(plan.dtype));
}

Status triangle(const TrianglePlan& plan) {
  const int64_t count = plan.batch * plan.rows * plan.columns;
  return visit_size(
      plan.dtype, [&]<class T>() { return launch(plan.place, count, &triangle_kernel<T>, plan); });
}

}  // namespace tsr::cuda
