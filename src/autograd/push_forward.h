// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// push_forward: the tangents of an op's outputs from those of its inputs, by the op's rule.
#pragma once

#include "autograd/record.h"

namespace tsr::detail {

// By the rule of the op. `node` may be null if `use` has what the derivative saves; `tangents`,
// those of `use`, has one entry per input, `results` one per output. Call it under BelowLevel.
void push_rule(Node* node, const ForwardRule& rule, const ForwardUse& use,
               const TensorRefs& outputs, std::span<const Tensor> tangents,
               std::span<Tensor> results);
// For an op without a rule. `node` has its outputs.
void push_transposed(Node& node, const ForwardUse& use, const TensorRefs& outputs,
                     std::span<const Tensor> tangents, std::span<Tensor> results);

// Whether `tangent` can stand for a tangent of a tensor like `like` as it is: without fit_tangent.
[[nodiscard]] inline bool fits_as_tangent(const Tensor& tangent, const Tensor& like) noexcept {
  return tangent.dtype() == like.dtype() && tangent.sizes() == like.sizes();
}

}  // namespace tsr::detail
