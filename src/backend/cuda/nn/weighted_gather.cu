// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Weighted sums of elements at given places. One thread per element written; for the gradient of
// the input one thread per plane, so that no two threads write to one element and every sum has a
// fixed order.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::Status;
using kernel::WeightedGatherPlan;
using kernel::WeightedPass;

namespace {

struct Sizes {
  int64_t batch, channels, elements, points, taps;
};

template <class T>
struct Tensors {
  T* input;
  const int32_t* index;
  T* weight;
  T* output;
};

template <class T>
__global__ void gather_kernel(Sizes size, Tensors<T> t) {
  const int64_t numel = size.batch * size.channels * size.points;
  for (int64_t i = first_index(); i < numel; i += index_step()) {
    const int64_t plane = i / size.points;
    const int64_t table = plane / size.channels * size.taps * size.points + i % size.points;
    T sum = 0;
    for (int64_t k = 0; k < size.taps; ++k) {
      const int64_t at = table + k * size.points;
      if (t.index[at] >= 0) sum += t.weight[at] * t.input[plane * size.elements + t.index[at]];
    }
    t.output[i] = sum;
  }
}

template <class T>
__global__ void scatter_kernel(Sizes size, Tensors<T> t) {
  for (int64_t plane = first_index(); plane < size.batch * size.channels; plane += index_step()) {
    T* to = t.input + plane * size.elements;
    for (int64_t e = 0; e < size.elements; ++e) to[e] = 0;
    const int64_t table = plane / size.channels * size.taps * size.points;
    for (int64_t i = 0; i < size.taps * size.points; ++i) {
      const int32_t index = t.index[table + i];
      if (index >= 0)
        to[index] += t.weight[table + i] * t.output[plane * size.points + i % size.points];
    }
  }
}

template <class T>
__global__ void products_kernel(Sizes size, Tensors<T> t) {
  const int64_t numel = size.batch * size.taps * size.points;
  for (int64_t i = first_index(); i < numel; i += index_step()) {
    const int64_t first = i / (size.taps * size.points) * size.channels;
    const int32_t index = t.index[i];
    T sum = 0;
    for (int64_t c = first; index >= 0 && c < first + size.channels; ++c)
      sum += t.output[c * size.points + i % size.points] * t.input[c * size.elements + index];
    t.weight[i] = sum;
  }
}

template <class T>
Status run(const WeightedGatherPlan& plan) {
  const Sizes size{plan.batch, plan.channels, plan.elements, plan.points, plan.taps};
  const Tensors<T> tensors{static_cast<T*>(plan.input), plan.index, static_cast<T*>(plan.weight),
                           static_cast<T*>(plan.output)};
  const int64_t planes = size.batch * size.channels;
  switch (plan.pass) {
    case WeightedPass::kBackwardInput:
      return launch(plan.place, planes, &scatter_kernel<T>, size, tensors);
    case WeightedPass::kBackwardWeight:
      return launch(plan.place, size.batch * size.taps * size.points, &products_kernel<T>, size,
                    tensors);
    default:
      return launch(plan.place, planes * size.points, &gather_kernel<T>, size, tensors);
  }
}

}  // namespace

Status weighted_gather(const WeightedGatherPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for weighted gathering");
}

}  // namespace tsr::cuda
