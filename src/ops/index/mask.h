// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Ops on masks, and the positions of nonzero elements.
#pragma once

#include <vector>

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// value where the mask holds, input elsewhere, in the input's dtype; input and mask (bool)
// broadcast together, in place the mask to the input, and a tensor value to both. Throws kShape,
// kDType.
Tensor masked_fill(const Tensor& input, const Tensor& mask, const Arg& value, Out out = {});
// The elements where the mask is true, 1-D in row-major order; input and mask broadcast together.
Tensor masked_select(const Tensor& input, const Tensor& mask, Out out = {});

// One 1-D int64 tensor per dim with the positions of the nonzero elements, in row-major order.
// kShape for a 0-dim input.
std::vector<Tensor> nonzero(const Tensor& input);
// The same as rows of one (count, ndim) tensor; for any input.
Tensor argwhere(const Tensor& input);
// The same as columns: a row-major (ndim, count) tensor. Without autograd.
Tensor nonzero_memory(const Tensor& input);

}  // namespace tsr::ops
