// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Order statistics along one axis: medians, quantiles, the k-th smallest and the most frequent
// element. Gradients go to the elements that were selected.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// Everywhere: real dtypes; a bad axis throws kIndex, no elements kValue; 0-dim inputs count as one
// element. The results have the shape of a reduction over the axis.

// The k-th smallest element, counted from 1, and its position; NaN counts as largest. Throws kValue
// for a k outside [1, size].
std::tuple<Tensor, Tensor> kthvalue(const Tensor& input, int64_t k, int64_t axis = -1,
                                    bool keepdims = false, Out values = {}, Out indices = {});

// The lower of the two middle elements and its position; the first NaN where there is one.
std::tuple<Tensor, Tensor> median_with_indices(const Tensor& input, int64_t axis = -1,
                                               bool keepdims = false, Out values = {},
                                               Out indices = {});
// The same of the elements that are not NaN; NaN where there are none.
std::tuple<Tensor, Tensor> nanmedian_with_indices(const Tensor& input, int64_t axis = -1,
                                                  bool keepdims = false, Out values = {},
                                                  Out indices = {});
// The values alone. Without an axis: of all elements, and equal ones share the gradient.
Tensor median(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});
Tensor nanmedian(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
                 Out out = {});

// The most frequent element, the smallest of several, and the last of its positions.
std::tuple<Tensor, Tensor> mode(const Tensor& input, int64_t axis = -1, bool keepdims = false,
                                Out values = {}, Out indices = {});

// The numbers below which the parts `q` of the elements lie, in all elements where there is no
// axis: at rank q (size - 1) of the sorted ones. Between two ranks the result is interpolated:
// "linear", "lower", "higher", "midpoint" or "nearest" (even). A 1-D q gives a leading axis.
// Floating dtypes; NaN where there is a NaN. Throws kValue for a q outside [0, 1].
Tensor quantile(const Tensor& input, const Tensor& q, std::optional<int64_t> axis = {},
                bool keepdims = false, std::string_view interpolation = "linear", Out out = {});
Tensor quantile(const Tensor& input, const Scalar& q, std::optional<int64_t> axis = {},
                bool keepdims = false, std::string_view interpolation = "linear", Out out = {});
// The same of the elements that are not NaN; NaN where there are none.
Tensor nanquantile(const Tensor& input, const Tensor& q, std::optional<int64_t> axis = {},
                   bool keepdims = false, std::string_view interpolation = "linear", Out out = {});
Tensor nanquantile(const Tensor& input, const Scalar& q, std::optional<int64_t> axis = {},
                   bool keepdims = false, std::string_view interpolation = "linear", Out out = {});

}  // namespace tsr::ops
