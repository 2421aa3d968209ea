// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions with parameters, and window functions.
#pragma once

#include <optional>

#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {

// The logarithm of the multivariate gamma function of dimension p; NaN unless x > (p - 1) / 2.
// Throws kValue unless p is from 1 to 10000.
Tensor multigammaln(const Tensor& input, int64_t p, Out out = {});

// ---- windows of n numbers; `periodic` ones leave out the last of n + 1. Throw kValue for n < 0,
// kDType unless the dtype is floating ----

Tensor bartlett_window(int64_t n, bool periodic = true, std::optional<DType> dtype = {},
                       std::optional<Device> device = {});
Tensor blackman_window(int64_t n, bool periodic = true, std::optional<DType> dtype = {},
                       std::optional<Device> device = {});
// alpha - beta cos(2 pi i / N)
Tensor hamming_window(int64_t n, bool periodic = true, double alpha = 0.54, double beta = 0.46,
                      std::optional<DType> dtype = {}, std::optional<Device> device = {});
Tensor hann_window(int64_t n, bool periodic = true, std::optional<DType> dtype = {},
                   std::optional<Device> device = {});
// I0(beta sqrt(1 - (2 i / N - 1)²)) / I0(beta)
Tensor kaiser_window(int64_t n, bool periodic = true, double beta = 12,
                     std::optional<DType> dtype = {}, std::optional<Device> device = {});

}  // namespace tsr::ops
