// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/lu.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernel/kept_launch.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/sort.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/systems.h"
#include "ops/linalg/triangular.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/arrange.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// ---- Pivots and permutations ----

// Row i of L U is row order[i] of A. pivots: (..., k), the result (..., rows), int64. The swaps
// follow one another, so the host makes them.
Tensor order_of(const Tensor& pivots, int64_t rows) {
  kernel::note_host_decision("the pivots of a factorization");
  const Tensor swaps = contiguous_memory(to(pivots, Device{}, DType::kInt64));
  const int64_t k = swaps.size(swaps.ndim() - 1);
  Dims shape = swaps.sizes();
  shape.back() = rows;
  const Tensor order = empty(shape, DType::kInt64, Device{});
  const int64_t count = k == 0 ? numel_of(shape) / std::max<int64_t>(rows, 1) : swaps.numel() / k;
  for (int64_t b = 0; b < count; ++b) {
    int64_t* rows_of = order.data_as<int64_t>() + b * rows;
    std::iota(rows_of, rows_of + rows, int64_t{0});
    for (int64_t i = 0; i < k; ++i) {
      const int64_t other = swaps.data_as<int64_t>()[b * k + i];
      TSR_CHECK(other >= 1 && other <= rows, Code::kValue, "pivots", "expected rows from 1 to ",
                rows, ", got ", other);
      std::swap(rows_of[i], rows_of[other - 1]);
    }
  }
  return to(order, pivots.device(), std::nullopt);
}

// Rows order[i] of the matrices, for each matrix its own order. Differentiable.
Tensor take_rows(const Tensor& matrices, const Tensor& order) {
  Dims shape = matrices.sizes();
  return gather(matrices, -2, broadcast_to(expand_dims(order, -1), shape));
}

// ---- The parts of the packed factors ----

Tensor lower_part(const Tensor& packed, int64_t k) {
  const Tensor below = tril(narrow(packed, -1, 0, k), -1);
  const int64_t rows = packed.size(packed.ndim() - 2);
  return add(below, eye(rows, k, 0, packed.dtype(), packed.device()));
}

Tensor upper_part(const Tensor& packed, int64_t k) {
  return triu(narrow(packed, -2, 0, k));
}

// From g, the gradient of the packed factors of A (m x n) with k = min(m, n). In the leading k x k
// block gA = L⁻ᴴ [tril(Lᴴ gL, -1) + triu(gU Uᴴ)] U⁻ᴴ; what the other blocks add follows from
// dU₂ = L⁻¹ (dA₂ - dL U₂) and dL₂ = (dA₂ - L₂ dU) U⁻¹.
Tensor packed_gradient(const Tensor& g, const Tensor& packed) {
  const int64_t m = packed.size(packed.ndim() - 2);
  const int64_t n = packed.size(packed.ndim() - 1);
  const int64_t k = std::min(m, n);
  const auto leading = [&](const Tensor& t) { return narrow(narrow(t, -2, 0, k), -1, 0, k); };
  const auto beside = [&](const Tensor& t) { return narrow(narrow(t, -2, 0, k), -1, k, n - k); };
  const auto below = [&](const Tensor& t) { return narrow(narrow(t, -2, k, m - k), -1, 0, k); };
  const Tensor head = leading(packed);
  const Tensor lower_adjoint = adjoint(add(tril(head, -1), identity_like(head)));
  const Tensor upper_adjoint = adjoint(triu(head));
  const Tensor g_head = leading(g);
  Tensor under = matmul(lower_adjoint, tril(g_head, -1));
  Tensor over = matmul(triu(g_head), upper_adjoint);
  if (n > k) under = subtract(under, matmul(beside(g), adjoint(beside(packed))));
  if (m > k) over = subtract(over, matmul(adjoint(below(packed)), below(g)));
  const Tensor core = add(tril(under, -1), triu(over));
  const Tensor left = solve_triangular(lower_adjoint, core, kUpper, kFromLeft, kUnitDiagonal);
  Tensor result = solve_triangular(upper_adjoint, left, kLower, kFromRight);
  if (n > k) {
    const Tensor right =
        solve_triangular(lower_adjoint, beside(g), kUpper, kFromLeft, kUnitDiagonal);
    const Tensor parts[] = {result, right};
    result = ops::concat(parts, -1);
  }
  if (m > k) {
    const Tensor bottom = solve_triangular(upper_adjoint, below(g), kLower, kFromRight);
    const Tensor parts[] = {result, bottom};
    result = ops::concat(parts, -2);
  }
  return result;
}

}  // namespace

