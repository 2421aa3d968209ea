// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/qr.h"

#include <algorithm>

#include "autograd/forward.h"
#include "autograd/grad_mode.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/triangular.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/arrange.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

enum class Mode { kReduced, kComplete, kR };

Mode mode_of(std::string_view mode) {
  if (mode == "reduced") return Mode::kReduced;
  if (mode == "complete") return Mode::kComplete;
  TSR_CHECK(mode == "r", Code::kValue, "mode", "expected reduced, complete or r, got ", mode);
  return Mode::kR;
}

struct Factors {
  Tensor q, r;
};

// Without a graph; q has `columns` columns, none is an empty one.
Factors factor(const Tensor& input, int64_t columns) {
  const int64_t m = input.size(input.ndim() - 2);
  const int64_t n = input.size(input.ndim() - 1);
  const Tensor packed = copy_by_columns(input);
  Factors found;
  Factoring factoring(kernel::FactorOp::kQr, input, columns);
  factoring.a = packed;
  if (columns != 0) {
    found.q = empty_columns(with_batch(input, {m, columns}), input.dtype(), input.device());
    factoring.q = found.q;
    // Of a matrix without columns every orthonormal basis is a Q.
    if (n == 0) copy_memory(found.q, eye(m, columns, 0, input.dtype(), input.device()));
  } else {
    found.q = empty(with_batch(input, {m, 0}), input.dtype(), input.device());
  }
  factoring.run();
  const int64_t rows = columns > std::min(m, n) ? m : std::min(m, n);
  const Unrecorded no_grad;
  found.r = triu(narrow(packed, -2, 0, rows));
  return found;
}

// gA = (gQ + Q M) R⁻ᴴ with M = T + Tᴴ, T the lower triangle of (gR Rᴴ - Qᴴ gQ)ᴴ with half its
// diagonal (S. Walter, L. Lehmann, Algorithmic differentiation of linear algebra functions, 2010,
// section 3; H. Liao et al., Differentiable programming tensor networks, 2019, appendix). R is
// square.
Tensor square_gradient(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  const Tensor y = subtract(matmul(gr, adjoint(r)), matmul(adjoint(q), gq));
  const Tensor t = tril_half(adjoint(y));
  const Tensor w = add(gq, matmul(q, add(t, adjoint(t))));
  return solve_triangular(adjoint(r), w, kLower, kFromRight);
}

// A wide A = [X Y] has X = Q U and Y = Q V with R = [U V], so gY = Q gV, and Y adds Q V gVᴴ to gQ.
Tensor qr_gradient(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  const int64_t k = r.size(r.ndim() - 2);
  const int64_t rest = r.size(r.ndim() - 1) - k;
  if (rest == 0) return square_gradient(gq, gr, q, r);
  const Tensor gv = narrow(gr, -1, k, rest);
  const Tensor more = matmul(q, matmul(narrow(r, -1, k, rest), adjoint(gv)));
  const Tensor gx = square_gradient(add(gq, more), narrow(gr, -1, 0, k), q, narrow(r, -1, 0, k));
  const Tensor parts[] = {gx, matmul(q, gv)};
  return ops::concat(parts, -1);
}

}  // namespace

std::tuple<Tensor, Tensor> qr(const Tensor& input, std::string_view mode, Out q, Out r) {
  check_matrices(input, "input");
  const Mode wanted = mode_of(mode);
  check_apart(q, "q", r, "r");
  const bool grad = needs_grad(input);
  const int64_t m = input.size(input.ndim() - 2);
  const int64_t k = std::min(m, input.size(input.ndim() - 1));
  // The derivative of R needs Q.
  const int64_t columns = wanted == Mode::kComplete ? m : wanted == Mode::kR && !grad ? 0 : k;
  const Factors found = factor(input, columns);
  const Tensor first = deliver(found.q, q, grad);
  const Tensor second = deliver(found.r, r, grad);
  if (grad) {
    record_outputs({first, second}, "QrBackward", {input},
                   {save_output(first), save_output(second)},
                   TakesBatches{[defined = columns == k](Backward& ctx) {
                     TSR_CHECK(defined, Code::kAutograd, nullptr,
                               "expected the mode reduced or r for a derivative of tall matrices, "
                               "got complete, whose last columns are not determined");
                     ctx.set(0, qr_gradient(ctx.grad_or_zeros(0), ctx.grad_or_zeros(1),
                                            ctx.saved(0), ctx.saved(1)));
                   }});
  }
  if (wanted != Mode::kR) return {first, second};
  return {empty(Dims{0}, input.dtype(), input.device()), second};
}

std::tuple<Tensor, Tensor> geqrf(const Tensor& input, Out a, Out tau) {
  check_matrices(input, "input");
  TSR_CHECK(!needs_grad(input), Code::kNotImplemented, "input",
            "geqrf has no derivative; expected matrices that require no grad, or qr");
  check_apart(a, "a", tau, "tau");
  const int64_t k = std::min(input.size(input.ndim() - 2), input.size(input.ndim() - 1));
  Factoring factoring(kernel::FactorOp::kQr, input);
  factoring.a = copy_by_columns(input);
  factoring.values = empty(with_batch(input, {k}), input.dtype(), input.device());
  factoring.run();
  return {deliver(factoring.a, a, false), deliver(factoring.values, tau, false)};
}

// The product is I - V T Vᴴ (R. Schreiber, C. Van Loan, A storage-efficient WY representation for
// products of Householder transformations, 1989). With D = diag(tau) and S the part of Vᴴ V above
// its diagonal, T = (I + D S)⁻¹ D, which also serves where some tau is 0.
Tensor householder_product(const Tensor& input, const Tensor& tau, Out out) {
  check_matrices(input, "input");
  check_same_device(input, tau, "tau");
  const int64_t m = input.size(input.ndim() - 2);
  const int64_t n = input.size(input.ndim() - 1);
  TSR_CHECK(tau.dtype() == input.dtype(), Code::kDType, "tau", "expected ", input.dtype(),
            " as the matrices, got ", tau.dtype());
  TSR_CHECK(n <= m, Code::kShape, "input", "expected at most as many columns as rows, got shape ",
            input.sizes());
  const int64_t k = tau.ndim() == 0 ? -1 : tau.size(tau.ndim() - 1);
  TSR_CHECK(k >= 0 && k <= n && with_batch(input, {k}) == tau.sizes(), Code::kShape, "tau",
            "expected up to ", n, " numbers for each of the matrices of shape ", input.sizes(),
            ", got shape ", tau.sizes());
  const bool grad = needs_grad(input, tau);
  const Tensor start = eye(m, n, 0, input.dtype(), input.device());
  const Tensor v = add(tril(narrow(input, -1, 0, k), -1), narrow(start, -1, 0, k));
  const Tensor v_adjoint = adjoint(v);
  const Tensor scales = expand_dims(tau, -1);
  const Tensor s = triu(matmul(v_adjoint, v), 1);
  const Tensor right = multiply(scales, matmul(v_adjoint, start));
  const Tensor t = solve_triangular(multiply(scales, s), right, kUpper, kFromLeft, kUnitDiagonal);
  return deliver(subtract(start, matmul(v, t)), out, grad);
}

}  // namespace tsr::ops
