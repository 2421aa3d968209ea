// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/eig.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/solve.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::FactorOp;

bool is_upper(std::string_view uplo) {
  TSR_CHECK(uplo == "L" || uplo == "U", Code::kValue, "uplo", "expected L or U, got ", uplo);
  return uplo == "U";
}

struct Spectrum {
  Tensor values, vectors;
};

// Without a graph; the kernel leaves the vectors where the matrices were.
Spectrum decompose_hermitian(const Tensor& input, bool upper, bool vectors) {
  const int64_t n = input.size(input.ndim() - 1);
  Spectrum found;
  found.values = empty(with_batch(input, {n}), real_dtype(input.dtype()), input.device());
  const Tensor memory = copy_by_rows(input);
  Factoring factoring(FactorOp::kEigh, input);
  factoring.a = memory;
  factoring.values = found.values;
  factoring.plan.upper = upper ? 1 : 0;
  factoring.plan.vectors = vectors ? 1 : 0;
  factoring.run();
  factoring.check_converged("input");
  if (!vectors) return found;
  Dims strides = memory.strides();
  std::swap(strides[strides.size() - 2], strides.back());
  found.vectors = make_view(memory, memory.sizes(), strides, memory.offset());
  return found;
}

// 1 / (λⱼ - λᵢ) beside the diagonal, 0 on it.
Tensor gaps(const Tensor& values) {
  const Tensor unit = eye(values.size(values.ndim() - 1), {}, 0, values.dtype(), values.device());
  const Tensor distances = subtract(expand_dims(values, -2), expand_dims(values, -1));
  return subtract(reciprocal(add(distances, unit)), unit);
}

Tensor as_diagonal(const Tensor& values) {
  const Tensor unit = eye(values.size(values.ndim() - 1), {}, 0, values.dtype(), values.device());
  return multiply(expand_dims(values, -2), unit);
}

// gA = V (diag(gλ) + F skew(Vᴴ gV)) Vᴴ, F of `gaps` (M. Giles, 2008, section 3.1). The whole
// product Vᴴ gV would do for inputs that are Hermitian by their making; its skew part makes the
// gradient Hermitian, so that a step along it leaves a matrix Hermitian.
Tensor eigh_gradient(const Tensor& g_values, const Tensor& g_vectors, const Tensor& values,
                     const Tensor& vectors) {
  const Tensor vh = adjoint(vectors);
  if (!g_vectors.defined()) return matmul(multiply(vectors, expand_dims(g_values, -2)), vh);
  const Tensor inner = matmul(vh, g_vectors);
  Tensor core = multiply(multiply(subtract(inner, adjoint(inner)), 0.5), gaps(values));
  if (g_values.defined()) core = add(core, as_diagonal(g_values));
  return matmul(vectors, matmul(core, vh));
}

// ---- Any square matrices ----

Spectrum decompose(const Tensor& input, bool vectors) {
  const int64_t n = input.size(input.ndim() - 1);
  const DType wide =
      real_dtype(input.dtype()) == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
  Spectrum found;
  found.values = empty(with_batch(input, {n}), wide, input.device());
  if (vectors) found.vectors = empty_columns(input.sizes(), wide, input.device());
  const Tensor scratch = copy_by_columns(input);
  Factoring factoring(FactorOp::kEig, input);
  factoring.a = scratch;
  factoring.values = found.values;
  factoring.q = found.vectors;
  factoring.run();
  factoring.check_converged("input");
  return found;
}

// gA = V⁻ᴴ (diag(gλ) + (Vᴴ gV - VᴴV Re diag(Vᴴ gV)) conj(F)) Vᴴ, F of `gaps`; the middle keeps the
// vectors at length 1 (C. Boeddeker et al., On the computation of complex-valued gradients with
// application to statistically optimum beamforming, 2017, section 4.14).
Tensor eig_gradient(const Tensor& g_values, const Tensor& g_vectors, const Tensor& values,
                    const Tensor& vectors) {
  const Tensor vh = adjoint(vectors);
  Tensor core;
  if (g_vectors.defined()) {
    const Tensor inner = matmul(vh, g_vectors);
    const Tensor lengths = real(diagonal(inner, 0, -2, -1));
    const Tensor along = multiply(matmul(vh, vectors), expand_dims(lengths, -2));
    core = multiply(subtract(inner, along), conj(gaps(values)));
    if (g_values.defined()) core = add(core, as_diagonal(g_values));
  } else {
    core = as_diagonal(g_values);
  }
  return matmul(inverse_or_infinity(vh), matmul(core, vh));
}

}  // namespace

std::tuple<Tensor, Tensor> eigh(const Tensor& input, std::string_view uplo, Out eigenvalues,
                                Out eigenvectors) {
  check_square_matrices(input, "input");
  check_apart(eigenvalues, "eigenvalues", eigenvectors, "eigenvectors");
  const bool grad = needs_grad(input);
  const Spectrum found = decompose_hermitian(input, is_upper(uplo), true);
  const Tensor values = deliver(found.values, eigenvalues, grad);
  const Tensor vectors = deliver(found.vectors, eigenvectors, grad);
  if (grad) {
    record_outputs({values, vectors}, "EighBackward", {input},
                   {save_output(values), save_output(vectors)}, TakesBatches{[](Backward& ctx) {
                     ctx.set(0,
                             eigh_gradient(ctx.grad(0), ctx.grad(1), ctx.saved(0), ctx.saved(1)));
                   }});
  }
  return {values, vectors};
}

Tensor eigvalsh(const Tensor& input, std::string_view uplo, Out out) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input);
  // The derivative needs the vectors.
  if (grad) return deliver(std::get<0>(eigh(input, uplo)), out, grad);
  return deliver(decompose_hermitian(input, is_upper(uplo), false).values, out, false);
}

std::tuple<Tensor, Tensor> eig(const Tensor& input, Out eigenvalues, Out eigenvectors) {
  check_square_matrices(input, "input");
  check_apart(eigenvalues, "eigenvalues", eigenvectors, "eigenvectors");
  const bool grad = needs_grad(input);
  const Spectrum found = decompose(input, true);
  const Tensor values = deliver(found.values, eigenvalues, grad);
  const Tensor vectors = deliver(found.vectors, eigenvectors, grad);
  if (grad) {
    record_outputs(
        {values, vectors}, "EigBackward", {input}, {save_output(values), save_output(vectors)},
        TakesBatches{[wide = is_complex(input.dtype())](Backward& ctx) {
          const Tensor g = eig_gradient(ctx.grad(0), ctx.grad(1), ctx.saved(0), ctx.saved(1));
          ctx.set(0, wide ? g : real(g));
        }});
  }
  return {values, vectors};
}

Tensor eigvals(const Tensor& input, Out out) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input);
  if (grad) return deliver(std::get<0>(eig(input)), out, grad);
  return deliver(decompose(input, false).values, out, false);
}

}  // namespace tsr::ops
