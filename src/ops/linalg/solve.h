// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Systems of linear equations with square matrices, inverses, determinants.
#pragma once

#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: float32, float64 and complex; any batch. Throws kShape, kDType, kDevice.

// The X with input X = other, or X input = other when not `left`. A 1-D `other` is one column, also
// for a batch of matrices; batch dims broadcast. Throws kLinalg for a singular matrix.
Tensor solve(const Tensor& input, const Tensor& other, bool left = true, Out out = {});
// Throws kLinalg for a singular matrix.
Tensor inv(const Tensor& input, Out out = {});
// The determinant; of no rows and columns 1.
Tensor det(const Tensor& input, Out out = {});
// (sign, logabsdet): det = sign exp(logabsdet); a singular matrix has 0 and -infinity. A complex
// sign lies on the unit circle, or is 0; logabsdet is real.
std::tuple<Tensor, Tensor> slogdet(const Tensor& input, Out sign = {}, Out logabsdet = {});
// The logarithm of the determinant; NaN where that is real and negative.
Tensor logdet(const Tensor& input, Out out = {});

// The inverse, of infinities where there is none.
Tensor inverse_or_infinity(const Tensor& input);

}  // namespace tsr::ops
