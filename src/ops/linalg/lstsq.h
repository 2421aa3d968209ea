// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Least squares.
#pragma once

#include <optional>
#include <tuple>

#include "ops/result.h"

namespace tsr::ops {

// (solution, residuals, rank, singular_values): the X of least norm among those that minimise
// |input X - other|. Singular values up to rcond times the largest count as 0; rcond defaults to
// max(m, n) times the machine epsilon. A 1-D `other` is one column; batch dims broadcast. The
// residuals are the squared sums of input X - other, one for each column; there are none (shape
// (0)) unless all matrices are tall and have full rank. Only the solution has a derivative.
// float32, float64 and complex. Throws kShape, kDType, kDevice; kLinalg as svd.
std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& input, const Tensor& other,
                                                 std::optional<double> rcond = {},
                                                 Out solution = {}, Out residuals = {},
                                                 Out rank = {}, Out singular_values = {});

// (solution, rank) of the same: the singular values are computed only for a matrix that does not
// surely have full rank, which takes less than half of the time.
std::tuple<Tensor, Tensor> lstsq_solution(const Tensor& input, const Tensor& other,
                                          std::optional<double> rcond = {}, Out solution = {},
                                          Out rank = {});

}  // namespace tsr::ops
