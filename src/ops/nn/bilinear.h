// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bilinear forms of two vectors.
#pragma once

#include "tensor/tensor.h"

namespace tsr::ops {

// out[..., o] = Σ_ij input1[..., i] weight[o, i, j] input2[..., j] + bias[o]. The leading axes of
// the inputs are equal; bias may be undefined. Floating dtypes. Throws kShape, kDType, kDevice.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias = {});

}  // namespace tsr::ops
