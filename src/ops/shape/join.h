// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Joining tensors: concat, stack.
#pragma once

#include <optional>
#include <span>

#include "ops/result.h"

namespace tsr::ops {

// Joins the tensors along an axis; an absent axis flattens them first. Shapes must agree on the
// other axes (kShape); dtypes are promoted together. An empty list throws kValue.
Tensor concat(std::span<const Tensor> tensors, std::optional<int64_t> axis = 0, Out out = {});
// Joins tensors of one shape along a new axis, which is axis `axis` of the result.
Tensor stack(std::span<const Tensor> tensors, int64_t axis = 0, Out out = {});

}  // namespace tsr::ops
