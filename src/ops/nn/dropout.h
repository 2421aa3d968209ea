// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Dropout of elements and of channels.
#pragma once

#include "base/generator.h"
#include "ops/result.h"

namespace tsr::ops {

// In all functions: the input itself if not training or if p is 0. Floating dtypes; a null
// generator means the thread's current one. Throws kValue for p outside [0, 1], kDType, kShape.

// Each element is 0 with probability p and input / (1 - p) otherwise.
Tensor dropout(const Tensor& input, double p = 0.5, bool training = true,
               Generator* generator = nullptr, Out out = {});
// The same for whole channels of images with 1, 2 or 3 spatial axes: (batch, channels, spatial...)
// or, with 1 or 3 axes, without the batch. dropout2d takes (batch, channels, length) too.
Tensor dropout1d(const Tensor& input, double p = 0.5, bool training = true,
                 Generator* generator = nullptr, Out out = {});
Tensor dropout2d(const Tensor& input, double p = 0.5, bool training = true,
                 Generator* generator = nullptr, Out out = {});
Tensor dropout3d(const Tensor& input, double p = 0.5, bool training = true,
                 Generator* generator = nullptr, Out out = {});
// Dropout for selu: sets elements, or whole channels (axis 1), to selu's limit at -infinity and
// scales and shifts the result so that mean 0 and variance 1 stay. All 0 for p = 1.
Tensor alpha_dropout(const Tensor& input, double p = 0.5, bool training = true,
                     Generator* generator = nullptr, Out out = {});
Tensor feature_alpha_dropout(const Tensor& input, double p = 0.5, bool training = true,
                             Generator* generator = nullptr, Out out = {});

}  // namespace tsr::ops
