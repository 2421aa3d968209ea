// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes: sum, extrema, statistics, norms.
#pragma once

#include <optional>
#include <tuple>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// No axes (nullopt): all of them. Bad axes throw kIndex, repeated ones kValue. With keepdims the
// reduced axes stay with size 1.
using Axes = std::optional<DimsView>;

// ---- sums: integers and bool accumulate in int64 (unsigned ones in uint64), 16-bit floats in
// float32; `dtype` casts the input first ----
Tensor sum(const Tensor& input, Axes axes = {}, bool keepdims = false,
           std::optional<DType> dtype = {}, Out out = {});
Tensor prod(const Tensor& input, Axes axes = {}, bool keepdims = false,
            std::optional<DType> dtype = {}, Out out = {});

// ---- statistics: floating and complex (var, std: floating); NaN over nothing ----
Tensor mean(const Tensor& input, Axes axes = {}, bool keepdims = false,
            std::optional<DType> dtype = {}, Out out = {});
// Divides by N - correction; NaN or infinite when that is not positive.
Tensor var(const Tensor& input, Axes axes = {}, double correction = 0, bool keepdims = false,
           Out out = {});
Tensor std(const Tensor& input, Axes axes = {}, double correction = 0, bool keepdims = false,
           Out out = {});

// ---- extrema: real; NaN propagates; equal extrema share the gradient; over nothing they throw
// kValue ----
Tensor max(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {});
Tensor min(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {});
// int64 positions of the first extremum along one axis, or in the flattened input.
Tensor argmax(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});
Tensor argmin(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});

// ---- logic: any dtype; bool, count_nonzero int64 ----
Tensor any(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {});
Tensor all(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {});
Tensor count_nonzero(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {});

// ---- norms ----
// log Σ exp(x) without overflow; integers give default_dtype(); real.
Tensor logsumexp(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {});
// (Σ |x|^ord)^(1/ord); ord 0 counts nonzeros, inf and -inf take extrema. Floating and complex; the
// result is real.
Tensor vector_norm(const Tensor& input, Axes axes = {}, bool keepdims = false, double ord = 2,
                   Out out = {});

// The wrapped axes of a reduction; every axis when none are named.
Dims reduction_axes(const Tensor& input, const Axes& axes);
// The result of a reduction with its reduced axes put back as size 1 (when keepdims was false).
// Differentiable.
Tensor restore_axes(const Tensor& reduced, DimsView axes, bool keepdims);

}  // namespace tsr::ops
