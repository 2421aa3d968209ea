// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul.h"

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/copy.h"
#include "ops/shape.h"
#include "ops/unary.h"

namespace tsr::ops {
namespace {

using kernel::GemmPlan;
using kernel::KernelTable;

// One operand as a stack of matrices: a 1-D one gets its missing dim.
Tensor as_matrices(const Tensor& input, bool left) {
  if (input.ndim() != 1) return input;
  return reshape(input, left ? Dims{1, input.numel()} : Dims{input.numel(), 1});
}

// BLAS wants one of the two strides to be 1 and the other to reach over a whole line.
bool gemm_ready(const Tensor& matrices) {
  const int64_t rank = matrices.ndim();
  const int64_t rows = matrices.size(rank - 2);
  const int64_t columns = matrices.size(rank - 1);
  const int64_t row_stride = matrices.stride(rank - 2);
  const int64_t column_stride = matrices.stride(rank - 1);
  const bool row_major =
      column_stride == 1 && (rows == 1 || row_stride >= std::max<int64_t>(columns, 1));
  const bool column_major =
      row_stride == 1 && (columns == 1 || column_stride >= std::max<int64_t>(rows, 1));
  return row_major || column_major;
}

// Strides of the last two dims; that of a dim of size 1 is meaningless and made what BLAS expects.
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

Dims batch_dims(const Tensor& matrices) {
  return Dims(matrices.sizes().begin(), matrices.sizes().end() - 2);
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

void launch_matmul(const Tensor& result, const Tensor& left, const Tensor& right, DimsView batch) {
  const Tensor a = gemm_ready(left) ? left : contiguous_memory(left);
  const Tensor b = gemm_ready(right) ? right : contiguous_memory(right);
  GemmPlan plan{};
  plan.dtype = result.dtype();
  plan.m = a.size(a.ndim() - 2);
  plan.k = a.size(a.ndim() - 1);
  plan.n = b.size(b.ndim() - 1);
  plan.a = a.data();
  plan.b = b.data();
  plan.c = result.data();
  matrix_strides(a, plan.a_strides);
  matrix_strides(b, plan.b_strides);
  matrix_strides(result, plan.c_strides);
  Scalar(1).store(kernel::opmath(plan.dtype), plan.alpha.bytes);
  Scalar(0).store(kernel::opmath(plan.dtype), plan.beta.bytes);
  plan.place.device = result.device().index;
  plan_batch(plan, batch, a, b, result);
  kernel::launch<&KernelTable::gemm>(result.device(), "gemm", plan);
}

// Conjugate transpose of the last two dims.
Tensor adjoint(const Tensor& input) {
  const Tensor transposed = matrix_transpose(input);
  return is_complex(input.dtype()) ? conj(transposed) : transposed;
}

}  // namespace

// C = A B: dA = G Bᴴ, dB = Aᴴ G, summed over what the batch broadcast.
Tensor matmul(const Tensor& input, const Tensor& other, Out out) {
  check_same_device(input, other, "other");
  TSR_CHECK(input.dtype() == other.dtype(), Code::kDType, "other", "expected ", input.dtype(),
            " as input, got ", other.dtype());
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  TSR_CHECK(input.ndim() >= 1 && other.ndim() >= 1, Code::kShape,
            input.ndim() < 1 ? "input" : "other", "expected at least 1 dimension, got shapes ",
            input.sizes(), " and ", other.sizes());
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, other);
  const Tensor a = as_matrices(input, true);
  const Tensor b = as_matrices(other, false);
  TSR_CHECK(a.size(a.ndim() - 1) == b.size(b.ndim() - 2), Code::kShape, "other", "expected ",
            a.size(a.ndim() - 1), " rows for an input of shape ", input.sizes(), ", got shape ",
            other.sizes());
  const Dims batch = broadcast_shapes(batch_dims(a), batch_dims(b));
  Dims full = batch;
  full.push_back(a.size(a.ndim() - 2));
  full.push_back(b.size(b.ndim() - 1));
  Dims shape = batch;
  if (input.ndim() > 1) shape.push_back(a.size(a.ndim() - 2));
  if (other.ndim() > 1) shape.push_back(b.size(b.ndim() - 1));
  Result result =
      allocate_apart(out, shape, input.dtype(), input.device(), grad, {&input, &other}, true);
  if (result.value().numel() != 0) {
    const Tensor matrices =
        make_view(result.value(), full, contiguous_strides(full), result.value().offset());
    launch_matmul(matrices, a, b, batch);
  }
  Tensor output = result.finish();
  if (grad) {
    // A factor is kept only for the gradient of the other one.
    const Tensor none;
    record(output, "MatmulBackward", {a, b},
           {save_input(needs_grad(b) ? a : none), save_input(needs_grad(a) ? b : none)},
           [full](Backward& ctx) {
             const Tensor g = reshape(ctx.grad(), full);
             if (ctx.needs(0)) ctx.set(0, matmul(g, adjoint(ctx.saved(1))));
             if (ctx.needs(1)) ctx.set(1, matmul(adjoint(ctx.saved(0)), g));
           });
  }
  return output;
}

}  // namespace tsr::ops
