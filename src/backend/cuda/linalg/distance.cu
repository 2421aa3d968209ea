// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distances of all pairs of vectors: one thread per pair.
#include <cmath>

#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::DistancePlan;
using kernel::Status;

namespace {

template <class T>
struct Pairs {
  bool condensed;
  int64_t rows1, rows2, components, numel;  // numel: of the whole table, also if condensed
  T p;
  const T* x1;
  const T* x2;
  T* output;
};

// The sum is formed in double: a running sum of ones in float32 would stop at 2^24.
template <class T>
__device__ double norm_of_difference(const Pairs<T>& pairs, const T* a, const T* b) {
  double result = 0;
  for (int64_t k = 0; k < pairs.components; ++k) {
    const T d = a[k] > b[k] ? a[k] - b[k] : b[k] - a[k];
    if (pairs.p == 0)
      result += d != 0 ? 1 : 0;
    else if (pairs.p == 1)
      result += d;
    else if (pairs.p == 2)
      result += d * d;
    else if (std::isinf(pairs.p))
      result = d > result || d != d ? d : result;
    else
      result += std::pow(d, pairs.p);
  }
  if (pairs.p == 2) return std::sqrt(result);
  if (pairs.p == 0 || pairs.p == 1 || std::isinf(pairs.p)) return result;
  return std::pow(result, 1 / double{pairs.p});
}

template <class T>
__global__ void distance_kernel(Pairs<T> pairs) {
  for (int64_t at = first_index(); at < pairs.numel; at += index_step()) {
    const int64_t i = at / pairs.rows2;
    const int64_t j = at % pairs.rows2;
    if (pairs.condensed && j <= i) continue;
    const int64_t other = pairs.condensed ? j : i / pairs.rows1 * pairs.rows2 + j;
    const int64_t place = pairs.condensed ? i * (2 * pairs.rows1 - i - 1) / 2 + j - i - 1 : at;
    pairs.output[place] = static_cast<T>(norm_of_difference(pairs, pairs.x1 + i * pairs.components,
                                                            pairs.x2 + other * pairs.components));
  }
}

template <class T>
Status run(const DistancePlan& plan) {
  const Pairs<T> pairs{plan.condensed != 0,
                       plan.rows1,
                       plan.rows2,
                       plan.components,
                       plan.batch * plan.rows1 * plan.rows2,
                       static_cast<T>(plan.p),
                       static_cast<const T*>(plan.x1),
                       static_cast<const T*>(plan.x2),
                       static_cast<T*>(plan.output)};
  return launch(plan.place, pairs.numel, &distance_kernel<T>, pairs);
}

}  // namespace

Status distance(const DistancePlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for distances");
}

}  // namespace tsr::cuda
