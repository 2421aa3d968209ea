// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/linalg.h"

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_numeric(const Tensor& input) {
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
}

void check_rank(const Tensor& input, int64_t rank) {
  TSR_CHECK(input.ndim() == rank, Code::kShape, "input", "expected ", rank,
            rank == 1 ? " dimension, got shape " : " dimensions, got shape ", input.sizes());
}

void check_vectors(const Tensor& input, const Tensor& other) {
  check_rank(input, 1);
  check_like(other, "other", input, 1);
  TSR_CHECK(other.size(0) == input.size(0), Code::kShape, "other", "expected ", input.size(0),
            " numbers, got ", other.size(0));
}

void check_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_numeric(input);
  TSR_CHECK(input.ndim() >= 1, Code::kShape, "input", "expected at least 1 dimension, got shape ",
            input.sizes());
  check_same_device(input, weight, "weight");
  // The weight of a layer is given, so an error names the input.
  TSR_CHECK(weight.dtype() == input.dtype(), Code::kDType, "input", "expected ", weight.dtype(),
            " as the weight, got ", input.dtype(), "; cast one to the other's dtype");
  check_like(weight, "weight", input, 2);
  TSR_CHECK(weight.size(1) == input.size(input.ndim() - 1), Code::kShape, "input", "expected ",
            weight.size(1), " numbers along the last axis for a weight of shape ", weight.sizes(),
            ", got shape ", input.sizes());
  if (!bias.defined()) return;
  check_like(bias, "bias", input, 1);
  TSR_CHECK(bias.size(0) == weight.size(0), Code::kShape, "bias", "expected ", weight.size(0),
            " numbers for a weight of shape ", weight.sizes(), ", got shape ", bias.sizes());
}

// Merges all dims but the last, without a node.
Tensor rows_of(const Tensor& input) {
  const Tensor dense = contiguous_memory(input);
  const int64_t columns = input.size(input.ndim() - 1);
  const int64_t rows = columns == 0
                           ? numel_of(DimsView(input.sizes().data(), input.sizes().size() - 1))
                           : input.numel() / columns;
  const Dims shape{rows, columns};
  return make_view(dense, shape, contiguous_strides(shape), dense.offset());
}

// Whether the device has a kernel for whole layers that takes these: a weight and a bias, or the
// gradients of a weight and of a bias.
bool has_layer_kernel(const Tensor& weight, const Tensor& bias) {
  return bias.defined() && !weight.device().is_cpu() && is_floating(weight.dtype()) &&
         weight.is_contiguous() && bias.is_contiguous() && weight.numel() != 0 &&
         kernel::backend_for(weight.device()).kernels->linear != nullptr;
}

// All are dense; `input` and `output` have two dims.
void launch_layer(kernel::LinearPass pass, const Tensor& input, const Tensor& weight,
                  const Tensor& bias, const Tensor& output) {
  kernel::LinearPlan plan{};
  plan.pass = pass;
  plan.dtype = weight.dtype();
  plan.precision = kernel::g_matmul_precision.load(std::memory_order_relaxed);
  plan.rows = input.size(0);
  plan.inner = input.size(1);
  plan.columns = weight.size(0);
  plan.place = kernel::place_on(weight.device());
  plan.input = input.data();
  plan.weight = weight.data();
  plan.bias = bias.data();
  plan.output = output.data();
  kernel::launch(kernel::kLinear, weight.device(), plan);
}

void launch_linear(const Tensor& result, const Tensor& input, const Tensor& weight,
                   const Tensor& bias) {
  if (result.numel() == 0) return;
  const Tensor target = rows_of(result);
  if (has_layer_kernel(weight, bias))
    return launch_layer(kernel::LinearPass::kForward, rows_of(input), weight, bias, target);
  const Tensor columns = make_view(weight, Dims{weight.size(1), weight.size(0)},
                                   Dims{weight.stride(1), weight.stride(0)}, weight.offset());
  // The product adds to the bias, so that the bias needs no pass of its own.
  if (bias.defined()) copy_memory(target, bias);
  launch_gemm(target, rows_of(input), columns, 1, bias.defined() ? 1 : 0);
}

// As rows_of, but differentiable.
Tensor flat(const Tensor& input) {
  if (input.ndim() == 2) return input;
  const int64_t columns = input.size(input.ndim() - 1);
  return reshape(input,
                 Dims{numel_of(DimsView(input.sizes().data(), input.sizes().size() - 1)), columns});
}

