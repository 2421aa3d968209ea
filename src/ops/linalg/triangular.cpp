// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/triangular.h"

#include <algorithm>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/systems.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/samples.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::FactorOp;

struct Triangle {
  bool upper, unit;
};

// A as the kernel reads it: by rows or by columns, whichever it is.
struct Packed {
  Tensor memory;
  bool by_columns;
};
Packed packed(const Tensor& a) {
  if (a.is_contiguous()) return {a, false};
  Dims sizes = a.sizes();
  Dims strides = a.strides();
  std::swap(sizes[sizes.size() - 2], sizes.back());
  std::swap(strides[strides.size() - 2], strides.back());
  if (is_contiguous(sizes, strides)) return {a, true};
  return {contiguous_memory(a), false};
}

// X = A⁻¹ B for stacks of matrices; A has the batch of B, or is one matrix. gB = A⁻ᴴ gX and
// gA = - gB Xᴴ, of which the triangle counts (M. Giles, Collected matrix derivative results for
// forward and reverse mode algorithmic differentiation, 2008, section 2.2.3).
Tensor solve_stack(const Tensor& a, const Tensor& b, Triangle kind, const Out& out = {}) {
  const bool grad = needs_grad(a, b);
  Result result = allocate_apart(out, b.sizes(), b.dtype(), b.device(), grad, {&a, &b}, true);
  copy_memory(result.value(), b);
  const Packed matrix = packed(a);
  Factoring factoring(FactorOp::kTriangularSolve, a, b.size(b.ndim() - 1), batch_count(b));
  kernel::FactorPlan& plan = factoring.plan;
  factoring.a = matrix.memory;
  plan.a_step = batch_count(a) == 1 ? 0 : plan.a_step;
  plan.transposed = matrix.by_columns ? 1 : 0;
  plan.upper = kind.upper ? 1 : 0;
  plan.unit = kind.unit ? 1 : 0;
  factoring.b = result.value();
  factoring.run();
  Tensor output = result.finish();
  if (grad) {
    record(output, "SolveTriangularBackward", {a, b}, {save_input(a), save_output(output)},
           TakesBatches{[kind](Backward& ctx) {
             const Tensor one = adjoint(ctx.saved(0));
             // One matrix serves all samples as it is.
             const Tensor turned = batch_count(one) == 1 ? one : for_samples(ctx, one);
             const Tensor gb = solve_stack(turned, ctx.grad(), {!kind.upper, kind.unit});
             if (ctx.needs(1)) ctx.set(1, gb);
             if (!ctx.needs(0)) return;
             const Tensor ga = negative(matmul(gb, adjoint(ctx.saved(1))));
             const int64_t first = kind.unit ? 1 : 0;
             ctx.set(0, kind.upper ? triu(ga, first) : tril(ga, -first));
           }});
  }
  return output;
}

}  // namespace

Tensor tril_half(const Tensor& input) {
  const int64_t n = input.size(input.ndim() - 1);
  const Tensor diagonal = eye(n, {}, 0, real_dtype(input.dtype()), input.device());
  const Tensor weight =
      subtract(tril(ones(Dims{n, n}, diagonal.dtype(), input.device())), multiply(diagonal, 0.5));
  return multiply(tril(input), weight);
}

Tensor identity_like(const Tensor& input) {
  return eye(input.size(input.ndim() - 1), {}, 0, input.dtype(), input.device());
}

// gA = ½ L⁻ᴴ (Φ + Φᴴ) L⁻¹, Φ the lower triangle of Lᴴ gL with half its diagonal (I. Murray,
// Differentiation of the Cholesky decomposition, 2016, section 3).
Tensor cholesky(const Tensor& input, bool upper, Out out) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input);
  Result result =
      allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad, {&input}, true);
  copy_memory(result.value(), input);
  Factoring factoring(FactorOp::kCholesky, input);
  factoring.a = result.value();
  factoring.plan.upper = upper ? 1 : 0;
  factoring.run();
  factoring.check_positive_definite("input");
  Tensor output = result.finish();
  if (grad) {
    record(output, "CholeskyBackward", {input}, {save_output(output)},
           TakesBatches{[upper](Backward& ctx) {
             const Tensor l = upper ? adjoint(ctx.saved(0)) : ctx.saved(0);
             const Tensor g = upper ? adjoint(ctx.grad()) : ctx.grad();
             const Tensor lh = for_samples(ctx, adjoint(l));
             const Tensor phi = tril_half(matmul(lh, g));
             const Tensor half = multiply(add(phi, adjoint(phi)), 0.5);
             const Tensor left = solve_stack(lh, half, {true, false});
             ctx.set(0, adjoint(solve_stack(lh, adjoint(left), {true, false})));
           }});
  }
  return output;
}

Tensor solve_triangular(const Tensor& input, const Tensor& other, bool upper, bool left,
                        bool unitriangular, Out out) {
  check_square_matrices(input, "input");
  const System system(input, other, left);
  const bool grad = needs_grad(input, other);
  const Triangle kind{upper != system.turned, unitriangular};
  return system.finish(solve_stack(system.a, system.b, kind), out, grad);
}

Tensor cholesky_solve(const Tensor& input, const Tensor& factor, bool upper, Out out) {
  check_square_matrices(factor, "factor");
  const bool grad = needs_grad(input, factor);
  const Tensor turned = adjoint(factor);
  const Tensor& lower = upper ? turned : factor;
  const Tensor& above = upper ? factor : turned;
  const Tensor half = solve_triangular(lower, input, kLower);
  return deliver(solve_triangular(above, half, kUpper), out, grad);
}

Tensor cholesky_inverse(const Tensor& input, bool upper, Out out) {
  check_square_matrices(input, "input");
  const Tensor identity = broadcast_to(identity_like(input), input.sizes());
  return cholesky_solve(identity, input, upper, out);
}

}  // namespace tsr::ops
