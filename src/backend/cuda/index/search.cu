// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Binary search by keys: a thread per value.
#include "backend/common/search_row.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/index/key_at.cuh"
#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

using kernel::SearchPlan;
using kernel::Status;

namespace {

__global__ void search_kernel(SearchPlan plan, int64_t size) {
  const int64_t each = plan.count / plan.rows;
  for (int64_t k = first_index(); k < plan.count; k += index_step()) {
    const int64_t first = k / each * plan.columns;
    const uint64_t key = key_at(plan.dtype, static_cast<const char*>(plan.values) + k * size);
    plan.output[k] = math::search_row(plan.columns, key, plan.right != 0, [&](int64_t i) {
      const int64_t place = first + (plan.sorter == nullptr ? i : plan.sorter[first + i]);
      return key_at(plan.dtype, static_cast<const char*>(plan.sorted) + place * size);
    });
  }
}

}  // namespace

Status search(const SearchPlan& plan) {
  if (is_complex(plan.dtype)) return failure(Code::kDType, "search: expected a real dtype");
  if (plan.count == 0) return kernel::kOk;
  return launch(plan.place, plan.count, &search_kernel, plan, itemsize(plan.dtype));
}

}  // namespace tsr::cuda
