// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distances of all pairs of vectors: the threads share out the rows of the first list.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/distance_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::DistancePlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;  // components

template <class T>
void run(const DistancePlan& plan) {
  const DistanceRows<T>& rows = rows_of<DistanceRows<T>>();
  const auto* x1 = static_cast<const T*>(plan.x1);
  const auto* x2 = static_cast<const T*>(plan.x2);
  auto* output = static_cast<T*>(plan.output);
  const int64_t cost = plan.rows2 * plan.components + 1;
  const int64_t grain = std::max<int64_t>(1, kGrain / cost);
  parallel_for(plan.batch * plan.rows1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // Condensed: behind the pairs of all rows before, with the rows behind this one.
      const int64_t first = plan.condensed != 0 ? i + 1 : i / plan.rows1 * plan.rows2;
      const int64_t count = plan.condensed != 0 ? plan.rows1 - first : plan.rows2;
      const int64_t place = plan.condensed != 0 ? i * (2 * plan.rows1 - i - 1) / 2 : i * plan.rows2;
      rows.distances(count, plan.components, plan.p, x1 + i * plan.components,
                     x2 + first * plan.components, output + place);
    }
  });
}

}  // namespace

Status distance(const DistancePlan& plan) {
  if (plan.dtype == DType::kFloat32)
    run<float>(plan);
  else if (plan.dtype == DType::kFloat64)
    run<double>(plan);
  else
    return failure(Code::kNotImplemented, "expected float32 or float64 for distances");
  return kernel::kOk;
}

}  // namespace tsr::cpu
