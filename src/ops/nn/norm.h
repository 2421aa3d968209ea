// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation: batch_norm and layer_norm.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// (input - mean) / sqrt(var + eps) weight + bias, per channel. input: (batch, channels, ...); the
// other tensors are (channels) and may be undefined. Training takes the statistics of the batch
// (biased variance) and moves the running ones, which it writes: running += momentum (batch -
// running), with the unbiased variance. Otherwise the running ones are used and must be there.
// 16-bit input is computed in float32; then the running statistics are float32. Throws kShape (also
// for one value per channel in training), kDType, kDevice, kInvalidArgument.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum = 0.1,
                  double eps = 1e-5, Out out = {});
// The same over the last dims of each sample: normalized_shape names them; weight and bias have
// that shape and may be undefined. Throws kShape, kDType, kDevice.
Tensor layer_norm(const Tensor& input, DimsView normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps = 1e-5, Out out = {});

}  // namespace tsr::ops
