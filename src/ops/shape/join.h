// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Joining tensors: concat, stack.
#pragma once

#include <optional>
#include <span>

#include "ops/result.h"

namespace tsr::ops {

// The tensors one after the other along an axis; absent: flattened first. Shapes must agree on the
// other axes (kShape); dtypes are promoted together. An empty list throws kValue.
Tensor concat(std::span<const Tensor> tensors, std::optional<int64_t> axis = 0, Out out = {});
// The tensors, all of one shape, along a new axis that stands at `axis` of the result.
Tensor stack(std::span<const Tensor> tensors, int64_t axis = 0, Out out = {});

}  // namespace tsr::ops