// The gradients of weight and bias in one kernel, without history; undefined if there is none.
struct LayerGradients {
  Tensor weight, bias;
};
LayerGradients layer_gradients(const Tensor& rows, const Tensor& input) {
  if (rows.numel() == 0 || needs_grad(rows, input)) return {};
  LayerGradients found{
      empty(Dims{rows.size(1), input.size(input.ndim() - 1)}, rows.dtype(), rows.device()),
      empty(Dims{rows.size(1)}, rows.dtype(), rows.device())};
  if (!has_layer_kernel(found.weight, found.bias)) return {};
  launch_layer(kernel::LinearPass::kBackwardWeight, rows_of(input), found.weight, found.bias,
               rows_of(rows));
  return found;
}

// The gradients of a batched backward as (samples, rows, columns).
Tensor samples_of(const Backward& ctx, const Tensor& rows) {
  return reshape(rows, Dims{ctx.samples(), rows.size(0) / ctx.samples(), rows.size(1)});
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
           TakesBatches{[shape = input.sizes()](Backward& ctx) {
             const Tensor rows = flat(ctx.grad());
             const bool conjugate = is_complex(rows.dtype());
             if (ctx.needs(0)) {
               const Tensor w = conjugate ? conj(ctx.saved(1)) : ctx.saved(1);
               ctx.set(0, reshape(matmul(rows, w), ctx.batched(shape)));
             }
             if (!ctx.needs(1) && !ctx.needs(2)) return;
             if (ctx.lead() == 0 && ctx.needs(1) && ctx.needs(2) && !rows.device().is_cpu()) {
               const LayerGradients found = layer_gradients(rows, ctx.saved(0));
               if (found.weight.defined()) {
                 ctx.set(1, found.weight);
                 return ctx.set(2, found.bias);
               }
             }
             // The rows of each sample by themselves.
             const Tensor g = ctx.lead() == 0 ? rows : samples_of(ctx, rows);
             if (ctx.needs(1)) {
               const Tensor x = conjugate ? conj(ctx.saved(0)) : ctx.saved(0);
               ctx.set(1, matmul(matrix_transpose(g), flat(x)));
             }
             const Dims along{-2};
             if (ctx.needs(2)) ctx.set(2, sum(g, DimsView(along)));
           }},
           [&](Forward& ctx) {
             if (ctx.has(0)) ctx.add(0, linear(ctx.tangent(0), weight, ctx.tangent(2)));
             if (ctx.has(1)) {
               ctx.add(0, linear(input, ctx.tangent(1), ctx.has(0) ? none : ctx.tangent(2)));
             }
             if (!ctx.has(0) && !ctx.has(1)) ctx.add(0, ctx.tangent(2));
           });
  }
  return output;
}

Tensor mm(const Tensor& input, const Tensor& other, Out out) {
  check_rank(input, 2);
  check_like(other, "other", input, 2);
  return matmul(input, other, out);
}

Tensor mv(const Tensor& input, const Tensor& other, Out out) {
  check_rank(input, 2);
  check_like(other, "other", input, 1);
  return matmul(input, other, out);
}

Tensor bmm(const Tensor& input, const Tensor& other, Out out) {
  check_rank(input, 3);
  check_like(other, "other", input, 3);
  TSR_CHECK(other.size(0) == input.size(0) && other.size(1) == input.size(2), Code::kShape, "other",
            "expected ", input.size(0), " matrices of ", input.size(2),
            " rows for an input of shape ", input.sizes(), ", got shape ", other.sizes());
  return matmul(input, other, out);
}

Tensor dot(const Tensor& input, const Tensor& other, Out out) {
  check_vectors(input, other);
  return matmul(input, other, out);
}

Tensor vdot(const Tensor& input, const Tensor& other, Out out) {
  check_vectors(input, other);
  if (!is_complex(input.dtype()) || needs_grad(input, other))
    return matmul(conj_of(input), other, out);
  // Nothing is recorded, so the product itself conjugates, and no copy is made.
  Result result =
      allocate_apart(out, Dims(), input.dtype(), input.device(), false, {&input, &other}, true);
  const auto as_matrix = [](const Tensor& vector, int64_t rows, int64_t columns) {
    return reshape(vector.detached(), Dims{rows, columns});
  };
  const int64_t count = input.numel();
  launch_gemm(as_matrix(result.value(), 1, 1), as_matrix(input, 1, count),
              as_matrix(other, count, 1), 1, 0, true);
  return result.finish();
}

Tensor outer(const Tensor& input, const Tensor& other, Out out) {
  TSR_CHECK(input.ndim() == 1, Code::kShape, "input", "expected 1 dimension, got shape ",
            input.sizes());
  TSR_CHECK(other.ndim() == 1, Code::kShape, "other", "expected 1 dimension, got shape ",
            other.sizes());
  return multiply(reshape(input, Dims{input.size(0), 1}), other, out);
}

}  // namespace tsr::ops
