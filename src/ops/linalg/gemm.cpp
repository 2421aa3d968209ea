// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/gemm.h"

#include <cstdint>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::GemmPlan;

// BLAS needs one stride of 1; the other must be at least the extent of that dim, and is a number of
// 32 bits.
bool gemm_ready(const Tensor& matrices) {
  const int64_t rank = matrices.ndim();
  const int64_t rows = matrices.size(rank - 2);
  const int64_t columns = matrices.size(rank - 1);
  const int64_t row_stride = matrices.stride(rank - 2);
  const int64_t column_stride = matrices.stride(rank - 1);
  const auto fits = [](int64_t stride, int64_t extent) {
    return stride >= std::max<int64_t>(extent, 1) && stride <= INT32_MAX;
  };
  const bool row_major = column_stride == 1 && (rows == 1 || fits(row_stride, columns));
  const bool column_major = row_stride == 1 && (columns == 1 || fits(column_stride, rows));
  return row_major || column_major;
}

// Strides of the last two dims. The stride of a dim of size 1 is replaced by one that BLAS accepts.
void matrix_strides(const Tensor& matrices, int64_t (&out)[2]) {
  const int64_t rank = matrices.ndim();
  const int64_t rows = matrices.size(rank - 2);
  const int64_t columns = matrices.size(rank - 1);
  out[0] = matrices.stride(rank - 2);
  out[1] = matrices.stride(rank - 1);
  if (out[1] == 1 && (rows == 1 || out[0] >= std::max<int64_t>(columns, 1))) {
    if (rows == 1) out[0] = std::max<int64_t>(columns, 1);
  } else if (columns == 1) {
    out[1] = std::max<int64_t>(rows, 1);
  }
}

void plan_batch(GemmPlan& plan, DimsView batch, const Tensor& a, const Tensor& b, const Tensor& c) {
  plan.batch_ndim = static_cast<int32_t>(batch.size());
  plan.batch = 1;
  const Tensor* operands[3] = {&a, &b, &c};
  for (size_t d = 0; d < batch.size(); ++d) {
    plan.batch_sizes[d] = batch[d];
    plan.batch *= batch[d];
    for (int i = 0; i < 3; ++i) {
      const int64_t dim =
          static_cast<int64_t>(d) - static_cast<int64_t>(batch.size()) + operands[i]->ndim() - 2;
      const bool broadcast = dim < 0 || operands[i]->size(dim) == 1;
      plan.batch_strides[i][d] = broadcast ? 0 : operands[i]->stride(dim);
    }
  }
}

}  // namespace

void launch_gemm(const Tensor& result, const Tensor& left, const Tensor& right, const Scalar& alpha,
                 const Scalar& beta, bool conjugate) {
  const Tensor a = gemm_ready(left) ? left : contiguous_memory(left);
  const Tensor b = gemm_ready(right) ? right : contiguous_memory(right);
  GemmPlan plan{};
  plan.dtype = result.dtype();
  plan.precision = kernel::g_matmul_precision.load(std::memory_order_relaxed);
  plan.m = a.size(a.ndim() - 2);
  plan.k = a.size(a.ndim() - 1);
  plan.n = b.size(b.ndim() - 1);
  plan.a = a.data();
  plan.b = b.data();
  plan.c = result.data();
  matrix_strides(a, plan.a_strides);
  matrix_strides(b, plan.b_strides);
  matrix_strides(result, plan.c_strides);
  plan.conj_a = conjugate ? 1 : 0;
  alpha.store(kernel::opmath(plan.dtype), plan.alpha.bytes);
  beta.store(kernel::opmath(plan.dtype), plan.beta.bytes);
  plan.place = kernel::place_on(result.device());
  plan_batch(plan, DimsView(result.sizes().data(), result.sizes().size() - 2), a, b, result);
  kernel::launch(kernel::kGemm, result.device(), plan);
}

Tensor adjoint(const Tensor& input) {
  const Tensor transposed = matrix_transpose(input);
  return conj_of(transposed);
}

}  // namespace tsr::ops
