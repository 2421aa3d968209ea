// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/add_products.h"

#include <cmath>

#include "autograd/forward.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "ops/create/copy.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_operands(const Tensor& input, const Tensor& left, const char* left_arg,
                    const Tensor& right, const char* right_arg, int64_t left_rank,
                    int64_t right_rank) {
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  check_like(left, left_arg, input, left_rank);
  check_like(right, right_arg, input, right_rank);
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

struct Factors {
  double beta, alpha;
};

// The stacks of matrices `left` and `right` are what the op made of its arguments; `shape` is that
// of the result, whose elements are those of left right.
Tensor add_product(const char* node, const Tensor& input, const Tensor& left, const Tensor& right,
                   DimsView shape, Factors factors, const Out& out) {
  const Scalar keep = factor(factors.beta, input.dtype(), "beta");
  const Scalar scale = factor(factors.alpha, input.dtype(), "alpha");
  Dims full = left.sizes();
  full.back() = right.sizes().back();
  broadcast_strides(input.sizes(), input.strides(), shape, "input");
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, left, right);
  const Tensor none;
  const Tensor saved_left = grad && needs_grad(right) ? left : none;
  const Tensor saved_right = grad && needs_grad(left) ? right : none;
  if (grad) check_saves({save_input(saved_left), save_input(saved_right)});
  Result result = allocate_apart(out, shape, input.dtype(), input.device(), grad,
                                 {&input, &left, &right}, true);
  // The product of a column and a row is computed beside the addition, in one pass.
  const bool outer = left.sizes().back() == 1 && Dims(shape) == full;
  if (outer && factors.beta == 1) {
    const Unrecorded pause;
    addcmul(input, left, right, scale, Out::into(result.value()));
  } else if (result.value().numel() != 0) {
    if (factors.beta != 0) copy_memory(result.value(), input);
    launch_gemm(make_view(result.value(), full, contiguous_strides(full), result.value().offset()),
                left, right, scale, keep);
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, node, {input, left, right}, {save_input(saved_left), save_input(saved_right)},
           TakesBatches{[factors, full](Backward& ctx) {
             if (ctx.needs(0)) ctx.set(0, scaled(ctx.grad(), factors.beta));
             const Tensor g = reshape(ctx.grad(), ctx.batched(full));
             if (ctx.needs(1)) ctx.set(1, scaled(matmul(g, adjoint(ctx.saved(1))), factors.alpha));
             if (ctx.needs(2)) ctx.set(2, scaled(matmul(adjoint(ctx.saved(0)), g), factors.alpha));
           }},
           [&](Forward& ctx) {
             const auto part = [&](const Tensor& a, const Tensor& b) {
               ctx.add(0, reshape(scaled(matmul(a, b), factors.alpha), shape));
             };
             if (ctx.has(0)) ctx.add(0, scaled(broadcast_to(ctx.tangent(0), shape), factors.beta));
             if (ctx.has(1)) part(ctx.tangent(1), ctx.saved(1));
             if (ctx.has(2)) part(ctx.saved(0), ctx.tangent(2));
           });
  }
  return output;
}

void check_batches(const Tensor& batch1, const Tensor& batch2) {
  TSR_CHECK(batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1), Code::kShape,
            "batch2", "expected ", batch1.size(0), " matrices of ", batch1.size(2),
            " rows for a batch1 of shape ", batch1.sizes(), ", got shape ", batch2.sizes());
}

}  // namespace

Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, double beta, double alpha,
             Out out) {
  check_operands(input, mat1, "mat1", mat2, "mat2", 2, 2);
  TSR_CHECK(mat1.size(1) == mat2.size(0), Code::kShape, "mat2", "expected ", mat1.size(1),
            " rows for a mat1 of shape ", mat1.sizes(), ", got shape ", mat2.sizes());
  return add_product("AddmmBackward", input, mat1, mat2, Dims{mat1.size(0), mat2.size(1)},
                     {beta, alpha}, out);
}

Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, double beta, double alpha,
             Out out) {
  check_operands(input, mat, "mat", vec, "vec", 2, 1);
  TSR_CHECK(mat.size(1) == vec.size(0), Code::kShape, "vec", "expected ", mat.size(1),
            " numbers for a mat of shape ", mat.sizes(), ", got ", vec.size(0));
  return add_product("AddmvBackward", input, mat, expand_dims(vec, 1), Dims{mat.size(0)},
                     {beta, alpha}, out);
}

Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, double beta, double alpha,
            Out out) {
  check_operands(input, vec1, "vec1", vec2, "vec2", 1, 1);
  return add_product("AddrBackward", input, expand_dims(vec1, 1), expand_dims(vec2, 0),
                     Dims{vec1.size(0), vec2.size(0)}, {beta, alpha}, out);
}

Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double beta,
               double alpha, Out out) {
  check_operands(input, batch1, "batch1", batch2, "batch2", 3, 3);
  check_batches(batch1, batch2);
  return add_product("BaddbmmBackward", input, batch1, batch2,
                     Dims{batch1.size(0), batch1.size(1), batch2.size(2)}, {beta, alpha}, out);
}

// Σ Aᵢ Bᵢ is one product of all Aᵢ side by side with all Bᵢ one below the other.
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double beta,
              double alpha, Out out) {
  check_operands(input, batch1, "batch1", batch2, "batch2", 3, 3);
  check_batches(batch1, batch2);
  const int64_t inner = checked_numel(Dims{batch1.size(0), batch1.size(2)}, 1);
  const Dims by_rows{1, 0, 2};
  const Tensor wide = reshape(permute_dims(batch1, by_rows), Dims{batch1.size(1), inner});
  const Tensor tall = reshape(batch2, Dims{inner, batch2.size(2)});
  return add_product("AddbmmBackward", input, wide, tall, Dims{batch1.size(1), batch2.size(2)},
                     {beta, alpha}, out);
}

}  // namespace tsr::ops
