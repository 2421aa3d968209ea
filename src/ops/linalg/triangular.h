// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Cholesky factors and triangular systems.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: float32, float64 and complex; batch dims broadcast. Throws kShape, kDType, kDevice.

// The L with a positive diagonal and input = L Lᴴ, or its adjoint when `upper`. The input counts as
// Hermitian; one triangle of it is read. Throws kLinalg unless it is positive definite.
Tensor cholesky(const Tensor& input, bool upper = false, Out out = {});
// The X with input X = other, or X input = other when not `left`; of the input only the named
// triangle is read, without the diagonal when `unitriangular`, which then counts as ones. A 1-D
// `other` is one column. Zeros on the diagonal give infinities.
Tensor solve_triangular(const Tensor& input, const Tensor& other, bool upper, bool left = true,
                        bool unitriangular = false, Out out = {});
// Its flags by name.
inline constexpr bool kLower = false, kUpper = true;
inline constexpr bool kFromRight = false, kFromLeft = true;
inline constexpr bool kUnitDiagonal = true;
// The X with A X = input for the matrix A that has the Cholesky factor `factor`.
Tensor cholesky_solve(const Tensor& input, const Tensor& factor, bool upper = false, Out out = {});
// The inverse of the matrix that has the Cholesky factor `input`.
Tensor cholesky_inverse(const Tensor& input, bool upper = false, Out out = {});

// ---- for derivatives ----

// Its lower triangle, with half the diagonal. Differentiable.
Tensor tril_half(const Tensor& input);
// Ones on the diagonal of matrices like `input`.
Tensor identity_like(const Tensor& input);

}  // namespace tsr::ops
