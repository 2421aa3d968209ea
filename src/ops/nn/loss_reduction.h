// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How a loss of many elements becomes one number, for every op file of losses.
#pragma once

#include <string_view>

#include "kernel/registry.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// "none", "sum" or "mean"; throws kValue for other names.
kernel::ClassReduction reduction_of(std::string_view name);
Tensor reduce(const Tensor& loss, kernel::ClassReduction reduction);
// Throws unless the input is floating and the target has its shape and device.
void check_pair(const Tensor& input, const Tensor& target);

}  // namespace tsr::ops
