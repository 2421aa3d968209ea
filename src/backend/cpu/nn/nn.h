// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The ways to convolve that the CPU chooses from beside oneDNN.
#pragma once

#include "kernel/nn.h"

namespace tsr::cpu {

// Convolution with a kernel for every channel, where that does better than oneDNN.
bool prefers_depthwise(const kernel::ConvPlan& plan);
kernel::Status depthwise(const kernel::ConvPlan& plan);

// Convolution by im2col and matrix products, for what oneDNN does not do. Real floating types; the
// weight is row-major.
kernel::Status conv_by_columns(const kernel::ConvPlan& plan);
// Convolution of 16-bit floats by that of float32, a block of images at a time.
kernel::Status conv_by_blocks(const kernel::ConvPlan& plan);

}  // namespace tsr::cpu
