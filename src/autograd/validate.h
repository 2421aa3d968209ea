// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fit_gradient: makes the gradient that a node returned match the forward's input.
#pragma once

#include "autograd/node.h"

namespace tsr {

namespace detail {
void fit_gradient_slowly(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input);
}

// Sums over the dimensions that broadcasting repeated, casts, and moves the gradient of a tensor
// without dimensions to its device. Throws kAutograd if the shape or the device cannot match.
// `from` is the node that returned the gradient of its input `input`.
inline void fit_gradient(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input) {
  if (grad.dtype() == meta.dtype && grad.device() == meta.device && grad.sizes() == meta.sizes) {
    return;
  }
  detail::fit_gradient_slowly(grad, meta, from, input);
}

}  // namespace tsr
