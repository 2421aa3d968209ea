// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/solve.h"

#include <limits>

#include "autograd/forward.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/lu.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/systems.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::FactorOp;

// A = P L U, as lu_factor has it.
struct PackedLu {
  Tensor packed, pivots;
};
PackedLu factors_of(const Tensor& a) {
  const PackedLu factors{copy_by_columns(a),
                         empty(with_batch(a, {a.size(a.ndim() - 1)}), DType::kInt32, a.device())};
  Factoring factoring(FactorOp::kLu, a);
  factoring.a = factors.packed;
  factoring.pivots = factors.pivots;
  factoring.run();
  factoring.check_invertible("input");
  return factors;
}

// X = A⁻¹ B, or A⁻ᴴ B when `turned`. With M for A or Aᴴ: gB = M⁻ᴴ gX, gM = - gB Xᴴ (M. Giles,
// Collected matrix derivative results for forward and reverse mode algorithmic differentiation,
// 2008, section 2.2.3). All derivatives use the same factors: those of Aᴴ would cost as much again,
// and could have a zero as a pivot where rounding has left none in those of A.
Tensor solve_by(const PackedLu& factors, const Tensor& a, const Tensor& b, bool turned) {
  const bool grad = needs_grad(a, b);
  Tensor output;
  {
    const Unrecorded no_grad;
    output = lu_solve(factors.packed, factors.pivots, b, true, turned);
  }
  if (grad) {
    record(output, "SolveBackward", {a, b},
           {save_input(a), save_output(output), save_input(factors.packed),
            save_input(factors.pivots)},
           TakesBatches{[turned](Backward& ctx) {
             const PackedLu same{ctx.saved(2), ctx.saved(3)};
             const Tensor gb = solve_by(same, ctx.saved(0), ctx.grad(), !turned);
             if (ctx.needs(1)) ctx.set(1, gb);
             if (!ctx.needs(0)) return;
             const Tensor& x = ctx.saved(1);
             ctx.set(0, negative(turned ? matmul(x, adjoint(gb)) : matmul(gb, adjoint(x))));
           }});
  }
  return output;
}

// Outside any graph: one launch, which keeps no factors.
Tensor solve_once(const Tensor& a, const Tensor& b) {
  const Tensor output = copy_by_rows(b);
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
  factoring.b = output;
  factoring.pivots = pivots;
  factoring.run();
  factoring.check_invertible("input");
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
  const Tensor x = needs_grad(system.a, system.b)
                       ? solve_by(factors_of(system.a), system.a, system.b, false)
                       : solve_once(system.a, system.b);
  return system.finish(x, out, grad);
}

Tensor inv(const Tensor& input, Out out) {
  return invert(input, true, out);
}

Tensor inverse_or_infinity(const Tensor& input) {
  return invert(input, false);
}

}  // namespace tsr::ops
