// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// By scaling and squaring: exp(A) = exp(A / 2ˢ) squared s times, with a Padé approximant of
// exp(A / 2ˢ), whose norm is below the bound for which the approximant is exact to rounding
// (N. Higham, The scaling and squaring method for the matrix exponential revisited, 2005).
#include "ops/linalg/matrix_exp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "autograd/forward.h"
#include "autograd/grad_mode.h"
#include "ops/create/copy.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/matrix_norms.h"
#include "ops/linalg/solve.h"
#include "ops/linalg/triangular.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

// Coefficients of the numerator, from degree 0, and the largest 1-norm (Higham's tables 2.3 and
// 3.1); of degree 13 for double precision, of degree 7 for single.
constexpr std::array<double, 14> kDouble{64764752532480000.0,
                                         32382376266240000.0,
                                         7771770303897600.0,
                                         1187353796428800.0,
                                         129060195264000.0,
                                         10559470521600.0,
                                         670442572800.0,
                                         33522128640.0,
                                         1323241920.0,
                                         40840800.0,
                                         960960.0,
                                         16380.0,
                                         182.0,
                                         1.0};
constexpr double kDoubleBound = 5.371920351148152;
constexpr std::array<double, 8> kSingle{17297280.0, 8648640.0, 1995840.0, 277200.0,
                                        25200.0,    1512.0,    56.0,      1.0};
constexpr double kSingleBound = 3.925724783138660;

// The numerator is V + U and the denominator V - U, for V and U of even and odd powers.
Tensor pade(const Tensor& a, std::span<const double> c) {
  const Tensor squared = matmul(a, a);
  const Tensor identity = identity_like(a);
  Tensor even = multiply(identity, c[0]);
  Tensor odd = multiply(identity, c[1]);
  Tensor power = squared;
  for (size_t i = 2; i < c.size(); i += 2) {
    even = add(even, multiply(power, c[i]));
    odd = add(odd, multiply(power, c[i + 1]));
    if (i + 2 < c.size()) power = matmul(power, squared);
  }
  const Tensor u = matmul(a, odd);
  return solve(subtract(even, u), add(even, u));
}

// How often to halve each matrix, as float64, with room for the two axes of the matrices. NaN and
// infinities need none: they come out as NaN.
Tensor halvings_of(const Tensor& input, double bound) {
  const Unrecorded no_grad;
  const Tensor norm = cast_memory(matrix_norm(input, true, "1"), DType::kFloat64);
  const Tensor count = ceil(log2(multiply(norm, 1 / bound)));
  return where(logical_and(isfinite(count), greater(count, 0)), count, 0.0);
}

}  // namespace

Tensor matrix_exp(const Tensor& input, Out out) {
  check_square_matrices(input, "input");
  const bool grad = needs_grad(input);
  if (input.numel() == 0) return deliver(clone(input), out, grad);
  const bool wide = real_dtype(input.dtype()) == DType::kFloat64;
  const Tensor halvings = halvings_of(input, wide ? kDoubleBound : kSingleBound);
  Tensor scale;
  Tensor finite;
  {
    const Unrecorded no_grad;
    scale = cast_memory(pow(2.0, negative(halvings)), real_dtype(input.dtype()));
    finite = all(isfinite(input), DimsView(Dims{-2, -1}), true);
  }
  // A system with NaN has no solution, so such a matrix is computed as 0 and marked at the end.
  const Tensor scaled = multiply(where(finite, input, 0.0), scale);
  Tensor result = wide ? pade(scaled, kDouble) : pade(scaled, kSingle);
  const auto most = static_cast<int64_t>(read<double>(max(halvings)));
  for (int64_t i = 0; i < most; ++i) {
    result = where(greater(halvings, static_cast<double>(i)), matmul(result, result), result);
  }
  return deliver(where(finite, result, std::nan("")), out, grad);
}

}  // namespace tsr::ops
