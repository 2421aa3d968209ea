// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Counting: how often integers occur, and how many elements lie in each interval.
#pragma once

#include <optional>
#include <tuple>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// How often each of 0, 1, ... occurs in a 1-D input of integers that are not negative; at least
// `minlength` counts. Weights (of the input's shape, may be undefined) add up instead: float32 ones
// in float32, others in float64; they get gradients. Throws kShape, kDType, kValue.
Tensor bincount(const Tensor& input, const Tensor& weights, int64_t minlength = 0, Out out = {});

// The number of elements in each of `bins` intervals of equal width between low and high, which
// belong to them; from the smallest to the largest element when both are equal. Elements outside
// and NaN are left out. Floating dtypes, which the result has. Throws kValue.
Tensor histc(const Tensor& input, int64_t bins = 100, double low = 0, double high = 0,
             Out out = {});

// (hist, bin_edges): as histc, between two numbers that are both given or both absent, or between
// given edges (1-D, sorted). `weight`, of the input's shape, counts elements by more than 1;
// `density` divides by the whole and the widths. Integers become default_dtype().
std::tuple<Tensor, Tensor> histogram(const Tensor& input, const Scalar& bins,
                                     std::optional<double> low, std::optional<double> high,
                                     const Tensor& weight, bool density, Out hist = {},
                                     Out bin_edges = {});
std::tuple<Tensor, Tensor> histogram(const Tensor& input, const Tensor& bins,
                                     std::optional<double> low, std::optional<double> high,
                                     const Tensor& weight, bool density, Out hist = {},
                                     Out bin_edges = {});

}  // namespace tsr::ops
