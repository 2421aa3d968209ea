// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers of many derivatives: zeros of a shape, and the transpose of a broadcast.
#pragma once

#include "tensor/tensor.h"

namespace tsr::ops {

// Zeros, row-major, without autograd.
Tensor zeros_like_shape(DimsView sizes, DType dtype, Device device);
// Zeros of the shape, dtype and device of `like`.
Tensor zeros_of(const Tensor& like);
// Sums `input` over the dims that broadcasting from `sizes` to its shape stretches. Differentiable.
Tensor sum_to(const Tensor& input, DimsView sizes);

}  // namespace tsr::ops
