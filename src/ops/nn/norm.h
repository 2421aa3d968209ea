// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation over channels, rows, groups of channels, and neighbouring channels.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// (input - mean) / sqrt(var + eps) weight + bias, for each channel. input: (batch, channels, ...).
// The other tensors are (channels) and may be undefined. Training uses the statistics of the batch
// (biased variance) and updates the running statistics in place: running += momentum (batch -
// running), with the unbiased variance. Evaluation uses the running statistics, which must then be
// given. 16-bit input is computed in float32. The other tensors may then be float32 or of the
// input's dtype; running statistics in 16 bits round away small updates. Throws kShape (also for
// one value per channel in training), kDType, kDevice, kInvalidArgument.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum = 0.1,
                  double eps = 1e-5, Out out = {});
// The same over the last dims of each sample, whose sizes are normalized_shape; weight and bias
// have that shape and may be undefined. Throws kShape, kDType, kDevice.
Tensor layer_norm(const Tensor& input, DimsView normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps = 1e-5, Out out = {});
// input / sqrt(mean(input^2) + eps) weight over the last dims, as layer_norm; eps is the machine
// epsilon of the input's dtype if absent.
Tensor rms_norm(const Tensor& input, DimsView normalized_shape, const Tensor& weight,
                std::optional<double> eps = {}, Out out = {});

// (input - mean) / sqrt(var + eps) weight + bias for each sample and each of num_groups groups of
// neighbouring channels. input: (batch, channels, ...); weight and bias are (channels) and may be
// undefined. Throws kShape, kDType, kDevice, kValue.
Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps = 1e-5, Out out = {});
// The same for each sample and channel; at least one spatial axis. The running statistics move
// towards the means of the samples' statistics (with the unbiased variance) and are used instead of
// them without use_input_stats. Throws also kInvalidArgument, and kShape for one value per channel.
Tensor instance_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats = true,
                     double momentum = 0.1, double eps = 1e-5, Out out = {});
// input / (k + alpha mean(input^2))^beta, where the mean goes over `size` neighbouring channels, of
// which those outside count as zeros. input: (batch, channels, ...). Throws kShape, kDType, kValue.
Tensor local_response_norm(const Tensor& input, int64_t size, double alpha = 1e-4,
                           double beta = 0.75, double k = 1, Out out = {});

}  // namespace tsr::ops
