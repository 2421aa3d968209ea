// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Orthogonal polynomials, by their recurrences in three terms.
#pragma once

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// A family of polynomials: a kernel of x and the degree, and its parameters.
struct PolynomialFamily {
  kernel::BinaryOp op;
  double p0, p1;
};

// A row that can be called: the polynomial of degree n at x. One operand must be a tensor. n counts
// without its fraction; the result is 0 for n < 0. No derivative towards n.
struct OrthogonalPolynomial {
  PolynomialFamily family;
  // Shapes that broadcast, real numbers. Throws kShape, kDType, kDevice, kValue for a degree above
  // 16384.
  Tensor operator()(const Arg& input, const Arg& n, Out out = {}) const;
};

extern const OrthogonalPolynomial chebyshev_polynomial_t, chebyshev_polynomial_u,
    chebyshev_polynomial_v, chebyshev_polynomial_w, shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_v, shifted_chebyshev_polynomial_w,
    hermite_polynomial_h, hermite_polynomial_he, laguerre_polynomial_l, legendre_polynomial_p;

}  // namespace tsr::ops
