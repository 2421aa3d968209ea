// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation: batch_norm and layer_norm.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// (input - mean) / sqrt(var + eps) weight + bias, for each channel. input: (batch, channels, ...).
// The other tensors are (channels) and may be undefined. Training uses the statistics of the batch
// (biased variance) and updates the running statistics in place: running += momentum (batch -
// running), with the unbiased variance. Evaluation uses the running statistics, which must then be
// given. 16-bit input is computed in float32; the running statistics are then float32. Throws
// kShape (also for one value per channel in training), kDType, kDevice, kInvalidArgument.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum = 0.1,
                  double eps = 1e-5, Out out = {});
// The same over the last dims of each sample, whose sizes are normalized_shape; weight and bias
// have that shape and may be undefined. Throws kShape, kDType, kDevice.
Tensor layer_norm(const Tensor& input, DimsView normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps = 1e-5, Out out = {});

}  // namespace tsr::ops
