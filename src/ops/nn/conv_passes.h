// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The three passes of a convolution. Each is linear in each of its two tensors, and its derivatives
// are the other two passes, so all are differentiable to any order.
#pragma once

#include "ops/nn/image.h"

namespace tsr::ops {

// The nodes store it by value.
using kernel::ConvGeometry;

// x: (batch, in, input...), w: (out, in / groups, kernel...), b: (out) or undefined.
Tensor conv_forward(const Tensor& x, const Tensor& w, const Tensor& b, const ConvGeometry& geometry,
                    Out out = {});
// g: (batch, out, output...) to (batch, in, input...); b: (in) or undefined.
Tensor conv_input(const Tensor& g, const Tensor& w, const Tensor& b, const ConvGeometry& geometry,
                  Out out = {});
// x, g to (out, in / groups, kernel...).
Tensor conv_weight(const Tensor& x, const Tensor& g, const ConvGeometry& geometry);

}  // namespace tsr::ops
