// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/matmul.h"

#include "base/error.h"
#include "ops/linalg/gemm.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

// One operand as a stack of matrices: a 1-D operand gets the missing dim.
Tensor as_matrices(const Tensor& input, bool left) {
  if (input.ndim() != 1) return input;
  return reshape(input, left ? Dims{1, input.numel()} : Dims{input.numel(), 1});
}

Dims batch_dims(const Tensor& matrices) {
  return Dims(matrices.sizes().begin(), matrices.sizes().end() - 2);
}

// g b; where b is one matrix, all rows of g in one product.
Tensor times_matrix(const Tensor& g, const Tensor& b) {
  if (g.ndim() == 2 || b.ndim() != 2) return matmul(g, b);
  Dims shape = g.sizes();
  shape[shape.size() - 1] = b.size(1);
  return reshape(matmul(flatten(g, 0, -2), b), shape);
}

}  // namespace

// C = A B: dA = G Bᴴ, dB = Aᴴ G, summed over what the batch broadcast.
Tensor matmul(const Tensor& input, const Tensor& other, Out out) {
  check_like(other, "other", input);
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
    launch_gemm(matrices, a, b);
  }
  Tensor output = result.finish();
  if (grad) {
    // Saves a factor only if the other one needs a gradient.
    const Tensor none;
    record(output, "MatmulBackward", {a, b},
           {save_input(needs_grad(b) ? a : none), save_input(needs_grad(a) ? b : none)},
           TakesBatches{[full](Backward& ctx) {
             const Tensor g = reshape(ctx.grad(), ctx.batched(full));
             if (ctx.needs(0)) ctx.set(0, times_matrix(g, adjoint(ctx.saved(1))));
             if (!ctx.needs(1)) return;
             // A matrix times a vector for each sample: the samples are columns of one matrix.
             const bool columns = ctx.lead() == 1 && full.size() == 2 && full[1] == 1;
             const Tensor left = adjoint(ctx.saved(0));
             ctx.set(1, columns
                            ? expand_dims(matmul(squeeze(g, Dims{-1}), matrix_transpose(left)), -1)
                            : matmul(left, g));
           }},
           [&](Forward& ctx) {
             if (ctx.has(0)) ctx.add(0, reshape(matmul(ctx.tangent(0), b), shape));
             if (ctx.has(1)) ctx.add(0, reshape(matmul(a, ctx.tangent(1)), shape));
           });
  }
  return output;
}

}  // namespace tsr::ops
