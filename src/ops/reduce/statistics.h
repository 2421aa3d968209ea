// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Statistics made of reductions: means without NaN, pairs of results, norms, covariances.
#pragma once

#include <optional>
#include <tuple>

#include "ops/reduce/reduce.h"

namespace tsr::ops {

// The mean of the elements that are not NaN; NaN where there are none. Floating and complex, or
// what `dtype` casts to.
Tensor nanmean(const Tensor& input, Axes axes = {}, bool keepdims = false,
               std::optional<DType> dtype = {}, Out out = {});

// Two reductions of one input: (min, max), (var, mean), (std, mean).
std::tuple<Tensor, Tensor> aminmax(const Tensor& input, Axes axes = {}, bool keepdims = false,
                                   Out smallest = {}, Out largest = {});
std::tuple<Tensor, Tensor> var_mean(const Tensor& input, Axes axes = {}, double correction = 0,
                                    bool keepdims = false, Out variance = {}, Out average = {});
std::tuple<Tensor, Tensor> std_mean(const Tensor& input, Axes axes = {}, double correction = 0,
                                    bool keepdims = false, Out deviation = {}, Out average = {});

// The first extremum along an axis and its position, which alone gets the gradient.
std::tuple<Tensor, Tensor> max_with_indices(const Tensor& input, int64_t axis,
                                            bool keepdims = false, Out values = {},
                                            Out indices = {});
std::tuple<Tensor, Tensor> min_with_indices(const Tensor& input, int64_t axis,
                                            bool keepdims = false, Out values = {},
                                            Out indices = {});

// vector_norm of order p, of the input cast to `dtype`.
Tensor norm(const Tensor& input, double p = 2, Axes axes = {}, bool keepdims = false,
            std::optional<DType> dtype = {}, Out out = {});
// The norm of order p of input - other, which broadcast.
Tensor dist(const Tensor& input, const Tensor& other, double p = 2, Out out = {});
// The slices at the positions of an axis whose norm of order p is more than max_norm, scaled down
// to it. Throws kValue unless p is positive and max_norm not negative.
Tensor renorm(const Tensor& input, double p, int64_t axis, double max_norm, Out out = {});

// The covariances of the rows of an input of at most 2 dims: variables in rows, observations in
// columns. `fweights` (integers) says how often an observation counts, `aweights` how much; either
// may be undefined. Integers become default_dtype(). Throws kShape, kDType, kValue.
Tensor cov(const Tensor& input, double correction, const Tensor& fweights, const Tensor& aweights,
           Out out = {});
// Covariances divided by both standard deviations, in [-1, 1].
Tensor corrcoef(const Tensor& input, Out out = {});

}  // namespace tsr::ops
