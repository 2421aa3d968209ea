// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// push_forward: the tangents of an op's outputs from those of its inputs, by the op's rule.
#pragma once

#include "autograd/record.h"

namespace tsr::detail {

// `node` has its outputs and can read what the derivative saves; `tangents` has one entry per
// input, `results` one per output. Call it under BelowLevel. `rule` may be null.
void push_forward(Node& node, const ForwardRule* rule, const TensorRefs& outputs,
                  std::span<const Tensor> tangents, std::span<Tensor> results);

// Whether `tangent` can stand for a tangent of a tensor like `like` as it is: without fit_tangent.
[[nodiscard]] inline bool fits_as_tangent(const Tensor& tangent, const Tensor& like) noexcept {
  return tangent.dtype() == like.dtype() && tangent.sizes() == like.sizes();
}

}  // namespace tsr::detail
