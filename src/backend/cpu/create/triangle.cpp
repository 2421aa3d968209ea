// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {

kernel::Status triangle(const kernel::TrianglePlan& plan) {
  if (plan.rows == 0 || plan.columns == 0) return kernel::kOk;
  const int64_t size = itemsize(plan.dtype);
  const int64_t width = plan.columns * size;
  const auto* input = static_cast<const std::byte*>(plan.input);
  auto* output = static_cast<std::byte*>(plan.output);
  const int64_t grain = std::max<int64_t>(1, kGrain / plan.columns);
  parallel_for(plan.batch * plan.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      // The first column above the diagonal (lower) or on it (upper).
      const int64_t border = line % plan.rows + plan.diagonal + (plan.upper != 0 ? 0 : 1);
      const int64_t cut = std::clamp<int64_t>(border, 0, plan.columns) * size;
      const int64_t first = plan.upper != 0 ? cut : 0;
      const int64_t last = plan.upper != 0 ? width : cut;
      std::byte* row = output + line * width;
      std::memset(row, 0, static_cast<size_t>(first));
      std::memcpy(row + first, input + line * width + first, static_cast<size_t>(last - first));
      std::memset(row + last, 0, static_cast<size_t>(width - last));
    }
  });
  return kernel::kOk;
}

}  // namespace tsr::cpu
