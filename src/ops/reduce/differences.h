// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Differences of neighbours along an axis, and areas under lines through points (trapezoids).
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// Everywhere: a 0-dim input throws kShape, a bad axis kIndex; tensors that may be absent may be
// undefined.

// x[i + 1] - x[i] along an axis, n times; x[i + 1] != x[i] for bool. `prepend` and `append` are
// joined to the input first; a 0-dim one stands for one position. Throws kValue for a negative n.
Tensor diff(const Tensor& input, int64_t n, int64_t axis, const Tensor& prepend,
            const Tensor& append, Out out = {});

// The area under the points (x, y) along an axis; where `x` is absent they are `dx` apart. `x` is
// 1-D along the axis or broadcasts with y. Integers and bool become default_dtype(). Throws kShape.
Tensor trapezoid(const Tensor& input, const Tensor& x, double dx = 1, int64_t axis = -1,
                 Out out = {});
// The areas up to the second, third, ... point.
Tensor cumulative_trapezoid(const Tensor& input, const Tensor& x, double dx = 1, int64_t axis = -1,
                            Out out = {});

}  // namespace tsr::ops
