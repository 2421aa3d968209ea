// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions: sum and its relatives over any set of axes.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// No axes (nullopt): all of them.
using Axes = std::optional<DimsView>;

// Integers and bool sum in int64 (unsigned ones in uint64), 16-bit floats accumulate in float32;
// `dtype` casts the input first. The sum over no axes is the input's values. Throws kIndex, kValue
// for bad axes.
Tensor sum(const Tensor& input, Axes axes = {}, bool keepdims = false,
           std::optional<DType> dtype = {}, Out out = {});

// The wrapped axes of a reduction; every axis when none are named.
Dims reduction_axes(const Tensor& input, const Axes& axes);
// The result of a reduction with its reduced axes put back as size 1 (when keepdims was false).
// Differentiable.
Tensor restore_axes(const Tensor& reduced, DimsView axes, bool keepdims);

}  // namespace tsr::ops
