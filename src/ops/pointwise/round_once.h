// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Derivatives of several pointwise ops for 16-bit floats.
#pragma once

#include <initializer_list>
#include <span>

#include "base/function_ref.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// compute(the tensors in opmath), where `compute` calls pointwise ops: 16-bit floats are rounded
// once. The first tensor has the shape of the result; others may be undefined. Where nothing is
// recorded, large tensors are taken in blocks that stay in the caches, and the result has their
// dtype; else it has that of opmath.
Tensor round_once(std::initializer_list<const Tensor*> tensors,
                  FunctionRef<Tensor(std::span<const Tensor> wide)> compute);

}  // namespace tsr::ops
