// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Counting into bins: integers, so that the order of the additions does not matter.
#include "backend/common/histogram_bin.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

using kernel::HistogramPlan;
using kernel::Status;

namespace {

__device__ void count_one(void* output, int64_t bin) {
  atomicAdd(static_cast<unsigned long long*>(output) + bin, 1ULL);
}

__global__ void numbers_kernel(HistogramPlan plan) {
  const auto* numbers = static_cast<const int64_t*>(plan.input);
  for (int64_t i = first_index(); i < plan.count; i += index_step()) {
    if (numbers[i] >= 0 && numbers[i] < plan.bins) count_one(plan.output, numbers[i]);
  }
}

template <class T>
__global__ void between_kernel(HistogramPlan plan) {
  const auto bins = math::Bins<T>::of(plan.edges, plan.bins, plan.equal_widths != 0);
  for (int64_t i = first_index(); i < plan.count; i += index_step()) {
    const int64_t bin = bins.bin_of(static_cast<const T*>(plan.input)[i]);
    if (bin >= 0) count_one(plan.output, bin);
  }
}

}  // namespace

Status histogram(const HistogramPlan& plan) {
  if (plan.weights != nullptr)
    return failure(Code::kNotImplemented, "expected no weights on CUDA, got some");
  if (plan.bins == 0) return kernel::kOk;
  const Status status =
      clear(plan.place, plan.output, plan.bins * static_cast<int64_t>(sizeof(int64_t)));
  if (status != kernel::kOk || plan.count == 0) return status;
  if (plan.edges == nullptr) return launch(plan.place, plan.count, &numbers_kernel, plan);
  if (plan.dtype == DType::kFloat32)
    return launch(plan.place, plan.count, &between_kernel<float>, plan);
  if (plan.dtype == DType::kFloat64)
    return launch(plan.place, plan.count, &between_kernel<double>, plan);
  return failure(Code::kDType, "expected float32 or float64");
}

}  // namespace tsr::cuda
