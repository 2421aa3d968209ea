// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Comparisons within tolerances, of whole tensors, and membership; results are bools.
#pragma once

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// |a - b| <= atol + rtol |b|, or a = b; shapes broadcast. Throws kValue for tolerances below 0.
Tensor isclose(const Tensor& input, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
// Whether isclose holds everywhere: 0-dim.
Tensor allclose(const Tensor& input, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false);
// Whether both have one shape and equal elements: 0-dim.
Tensor array_equal(const Tensor& input, const Tensor& other);
// Whether each element of the input stands in `other`, or does not when `invert`.
Tensor isin(const Tensor& input, const Arg& other, bool invert = false);
// The same for one number: 0-dim.
Tensor isin(const Scalar& input, const Tensor& other, bool invert = false);

}  // namespace tsr::ops
