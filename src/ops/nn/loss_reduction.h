// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What every op file of losses needs: how a loss of many elements becomes one number, and checks.
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
// The part about the target.
void check_target(const Tensor& input, const Tensor& target);
// Throws unless the weight is undefined, or has one number for each class, of the input's dtype and
// device.
void check_class_weight(const Tensor& input, const Tensor& weight, int64_t classes);

}  // namespace tsr::ops
