// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// weighted_gather: sums of elements at given places, with weights.
#pragma once

#include "tensor/tensor.h"

namespace tsr::ops {

// out[n, c, p] = Σ_k weight[n, k, p] input[n, c, index[n, k, p]]; an index of -1 leaves its tap
// out. input (batch, channels, elements) and weight (batch, taps, points) are float32 or float64,
// one for both; index (batch, taps, points) is int32 and holds what is valid. Differentiable in any
// order.
Tensor weighted_gather(const Tensor& input, const Tensor& weight, const Tensor& index);

}  // namespace tsr::ops
