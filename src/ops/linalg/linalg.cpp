// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/linalg.h"

#include <cmath>

#include "base/error.h"
#include "base/scalar_range.h"
#include "ops/create/copy.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_operand(const Tensor& tensor, const char* arg, const Tensor& input, int64_t rank) {
  check_same_device(input, tensor, arg);
  TSR_CHECK(tensor.dtype() == input.dtype(), Code::kDType, arg, "expected ", input.dtype(),
            " as input, got ", tensor.dtype());
  TSR_CHECK(tensor.ndim() == rank, Code::kShape, arg, "expected ", rank,
            rank == 1 ? " dimension, got shape " : " dimensions, got shape ", tensor.sizes());
}

void check_numeric(const Tensor& input) {
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
}

void check_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_numeric(input);
  TSR_CHECK(input.ndim() >= 1, Code::kShape, "input", "expected at least 1 dimension, got shape ",
            input.sizes());
  check_same_device(input, weight, "weight");
  // A layer's weight is what it is: what does not fit it is the input.
  TSR_CHECK(weight.dtype() == input.dtype(), Code::kDType, "input", "expected ", weight.dtype(),
            " as the weight, got ", input.dtype(), "; cast one to the other's dtype");
  check_operand(weight, "weight", input, 2);
  TSR_CHECK(weight.size(1) == input.size(input.ndim() - 1), Code::kShape, "input", "expected ",
            weight.size(1), " numbers along the last axis for a weight of shape ", weight.sizes(),
            ", got shape ", input.sizes());
  if (!bias.defined()) return;
  check_operand(bias, "bias", input, 1);
  TSR_CHECK(bias.size(0) == weight.size(0), Code::kShape, "bias", "expected ", weight.size(0),
            " numbers for a weight of shape ", weight.sizes(), ", got shape ", bias.sizes());
}

// All dims but the last as one, without a node.
Tensor rows_of(const Tensor& input) {
  const Tensor dense = contiguous_memory(input);
  const int64_t columns = input.size(input.ndim() - 1);
  const int64_t rows = columns == 0
                           ? numel_of(DimsView(input.sizes().data(), input.sizes().size() - 1))
                           : input.numel() / columns;
  const Dims shape{rows, columns};
  return make_view(dense, shape, contiguous_strides(shape), dense.offset());
}

void launch_linear(const Tensor& result, const Tensor& input, const Tensor& weight,
                   const Tensor& bias) {
  if (result.numel() == 0) return;
  const Tensor target = rows_of(result);
  const Tensor columns = make_view(weight, Dims{weight.size(1), weight.size(0)},
                                   Dims{weight.stride(1), weight.stride(0)}, weight.offset());
  // The product adds to the bias, so that it costs no pass of its own.
  if (bias.defined()) copy_memory(target, bias);
  launch_gemm(target, rows_of(input), columns, 1, bias.defined() ? 1 : 0);
}

// As rows_of, differentiable.
Tensor flat(const Tensor& input) {
  if (input.ndim() == 2) return input;
  const int64_t columns = input.size(input.ndim() - 1);
  return reshape(input,
                 Dims{numel_of(DimsView(input.sizes().data(), input.sizes().size() - 1)), columns});
}

Scalar factor(double value, DType dtype, const char* arg) {
  if (!is_integral_or_bool(dtype)) return value;
  TSR_CHECK(value == std::floor(value) && std::abs(value) < 9e18, Code::kValue, arg,
            "expected a whole number for a ", dtype, " input, got ", value);
  check_fits(value, dtype, arg);
  return static_cast<int64_t>(value);
}

Tensor scaled(const Tensor& input, double value) {
  return value == 1 ? input : multiply(input, value);
}

}  // namespace

