// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The convolution algorithms of the CPU beside oneDNN.
#pragma once

#include "kernel/nn.h"

namespace tsr::cpu {

// Depthwise convolution: true if our kernels are faster than oneDNN for this plan.
bool prefers_depthwise(const kernel::ConvPlan& plan);
kernel::Status depthwise(const kernel::ConvPlan& plan);

// Convolution by im2col and matrix products, where oneDNN has no implementation. Real floating
// dtypes; the weight is row-major.
kernel::Status conv_by_columns(const kernel::ConvPlan& plan);
// Convolution of 16-bit floats in float32, a block of images at a time.
kernel::Status conv_by_blocks(const kernel::ConvPlan& plan);
// How many images are computed in float32 at a time if each has `numbers` of them: at least
// 1 / 16 of the batch, in blocks of nearly equal size.
int64_t images_of_block(int64_t batch, int64_t numbers);

}  // namespace tsr::cpu
