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

// Rows of the left matrix that stay in the second-level cache while all panels go by.
constexpr int64_t kBlock = 132;
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
  for (int64_t row = 0; row < plan.rows; row += kBlock) {
    const int64_t count = std::min(kBlock, plan.rows - row);
    const PackedProduct<T> product{static_cast<const T*>(plan.left) + row * plan.left_step,
                                   plan.left_step,
                                   packed,
                                   static_cast<T*>(plan.out) + row * plan.out_step,
                                   plan.out_step,
                                   count,
                                   plan.inner,
                                   plan.columns,
                                   plan.adds != 0};
    parallel_for(panels, std::max<int64_t>(1, kGrain / (one * count)),
                 [&](int64_t begin, int64_t end) { rows.multiply(product, begin, end); });
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