std::tuple<Tensor, Tensor> lu_factor(const Tensor& input, Out lu, Out pivots) {
  check_matrices(input, "input");
  check_apart(lu, "lu", pivots, "pivots");
  const bool grad = needs_grad(input);
  const int64_t k = std::min(input.size(input.ndim() - 2), input.size(input.ndim() - 1));
  const Tensor packed = copy_by_columns(input);
  const Tensor swaps = empty(with_batch(input, {k}), DType::kInt32, input.device());
  Factoring factoring(kernel::FactorOp::kLu, input);
  factoring.a = packed;
  factoring.pivots = swaps;
  factoring.run();
  const Tensor first = deliver(packed, lu, grad);
  const Tensor second = deliver(swaps, pivots, false);
  if (grad) {
    record(first, "LuFactorBackward", {input}, {save_output(first), save_input(second)},
           TakesBatches{[](Backward& ctx) {
             const Tensor& factors = ctx.saved(0);
             const Tensor order = order_of(ctx.saved(1), factors.size(factors.ndim() - 2));
             const Tensor g = packed_gradient(ctx.grad(), factors);
             ctx.set(0, take_rows(g, argsort(order)));
           }});
  }
  return {first, second};
}

std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& input, Out p, Out l, Out u) {
  check_apart(p, "p", l, "l");
  check_apart(p, "p", u, "u");
  check_apart(l, "l", u, "u");
  const bool grad = needs_grad(input);
  const auto [packed, pivots] = lu_factor(input);
  const int64_t m = input.size(input.ndim() - 2);
  const int64_t k = std::min(m, input.size(input.ndim() - 1));
  const Tensor order = order_of(pivots, m);
  const Tensor rows = reshape(arange(0, m, 1, DType::kInt64, input.device()), Dims{m, 1});
  const Tensor permutation = astype(equal(rows, expand_dims(order, -2)), input.dtype());
  return {deliver(permutation, p, false), deliver(lower_part(packed, k), l, grad),
          deliver(upper_part(packed, k), u, grad)};
}

// A X = B: X = U⁻¹ L⁻¹ Pᵀ B; Aᴴ X = B: X = P L⁻ᴴ U⁻ᴴ B; X A = B: Aᴴ Xᴴ = Bᴴ.
Tensor lu_solve(const Tensor& input, const Tensor& pivots, const Tensor& other, bool left,
                bool adjoint_system, Out out) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input, other);
  TSR_CHECK(left || other.ndim() >= 2, Code::kShape, "other",
            "expected at least 2 dimensions for a system from the right, got shape ",
            other.sizes());
  if (!left) {
    const Tensor x = lu_solve(input, pivots, adjoint(other), true, !adjoint_system);
    return deliver(adjoint(x), out, grad);
  }
  const System system(input, other, true);
  const int64_t n = input.size(input.ndim() - 1);
  check_row_exchanges(pivots, input);
  Dims per_row = system.b.sizes();
  per_row.erase(per_row.size() - 1);
  const Tensor order = broadcast_to(order_of(pivots, n), per_row);
  if (!adjoint_system) {
    const Tensor y =
        solve_triangular(system.a, take_rows(system.b, order), kLower, kFromLeft, kUnitDiagonal);
    return system.finish(solve_triangular(system.a, y, kUpper), out, grad);
  }
  const Tensor turned = adjoint(system.a);
  const Tensor y = solve_triangular(turned, solve_triangular(turned, system.b, kLower), kUpper,
                                    kFromLeft, kUnitDiagonal);
  return system.finish(take_rows(y, argsort(order)), out, grad);
}

}  // namespace tsr::ops
