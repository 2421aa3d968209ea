// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/solve.h"

#include <limits>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/systems.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::FactorOp;

// X = A⁻¹ B: gB = A⁻ᴴ gX, gA = - gB Xᴴ (M. Giles, Collected matrix derivative results for forward
// and reverse mode algorithmic differentiation, 2008, section 2.2.3).
Tensor solve_stack(const Tensor& a, const Tensor& b, const Out& out = {}) {
  const bool grad = needs_grad(a, b);
  Result result = allocate_apart(out, b.sizes(), b.dtype(), b.device(), grad, {&a, &b}, true);
  copy_memory(result.value(), b);
  // The factors are made once for each right-hand side, because they share no memory.
  Dims full = batch_of(b);
  full.push_back(a.size(a.ndim() - 2));
  full.push_back(a.size(a.ndim() - 1));
  const Tensor factors = empty(full, a.dtype(), a.device());
  copy_memory(factors, a);
  const Tensor pivots =
      empty(Dims{batch_count(b), a.size(a.ndim() - 1)}, DType::kInt32, a.device());
  Factoring factoring(FactorOp::kSolve, factors, b.size(b.ndim() - 1));
  factoring.a = factors;
  factoring.b = result.value();
  factoring.pivots = pivots;
  factoring.run();
  factoring.check_invertible("input");
  Tensor output = result.finish();
  if (grad) {
    record(output, "SolveBackward", {a, b}, {save_input(a), save_output(output)},
           TakesBatches{[](Backward& ctx) {
             const Tensor gb = solve_stack(adjoint(ctx.saved(0)), ctx.grad());
             if (ctx.needs(1)) ctx.set(1, gb);
             if (ctx.needs(0)) ctx.set(0, negative(matmul(gb, adjoint(ctx.saved(1)))));
           }});
  }
  return output;
}

// gA = - A⁻ᴴ g A⁻ᴴ. With `check`, a singular matrix throws; else its inverse is all infinity.
Tensor invert(const Tensor& input, bool check, const Out& out = {}) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input);
  Result result =
      allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad, {&input}, true);
  copy_memory(result.value(), input);
  const Tensor pivots =
      empty(Dims{batch_count(input), input.size(input.ndim() - 1)}, DType::kInt32, input.device());
  Factoring factoring(FactorOp::kInverse, input);
  factoring.a = result.value();
  factoring.pivots = pivots;
  factoring.run();
  if (check) {
    factoring.check_invertible("input");
  } else if (factoring.first_failure() >= 0) {
    const Dims stack{factoring.plan.batch, factoring.plan.a_step};
    const Tensor all =
        make_view(result.value(), stack, contiguous_strides(stack), result.value().offset());
    for (int64_t i = 0; i < factoring.plan.batch; ++i) {
      if (factoring.status_of(i) != 0)
        fill_memory(select_memory(all, 0, i), std::numeric_limits<double>::infinity());
    }
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, "InvBackward", {input}, {save_output(output)}, TakesBatches{[](Backward& ctx) {
             const Tensor turned = adjoint(ctx.saved(0));
             ctx.set(0, negative(matmul(turned, matmul(ctx.grad(), turned))));
           }});
  }
  return output;
}

}  // namespace

Tensor solve(const Tensor& input, const Tensor& other, bool left, Out out) {
  check_square_matrices(input, "input");
  const System system(input, other, left);
  const bool grad = needs_grad(input, other);
  return system.finish(solve_stack(system.a, system.b), out, grad);
}

Tensor inv(const Tensor& input, Out out) {
  return invert(input, true, out);
}

Tensor inverse_or_infinity(const Tensor& input) {
  return invert(input, false);
}

}  // namespace tsr::ops
