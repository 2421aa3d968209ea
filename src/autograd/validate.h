// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fit_gradient: makes what a node returned match what the forward's input was.
#pragma once

#include "autograd/node.h"

namespace tsr {

namespace detail {
void fit_gradient_slowly(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input);
}

// Sums what broadcasting repeated, and casts. Throws kAutograd when the shape or device cannot
// match. `from` returned the gradient for its input number `input`.
inline void fit_gradient(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input) {
  if (grad.dtype() == meta.dtype && grad.device() == meta.device && grad.sizes() == meta.sizes) {
    return;
  }
  detail::fit_gradient_slowly(grad, meta, from, input);
}

}  // namespace tsr
