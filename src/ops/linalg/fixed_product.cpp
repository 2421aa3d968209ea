// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/fixed_product.h"

#include <algorithm>

#include "base/scalar.h"
#include "kernel/registry.h"

namespace tsr::ops {
namespace {

using kernel::PackedPass;
using kernel::PackedPlan;

// Packing costs as much as the product with some tens of rows.
constexpr int64_t kWorthPacking = 128;

PackedPlan plan_of(const Tensor& right, const Tensor& packed, PackedPass pass) {
  PackedPlan plan{};
  plan.pass = pass;
  plan.inner = right.size(0);
  plan.columns = right.size(1);
  plan.place = kernel::place_on(right.device());
  plan.dtype = right.dtype();
  plan.packed = packed.data();
  return plan;
}

}  // namespace

bool FixedProduct::packs(const Tensor& right, int64_t total) {
  return total >= kWorthPacking && right.numel() != 0 &&
         kernel::backend_for(right.device()).kernels->packed != nullptr;
}

FixedProduct::FixedProduct(const Tensor& right, int64_t total) : right_(right) {
  const int64_t inner = right.size(0);
  const int64_t columns = right.size(1);
  if (packs(right, total)) {
    constexpr int64_t kUnit = kernel::kPackedColumns;
    const int64_t room = (columns + kUnit - 1) / kUnit * kUnit;
    packed_ = empty(Dims{inner, room}, right.dtype(), right.device());
    PackedPlan plan = plan_of(right, packed_, PackedPass::kPack);
    plan.matrix = right.data();
    plan.matrix_strides[0] = right.stride(0);
    plan.matrix_strides[1] = right.stride(1);
    kernel::launch(kernel::kPacked, right.device(), plan);
    return;
  }
  gemm_.dtype = right.dtype();
  gemm_.precision = kernel::g_matmul_precision.load(std::memory_order_relaxed);
  gemm_.k = inner;
  gemm_.n = columns;
  gemm_.b = right.data();
  // A stride of a dim of size 1 is replaced by one that BLAS accepts.
  gemm_.b_strides[0] = inner == 1 ? std::max<int64_t>(columns, 1) : right.stride(0);
  gemm_.b_strides[1] = inner == 1 ? 1 : right.stride(1);
  Scalar(1).store(gemm_.dtype, gemm_.alpha.bytes);
  gemm_.place = kernel::place_on(right.device());
  gemm_.batch = 1;
}

void FixedProduct::run(Rows left, Rows out, int64_t rows, bool adds) {
  if (rows == 0 || right_.size(1) == 0) return;
  if (packed_.defined()) {
    PackedPlan plan = plan_of(right_, packed_, PackedPass::kMultiply);
    plan.adds = adds ? 1 : 0;
    plan.rows = rows;
    plan.left = left.data;
    plan.left_step = left.step;
    plan.out = out.data;
    plan.out_step = out.step;
    kernel::launch(kernel::kPacked, right_.device(), plan);
    return;
  }
  gemm_.m = rows;
  gemm_.a = left.data;
  gemm_.c = out.data;
  gemm_.a_strides[0] = std::max({left.step, gemm_.k, int64_t{1}});
  gemm_.c_strides[0] = std::max({out.step, gemm_.n, int64_t{1}});
  gemm_.a_strides[1] = gemm_.c_strides[1] = 1;
  Scalar(adds ? 1 : 0).store(gemm_.dtype, gemm_.beta.bytes);
  kernel::launch(kernel::kGemm, right_.device(), gemm_);
}

}  // namespace tsr::ops
