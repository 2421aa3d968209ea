// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What derivatives need again and again: zeros of a shape, undoing a broadcast.
#pragma once

#include "tensor/tensor.h"

namespace tsr::ops {

// Zeros, row-major, outside any graph.
Tensor zeros_like_shape(DimsView sizes, DType dtype, Device device);
// Zeros of the shape, dtype and device of `like`.
Tensor zeros_of(const Tensor& like);
// Sums `input` over the dims that broadcasting `sizes` to its shape would stretch. Differentiable.
Tensor sum_to(const Tensor& input, DimsView sizes);
// The window of `input` broadcast to `shape` (stride 0). Differentiable.
Tensor expand_to(const Tensor& input, DimsView shape);

}  // namespace tsr::ops