// Y = X Wᵀ + b: dX = G W, dW = Gᵀ X, db = Σ G over the rows (complex: conjugates).
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Out out) {
  check_linear(input, weight, bias);
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, weight, bias);
  Dims shape = input.sizes();
  shape[shape.size() - 1] = weight.size(0);
  Result result = allocate_apart(out, shape, input.dtype(), input.device(), grad,
                                 {&input, &weight, &bias}, true);
  launch_linear(result.value(), input, weight, bias);
  Tensor output = result.finish();
  if (grad) {
    const Tensor none;
    record(output, "LinearBackward", {input, weight, bias},
           {save_input(needs_grad(weight) ? input : none),
            save_input(needs_grad(input) ? weight : none)},
           [shape = input.sizes()](Backward& ctx) {
             const Tensor rows = flat(ctx.grad());
             const bool conjugate = is_complex(rows.dtype());
             if (ctx.needs(0)) {
               const Tensor w = conjugate ? conj(ctx.saved(1)) : ctx.saved(1);
               ctx.set(0, reshape(matmul(rows, w), shape));
             }
             if (ctx.needs(1)) {
               const Tensor x = conjugate ? conj(ctx.saved(0)) : ctx.saved(0);
               ctx.set(1, matmul(matrix_transpose(rows), flat(x)));
             }
             const Dims first{0};
             if (ctx.needs(2)) ctx.set(2, sum(rows, DimsView(first)));
           });
  }
  return output;
}

Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, double beta, double alpha,
             Out out) {
  check_numeric(input);
  check_operand(mat1, "mat1", input, 2);
  check_operand(mat2, "mat2", input, 2);
  TSR_CHECK(mat1.size(1) == mat2.size(0), Code::kShape, "mat2", "expected ", mat1.size(1),
            " rows for a mat1 of shape ", mat1.sizes(), ", got shape ", mat2.sizes());
  const Scalar keep = factor(beta, input.dtype(), "beta");
  const Scalar scale = factor(alpha, input.dtype(), "alpha");
  const Dims shape{mat1.size(0), mat2.size(1)};
  broadcast_strides(input.sizes(), input.strides(), shape, "input");
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, mat1, mat2);
  const Tensor none;
  const Tensor saved1 = grad && needs_grad(mat2) ? mat1 : none;
  const Tensor saved2 = grad && needs_grad(mat1) ? mat2 : none;
  if (grad) check_saves({save_input(saved1), save_input(saved2)});
  Result result =
      allocate_apart(out, shape, input.dtype(), input.device(), grad, {&input, &mat1, &mat2}, true);
  if (result.value().numel() != 0) {
    if (beta != 0) copy_memory(result.value(), input);
    launch_gemm(result.value(), mat1, mat2, scale, keep);
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, "AddmmBackward", {input, mat1, mat2}, {save_input(saved1), save_input(saved2)},
           [beta, alpha](Backward& ctx) {
             const Tensor& g = ctx.grad();
             if (ctx.needs(0)) ctx.set(0, scaled(g, beta));
             if (ctx.needs(1)) ctx.set(1, scaled(matmul(g, adjoint(ctx.saved(1))), alpha));
             if (ctx.needs(2)) ctx.set(2, scaled(matmul(adjoint(ctx.saved(0)), g), alpha));
           });
  }
  return output;
}

Tensor bmm(const Tensor& input, const Tensor& other, Out out) {
  TSR_CHECK(input.ndim() == 3, Code::kShape, "input", "expected 3 dimensions, got shape ",
            input.sizes());
  check_operand(other, "other", input, 3);
  TSR_CHECK(other.size(0) == input.size(0) && other.size(1) == input.size(2), Code::kShape, "other",
            "expected ", input.size(0), " matrices of ", input.size(2),
            " rows for an input of shape ", input.sizes(), ", got shape ", other.sizes());
  return matmul(input, other, out);
}

Tensor dot(const Tensor& input, const Tensor& other, Out out) {
  TSR_CHECK(input.ndim() == 1, Code::kShape, "input", "expected 1 dimension, got shape ",
            input.sizes());
  check_operand(other, "other", input, 1);
  TSR_CHECK(other.size(0) == input.size(0), Code::kShape, "other", "expected ", input.size(0),
            " numbers, got ", other.size(0));
  return matmul(input, other, out);
}

Tensor outer(const Tensor& input, const Tensor& other, Out out) {
  TSR_CHECK(input.ndim() == 1, Code::kShape, "input", "expected 1 dimension, got shape ",
            input.sizes());
  TSR_CHECK(other.ndim() == 1, Code::kShape, "other", "expected 1 dimension, got shape ",
            other.sizes());
  return multiply(reshape(input, Dims{input.size(0), 1}), other, out);
}

}  // namespace tsr::ops
