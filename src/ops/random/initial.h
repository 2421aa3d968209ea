// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Initial values of weights that are more than one distribution, filled in place.
#pragma once

#include "base/generator.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// In all functions: floating dtypes (kDType). The gradient of what was there is 0.

// The identity of two dimensions, also of unequal sizes.
Tensor eye_(const Tensor& input);
// The identity of a convolution whose weight has 3 to 5 dimensions: output channel i of each group
// is input channel i. Throws kValue unless the groups divide the output channels.
Tensor dirac_(const Tensor& input, int64_t groups = 1);
// A matrix of orthonormal rows or columns, whichever are fewer, times `gain`; the dimensions from
// the second on are one. By the QR decomposition of normal numbers with a positive diagonal of R
// (Mezzadri, "How to generate random matrices from the classical compact groups", 2007).
Tensor orthogonal_(const Tensor& input, double gain = 1, Generator* generator = nullptr);
// Normal numbers in two dimensions; in each column this share of elements, rounded up, is 0.
Tensor sparse_(const Tensor& input, double sparsity, double std = 0.01,
               Generator* generator = nullptr);

}  // namespace tsr::ops
