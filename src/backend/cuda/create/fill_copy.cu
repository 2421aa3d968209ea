// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fill and copy: elements are moved by size, or cast to another dtype.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/pointwise/pointwise.cuh"

namespace tsr::cuda {
namespace {

template <class T>
__global__ void fill_kernel(Walk<1> walk, void* out, Parameter value) {
  const T element = *reinterpret_cast<const T*>(&value);
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[1];
    walk.offsets(i, at);
    *reinterpret_cast<T*>(static_cast<char*>(out) + at[0]) = element;
  }
}

template <class T>
__global__ void copy_kernel(Walk<2> walk, Operands<2> operands) {
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[2];
    walk.offsets(i, at);
    *reinterpret_cast<T*>(static_cast<char*>(operands.data[0]) + at[0]) =
        operands.template read<T>(1, at[1]);
  }
}

// Dtypes are tested per element: all threads take the same branch, and memory is the bottleneck.
template <class Wide>
__global__ void cast_kernel(Walk<2> walk, Operands<2> operands, DType to, DType from) {
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[2];
    walk.offsets(i, at);
    const void* source = (operands.host >> 1 & 1U) != 0
                             ? static_cast<const void*>(&operands.numbers[1])
                             : static_cast<const char*>(operands.data[1]) + at[1];
    store_as(to, static_cast<char*>(operands.data[0]) + at[0], load_as<Wide>(from, source));
  }
}

}  // namespace

Status fill(const ElementwisePlan& plan) {
  return visit_size(plan.dtypes[0], [&]<class T>() {
    return launch(plan.place, plan.numel, &fill_kernel<T>, walk_of<1>(plan), plan.data[0],
                  plan.params[0]);
  });
}

Status copy(const ElementwisePlan& plan) {
  const DType to = plan.dtypes[0];
  const DType from = plan.dtypes[1];
  if (to == from) {
    return visit_size(to, [&]<class T>() {
      return launch(plan.place, plan.numel, &copy_kernel<T>, walk_of<2>(plan),
                    operands_of<2>(plan));
    });
  }
  return visit_wide(from, [&]<class Wide>() {
    return launch(plan.place, plan.numel, &cast_kernel<Wide>, walk_of<2>(plan),
                  operands_of<2>(plan), to, from);
  });
}

}  // namespace tsr::cuda
