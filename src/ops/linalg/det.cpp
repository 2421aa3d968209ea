// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Determinants: from the factors P L U, the product of the diagonal of U and the sign of P.
#include <complex>

#include "autograd/forward.h"
#include "autograd/grad_mode.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/lu.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/solve.h"
#include "ops/linalg/svd.h"
#include "ops/linalg/triangular.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// Outside any graph: the diagonal of U and the sign of P, of the batch's shape and the input's
// dtype.
struct Diagonal {
  Tensor entries, sign;
};
Diagonal lu_diagonal(const Tensor& input) {
  const Unrecorded no_grad;
  const auto [factors, pivots] = lu_factor(input);
  const int64_t n = input.size(input.ndim() - 1);
  const Tensor in_place = arange(1, n + 1, 1, DType::kInt32, input.device());
  const Tensor swaps = sum(not_equal(pivots, in_place), DimsView(Dims{-1}));
  const Tensor odd = not_equal(remainder(swaps, 2), 0);
  const Tensor one = ones(batch_of(input), input.dtype(), input.device());
  return {diagonal(factors, 0, -2, -1), where(odd, negative(one), one)};
}

// A scalar for each matrix, to be multiplied with the matrices.
Tensor over_matrices(const Tensor& scalars) {
  return expand_dims(expand_dims(scalars, -1), -1);
}

// conj(det A) A⁻ᴴ where A may be singular: with A = U S Vᴴ that is conj(det U det Vᴴ) U C Vᴴ, C the
// products of all singular values but one. Outside any graph.
Tensor cofactors_by_svd(const Tensor& input) {
  const auto [u, s, vh] = svd(input, true);
  const int64_t n = input.size(input.ndim() - 1);
  const Tensor on_diagonal = eye(n, {}, 0, DType::kBool, input.device());
  const Tensor products = prod(where(on_diagonal, 1.0, expand_dims(s, -2)), DimsView(Dims{-1}));
  const Tensor phase = conj(multiply(det(u), det(vh)));
  const Tensor core = matmul(multiply(u, expand_dims(products, -2)), vh);
  return multiply(core, over_matrices(phase));
}

// As many rows have cofactors as polynomials; with more, too many digits cancel.
constexpr int64_t kMostOfPolynomials = 8;

// The adjugate, whose elements are polynomials of those of A, so that it has derivatives of every
// order where A has no inverse (Faddeev and LeVerrier: M₁ = 1, Mₖ₊₁ = A Mₖ - tr(A Mₖ)/k).
Tensor adjugate(const Tensor& a) {
  const int64_t n = a.size(a.ndim() - 1);
  const Tensor one = identity_like(a);
  Tensor m = broadcast_to(one, a.sizes());
  for (int64_t k = 1; k < n; ++k) {
    const Tensor product = matmul(a, m);
    const Tensor trace = sum(diagonal(product, 0, -2, -1), DimsView(Dims{-1}));
    const Tensor share = multiply(trace, 1.0 / static_cast<double>(k));
    m = subtract(product, multiply(over_matrices(share), one));
  }
  return n % 2 == 0 ? negative(m) : m;
}

bool any_zero(const Tensor& determinants) {
  return read<bool>(any(equal(determinants, 0)));
}

// g conj(det) A⁻ᴴ (M. Giles, Collected matrix derivative results for forward and reverse mode
// algorithmic differentiation, 2008, section 2.2.4). Of a singular matrix with more than
// kMostOfPolynomials rows a derivative that is to be differentiated again is NaN.
Tensor det_gradient(const Tensor& g, const Tensor& input, const Tensor& determinant,
                    bool create_graph) {
  const bool as_polynomials = create_graph && input.size(input.ndim() - 1) <= kMostOfPolynomials;
  const bool singular = (!create_graph || as_polynomials) && any_zero(determinant);
  if (singular && !create_graph) {
    const Unrecorded no_grad;
    return multiply(over_matrices(g), cofactors_by_svd(input));
  }
  const Tensor scale = over_matrices(multiply(g, conj_of(determinant)));
  if (!singular) return multiply(scale, adjoint(inverse_or_infinity(input)));
  // Each formula sees harmless matrices in place of those of the other one.
  const Tensor zero = over_matrices(equal(determinant, 0));
  const Tensor inverse = inverse_or_infinity(where(zero, identity_like(input), input));
  const Tensor cofactors = multiply(over_matrices(g), adjoint(adjugate(where(zero, input, 0))));
  return where(zero, cofactors, multiply(scale, adjoint(inverse)));
}

// What stands before A⁻ᴴ: log|det| moves with Re tr(A⁻¹ dA), a complex sign with sign · i Im of it;
// a real sign is constant.
Tensor slogdet_factor(const Tensor& g_sign, const Tensor& g_log, const Tensor& phase) {
  if (!is_complex(phase.dtype())) return g_log.defined() ? g_log : zeros_of(g_sign);
  if (!g_sign.defined()) return g_log;
  const Tensor turn =
      multiply(imag(multiply(conj(g_sign), phase)), Scalar(std::complex<double>(0, -1)));
  return g_log.defined() ? add(g_log, turn) : turn;
}

}  // namespace

Tensor det(const Tensor& input, Out out) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input);
  const Diagonal diagonal = lu_diagonal(input);
  Tensor value;
  {
    const Unrecorded no_grad;
    value = multiply(prod(diagonal.entries, DimsView(Dims{-1})), diagonal.sign);
  }
  Tensor output = deliver(value, out, grad);
  if (grad) {
    record(output, "DetBackward", {input}, {save_input(input), save_output(output)},
           TakesBatches{[](Backward& ctx) {
             ctx.set(0, det_gradient(ctx.grad(), ctx.saved(0), ctx.saved(1), ctx.create_graph()));
           }});
  }
  return output;
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& input, Out phase_out, Out logabsdet) {
  check_square_matrices(input, "input");
  check_apart(phase_out, "sign", logabsdet, "logabsdet");
  const bool grad = needs_grad(input);
  const Diagonal diagonal = lu_diagonal(input);
  Tensor phase;
  Tensor size;
  {
    const Unrecorded no_grad;
    const Dims last{-1};
    phase = multiply(prod(ops::sign(diagonal.entries), DimsView(last)), diagonal.sign);
    size = sum(log(abs(diagonal.entries)), DimsView(last));
  }
  const Tensor first = deliver(phase, phase_out, grad);
  const Tensor second = deliver(size, logabsdet, grad);
  if (grad) {
    record_outputs({first, second}, "SlogdetBackward", {input},
                   {save_input(input), save_output(first)}, TakesBatches{[](Backward& ctx) {
                     const Tensor factor = slogdet_factor(ctx.grad(0), ctx.grad(1), ctx.saved(1));
                     const Tensor inverse = inverse_or_infinity(ctx.saved(0));
                     ctx.set(0, multiply(over_matrices(factor), adjoint(inverse)));
                   }});
  }
  return {first, second};
}

Tensor logdet(const Tensor& input, Out out) {
  const auto parts = slogdet(input);
  return add(log(std::get<0>(parts)), std::get<1>(parts), out);
}

}  // namespace tsr::ops
