// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions and normalisations of the elements that a mask selects.
#pragma once

#include <optional>

#include "ops/reduce/reduce.h"

namespace tsr::ops {

// Everywhere: `mask` (bool, broadcasts to the input; undefined: everything) is true where an
// element takes part. The other elements may be anything, NaN too, and their gradient is 0. `axes`
// and `keepdims` as in reductions, dtypes as in the op of the name without masked_. Throws kShape,
// kDType, kIndex, kValue.

// Without elements: 0, 1, NaN, and the lowest and the highest number of the dtype.
Tensor masked_sum(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                  bool keepdims = false, std::optional<DType> dtype = {});
Tensor masked_prod(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                   bool keepdims = false, std::optional<DType> dtype = {});
Tensor masked_mean(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                   bool keepdims = false, std::optional<DType> dtype = {});
Tensor masked_amax(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                   bool keepdims = false);
Tensor masked_amin(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                   bool keepdims = false);
// The position of the first extremum; 0 where there are no elements.
Tensor masked_argmax(const Tensor& input, const Tensor& mask = {}, std::optional<int64_t> axis = {},
                     bool keepdims = false);
Tensor masked_argmin(const Tensor& input, const Tensor& mask = {}, std::optional<int64_t> axis = {},
                     bool keepdims = false);
// Divide by the number of elements less the correction, at least 0.
Tensor masked_var(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                  double correction = 0, bool keepdims = false);
Tensor masked_std(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                  double correction = 0, bool keepdims = false);
Tensor masked_norm(const Tensor& input, const Tensor& mask = {}, double ord = 2, Axes axes = {},
                   bool keepdims = false);
Tensor masked_logsumexp(const Tensor& input, const Tensor& mask = {}, Axes axes = {},
                        bool keepdims = false);
// The lower of the two middle elements that are not NaN; NaN without any. Floating dtypes.
Tensor masked_median(const Tensor& input, const Tensor& mask = {}, std::optional<int64_t> axis = {},
                     bool keepdims = false);

// ---- results of the input's shape, along one axis ----

// At the other elements 0; log_softmax -inf there.
Tensor masked_softmax(const Tensor& input, int64_t axis, const Tensor& mask = {},
                      std::optional<DType> dtype = {});
Tensor masked_softmin(const Tensor& input, int64_t axis, const Tensor& mask = {},
                      std::optional<DType> dtype = {});
Tensor masked_log_softmax(const Tensor& input, int64_t axis, const Tensor& mask = {},
                          std::optional<DType> dtype = {});
// x / max(norm, eps); at the other elements 0.
Tensor masked_normalize(const Tensor& input, double ord, int64_t axis, const Tensor& mask = {},
                        double eps = 1e-12);
// The sum or product of the elements up to each place.
Tensor masked_cumsum(const Tensor& input, int64_t axis, const Tensor& mask = {},
                     std::optional<DType> dtype = {});
Tensor masked_cumprod(const Tensor& input, int64_t axis, const Tensor& mask = {},
                      std::optional<DType> dtype = {});

}  // namespace tsr::ops
