// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products with a packed matrix: divides its panels among the threads. BLAS packs in each call,
// which for few rows takes as long as the product.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/product_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::PackedPass;
using kernel::PackedPlan;
using kernel::Status;

// Rows and columns of the left matrix that stay in the second-level cache while all panels go by.
constexpr int64_t kBlock = 132;
constexpr int64_t kDepth = 1024;
// Left matrices of so many numbers are packed, too, if enough panels read them.
constexpr int64_t kLeftNumbers = 8192;
constexpr int64_t kLeftPanels = 8;
// Multiplications, and moved elements, that pay for a thread.
constexpr int64_t kGrain = int64_t{1} << 21;
constexpr int64_t kPackGrain = 65536;

template <class T>
Status run(const PackedPlan& plan) {
  const PackedRows<T>& rows = rows_of<PackedRows<T>>();
  static_assert(kernel::kPackedColumns * sizeof(float) >= 2 * 64);
  const int64_t panels = (plan.columns + rows.panel - 1) / rows.panel;
  const int64_t one = std::max<int64_t>(1, plan.inner * rows.panel);
  auto* packed = static_cast<T*>(plan.packed);
  if (plan.pass == PackedPass::kPack) {
    const MatrixToPack<T> matrix{static_cast<const T*>(plan.matrix), plan.inner, plan.columns,
                                 plan.matrix_strides[0], plan.matrix_strides[1]};
    parallel_for(panels, std::max<int64_t>(1, kPackGrain / one),
                 [&](int64_t begin, int64_t end) { rows.pack(matrix, begin, end, packed); });
    return kernel::kOk;
  }
  const int64_t depths = std::max<int64_t>(1, (plan.inner + kDepth - 1) / kDepth);
  const bool packs_left = plan.rows * plan.inner >= kLeftNumbers && panels >= kLeftPanels;
  const int64_t most = std::min(kBlock, plan.rows) * std::min(kDepth, plan.inner);
  const Workspace space(packs_left ? most * static_cast<int64_t>(sizeof(T)) : 0);
  auto* const room = packs_left ? static_cast<T*>(space.data()) : nullptr;
  for (int64_t row = 0; row < plan.rows; row += kBlock) {
    const int64_t count = std::min(kBlock, plan.rows - row);
    for (int64_t d = 0; d < depths; ++d) {
      const int64_t first = plan.inner * d / depths;
      const int64_t depth = plan.inner * (d + 1) / depths - first;
      const T* left = static_cast<const T*>(plan.left) + row * plan.left_step + first;
      if (room != nullptr) rows.pack_left(count, depth, left, plan.left_step, room);
      const PackedProduct<T> product{room != nullptr ? room : left,
                                     room != nullptr ? 0 : plan.left_step,
                                     packed + first * rows.panel,
                                     plan.inner * rows.panel,
                                     static_cast<T*>(plan.out) + row * plan.out_step,
                                     plan.out_step,
                                     count,
                                     depth,
                                     plan.columns,
                                     plan.adds != 0 || d > 0};
      const int64_t cost = std::max<int64_t>(1, depth * rows.panel * count);
      parallel_for(panels, std::max<int64_t>(1, kGrain / cost),
                   [&](int64_t begin, int64_t end) { rows.multiply(product, begin, end); });
    }
  }
  return kernel::kOk;
}

}  // namespace

Status packed(const PackedPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for a packed matrix");
}

}  // namespace tsr::cpu
