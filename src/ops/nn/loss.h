// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Losses. `reduction` is "none", "sum" or "mean".
#pragma once

#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// -log softmax(input)[target] along the classes. input: (batch, classes, ...) or (classes), real
// floating. target: class numbers (batch, ...) of an integer dtype, or probabilities of the input's
// shape and dtype. weight: (classes) of the input's dtype, may be undefined. Positions with class
// ignore_index are ignored. label_smoothing in [0, 1] mixes in the uniform distribution. The mean
// for class numbers divides by the sum of the weights of the positions that are not ignored; the
// mean for probabilities divides by the number of positions. Throws kShape, kDType, kDevice, kIndex
// (a class out of range), kValue; kNotImplemented for weights of class numbers that require grad.
Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                     int64_t ignore_index = -100, std::string_view reduction = "mean",
                     double label_smoothing = 0);
// -input[target] weight[target]: cross_entropy of log-probabilities, with class numbers.
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                int64_t ignore_index = -100, std::string_view reduction = "mean");
// -weight (pos_weight target log σ(input) + (1 - target) log(1 - σ(input))), without overflow. The
// target has the input's shape; weight and pos_weight broadcast to it and may be undefined. Throws
// kShape, kDType.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        std::string_view reduction = "mean");

}  // namespace tsr::ops
