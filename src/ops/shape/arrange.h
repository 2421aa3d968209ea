// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Rearranging copies: tile, repeat, flip, rot90, roll, tril, triu, pad.
#pragma once

#include <optional>
#include <string_view>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// Repeats the whole tensor repetitions[i] times along axis i; the shorter of shape and repetitions
// is filled with ones in front. Negative counts throw kValue.
Tensor tile(const Tensor& input, DimsView repetitions, Out out = {});
// Repeats each element along an axis, or in the flattened input if the axis is absent. The tensor
// form takes one integer count for each position of the axis, or one for all; it waits for the
// device.
Tensor repeat(const Tensor& input, const Scalar& repeats, std::optional<int64_t> axis = {},
              Out out = {});
Tensor repeat(const Tensor& input, const Tensor& repeats, std::optional<int64_t> axis = {},
              Out out = {});

// Reverses the order along the axes; absent: all axes. A copy.
Tensor flip(const Tensor& input, std::optional<DimsView> axes = {}, Out out = {});
// Reversed left to right (axis 1) and upside down (axis 0).
Tensor fliplr(const Tensor& input, Out out = {});
Tensor flipud(const Tensor& input, Out out = {});
// Turned k times by 90 degrees in the plane of two axes (0 and 1 when absent), from the first
// towards the second. A copy.
Tensor rot90(const Tensor& input, int64_t k = 1, std::optional<DimsView> axes = {}, Out out = {});
// Elements moved by shifts[i] along axes[i], those that leave come in at the other end; without
// axes the flattened input is rolled. One shift serves all axes.
Tensor roll(const Tensor& input, DimsView shifts, std::optional<DimsView> axes = {}, Out out = {});

// The elements of the last two axes with column - row <= diagonal (tril) or >= diagonal (triu),
// zero elsewhere. Throws kShape for less than two dims.
Tensor tril(const Tensor& input, int64_t diagonal = 0, Out out = {});
Tensor triu(const Tensor& input, int64_t diagonal = 0, Out out = {});

// Adds padding[2 i] before and padding[2 i + 1] after the axis i-th from the last; negative counts
// crop. `mode` is "constant" (of `value`, which must be a number of the dtype), "reflect" (mirrors
// without the edge, less than the axis), "replicate" (the edge) or "circular" (wraps around, at
// most the axis). Throws kValue, kShape.
Tensor pad(const Tensor& input, DimsView padding, std::string_view mode = "constant",
           const Scalar& value = 0, Out out = {});

}  // namespace tsr::ops
