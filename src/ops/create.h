// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Creation: tensors from shapes and numbers.
#pragma once

#include <optional>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// Dtype defaults to default_dtype(), device to the CPU. Throws kShape for impossible shapes.
Tensor zeros(DimsView shape, std::optional<DType> dtype = {}, std::optional<Device> device = {});
Tensor ones(DimsView shape, std::optional<DType> dtype = {}, std::optional<Device> device = {});
// Dtype defaults to what the value's kind asks for: bool, int64, default_dtype() or its complex.
Tensor full(DimsView shape, const Scalar& value, std::optional<DType> dtype = {},
            std::optional<Device> device = {});

}  // namespace tsr::ops
