// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Copies of a tensor with a part of it written: the windows of slice.h and strided.h as functions
// that change nothing.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// The input with `source`, cast, in the window that the view op of that name shows; the shapes must
// agree (kShape). Differentiable in both.
Tensor select_scatter(const Tensor& input, const Tensor& source, int64_t axis, int64_t index,
                      Out out = {});
Tensor slice_scatter(const Tensor& input, const Tensor& source, int64_t axis = 0,
                     std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
                     int64_t step = 1, Out out = {});
Tensor diagonal_scatter(const Tensor& input, const Tensor& source, int64_t offset = 0,
                        int64_t axis1 = 0, int64_t axis2 = 1, Out out = {});
// The input must fill its memory without gaps (kValue): the window is one on that memory.
Tensor as_strided_scatter(const Tensor& input, const Tensor& source, DimsView shape,
                          DimsView strides, std::optional<int64_t> offset = {}, Out out = {});

}  // namespace tsr::ops
