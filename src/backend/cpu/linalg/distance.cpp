// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distances of all pairs of vectors: the threads share out the rows of the first list.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/distance_rows.h"
#include "backend/cpu/linalg/triangle_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::DistancePlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;  // components
// Of vectors with at most so many components, the second list is turned, so that registers are
// full.
constexpr int64_t kFewComponents = 64;

// The matrices of the second list turned; null where that does not pay, or without memory.
template <class T>
const T* turned_others(const DistancePlan& plan, void* space) {
  auto* turned = static_cast<T*>(space);
  if (turned == nullptr) return nullptr;
  const int64_t size = plan.rows2 * plan.components;
  parallel_for(
      plan.batch, std::max<int64_t>(1, kGrain / (size + 1)), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
          rows_of<TriangleRows<T>>().turn(plan.components, plan.rows2, turned + n * size,
                                          plan.rows2, static_cast<const T*>(plan.x2) + n * size,
                                          plan.components);
        }
      });
  return turned;
}

template <class T>
void run(const DistancePlan& plan) {
  const DistanceRows<T>& rows = rows_of<DistanceRows<T>>();
  const auto* x1 = static_cast<const T*>(plan.x1);
  const auto* x2 = static_cast<const T*>(plan.x2);
  auto* output = static_cast<T*>(plan.output);
  const bool turns = plan.components <= kFewComponents && plan.rows1 > 1;
  const int64_t numbers = plan.batch * plan.rows2 * plan.components;
  const Workspace space(turns ? numbers * static_cast<int64_t>(sizeof(T)) : 0);
  const T* turned = turned_others<T>(plan, space.data());
  const int64_t cost = plan.rows2 * plan.components + 1;
  const int64_t grain = std::max<int64_t>(1, kGrain / cost);
  parallel_for(plan.batch * plan.rows1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // Condensed: behind the pairs of all rows before, with the rows behind this one.
      const int64_t first = plan.condensed != 0 ? i + 1 : i / plan.rows1 * plan.rows2;
      const int64_t count = plan.condensed != 0 ? plan.rows1 - first : plan.rows2;
      const int64_t place = plan.condensed != 0 ? i * (2 * plan.rows1 - i - 1) / 2 : i * plan.rows2;
      if (turned != nullptr) {
        const T* others = plan.condensed != 0
                              ? turned + first
                              : turned + i / plan.rows1 * plan.rows2 * plan.components;
        rows.across(count, plan.components, plan.p, x1 + i * plan.components, others, plan.rows2,
                    output + place);
        continue;
      }
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
