// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/lstsq.h"

#include <algorithm>
#include <array>

#include "autograd/forward.h"
#include "autograd/grad_mode.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/svd.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

struct Problem {
  Tensor a, b;  // of one batch
  bool column;  // b was 1-D

  Problem(const Tensor& input, const Tensor& other) : column(other.ndim() == 1) {
    check_like(other, "other", input);
    const Tensor sides = column ? expand_dims(other, -1) : other;
    const int64_t m = input.size(input.ndim() - 2);
    TSR_CHECK(sides.ndim() >= 2 && sides.size(sides.ndim() - 2) == m, Code::kShape, "other",
              "expected ", m, " rows for matrices of shape ", input.sizes(), ", got shape ",
              other.sizes());
    const Dims batch = broadcast_shapes(batch_of(input), batch_of(sides), "other");
    const auto spread = [&](const Tensor& matrices) {
      Dims sizes = batch;
      sizes.push_back(matrices.size(matrices.ndim() - 2));
      sizes.push_back(matrices.size(matrices.ndim() - 1));
      return sizes == matrices.sizes() ? matrices : broadcast_to(matrices, sizes);
    };
    a = spread(input);
    b = spread(sides);
  }

  [[nodiscard]] Tensor as_given(const Tensor& x) const { return column ? squeeze(x, Dims{-1}) : x; }
};

struct Found {
  Tensor solution, rank;
  Tensor values;  // undefined unless they were wanted
};

// Without a graph.
Found least_squares(const Tensor& a, const Tensor& b, double rcond, bool with_values) {
  const int64_t m = a.size(a.ndim() - 2);
  const int64_t n = a.size(a.ndim() - 1);
  const int64_t k = b.size(b.ndim() - 1);
  const Tensor scratch = copy_by_columns(a);
  const Tensor sides = empty_columns(with_batch(b, {std::max(m, n), k}), b.dtype(), b.device());
  fill_memory(sides, 0);
  copy_memory(narrow_memory(sides, sides.ndim() - 2, 0, m), b);
  Found found;
  if (with_values)
    found.values = empty(with_batch(a, {std::min(m, n)}), real_dtype(a.dtype()), a.device());
  const Tensor rank = empty(batch_of(a), DType::kInt32, a.device());
  fill_memory(rank, 0);
  Factoring factoring(kernel::FactorOp::kLeastSquares, a, k);
  factoring.a = scratch;
  factoring.b = sides;
  factoring.values = found.values;
  factoring.pivots = rank;
  factoring.plan.tolerance = rcond;
  factoring.run();
  factoring.check_converged("input");
  // Without equations the least solution is 0.
  if (m == 0) fill_memory(sides, 0);
  found.solution = narrow_memory(sides, sides.ndim() - 2, 0, n);
  found.rank = cast_memory(rank, DType::kInt64);
  return found;
}

// |A X - B|² by columns, where there is such a thing.
Tensor residuals_of(const Problem& problem, const Found& found) {
  const Unrecorded no_grad;
  const int64_t m = problem.a.size(problem.a.ndim() - 2);
  const int64_t n = problem.a.size(problem.a.ndim() - 1);
  const DType real = real_dtype(problem.a.dtype());
  const bool determined = m > n && read<bool>(all(equal(found.rank, n)));
  if (!determined) return empty(Dims{0}, real, problem.a.device());
  const Tensor misses = subtract(matmul(problem.a, found.solution), problem.b);
  const Tensor sums = sum(square(abs(misses)), DimsView(Dims{-2}));
  return problem.column ? squeeze(sums, Dims{-1}) : sums;
}

// X = A⁺ B: gB = A⁺ᴴ gX, and gA from gX Bᴴ, the gradient of A⁺.
Tensor recorded(const Problem& problem, const Tensor& x, double share) {
  record(x, "LstsqBackward", {problem.a, problem.b}, {save_input(problem.a), save_input(problem.b)},
         TakesBatches{[share](Backward& ctx) {
           const Tensor inverse = pinv(ctx.saved(0), share);
           if (ctx.needs(1)) ctx.set(1, matmul(adjoint(inverse), ctx.grad()));
           if (!ctx.needs(0)) return;
           const Tensor g = matmul(ctx.grad(), adjoint(ctx.saved(1)));
           ctx.set(0, pinv_gradient(g, inverse, ctx.saved(0)));
         }});
  return x;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& input, const Tensor& other,
                                                 std::optional<double> rcond, Out solution,
                                                 Out residuals, Out rank, Out singular_values) {
  check_matrices(input, "input");
  const std::array<const Out*, 4> outs{&solution, &residuals, &rank, &singular_values};
  const std::array<const char*, 4> names{"solution", "residuals", "rank", "singular_values"};
  for (size_t i = 0; i < outs.size(); ++i) {
    for (size_t j = i + 1; j < outs.size(); ++j)
      check_apart(*outs[i], names[i], *outs[j], names[j]);
  }
  const Problem problem(input, other);
  const bool grad = needs_grad(problem.a, problem.b);
  const double share = rcond.value_or(default_rtol(input));
  const Found found = least_squares(problem.a, problem.b, share, true);
  const Tensor left_over = residuals_of(problem, found);
  const Tensor x = grad ? recorded(problem, found.solution, share) : found.solution;
  return {deliver(problem.as_given(x), solution, grad), deliver(left_over, residuals, false),
          deliver(found.rank, rank, false), deliver(found.values, singular_values, false)};
}

std::tuple<Tensor, Tensor> lstsq_solution(const Tensor& input, const Tensor& other,
                                          std::optional<double> rcond, Out solution, Out rank) {
  check_matrices(input, "input");
  check_apart(solution, "solution", rank, "rank");
  const Problem problem(input, other);
  const bool grad = needs_grad(problem.a, problem.b);
  const double share = rcond.value_or(default_rtol(input));
  const Found found = least_squares(problem.a, problem.b, share, false);
  const Tensor x = grad ? recorded(problem, found.solution, share) : found.solution;
  return {deliver(problem.as_given(x), solution, grad), deliver(found.rank, rank, false)};
}

}  // namespace tsr::ops
