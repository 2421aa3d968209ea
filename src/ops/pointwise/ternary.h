// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Ternary pointwise ops.
#pragma once

#include <optional>

#include "ops/pointwise/binary.h"

namespace tsr::ops {

// input if the condition is true, other elsewhere. condition: bool; all three broadcast; input and
// other are promoted together (both may be scalars). Throws kShape, kDType, kDevice.
Tensor where(const Tensor& condition, const Arg& input, const Arg& other, Out out = {});

// ---- floating and complex dtypes; operands broadcast and promote together; throws kShape, kDType,
// kDevice ----

// input + weight (other - input).
Tensor lerp(const Tensor& input, const Tensor& other, const Arg& weight, Out out = {});
// input + value tensor1 tensor2, also of integers, and input + value tensor1 / tensor2. `value`
// does not promote: it must be a number of the operands' dtype.
Tensor addcmul(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1, Out out = {});
Tensor addcdiv(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1, Out out = {});

// ---- real dtypes ----

// The input limited to [min, max]; an absent bound limits nothing. The gradient passes inside the
// bounds and at them. NaN stays NaN. The result has the promoted dtype of input and bounds.
Tensor clip(const Tensor& input, std::optional<Scalar> min, std::optional<Scalar> max,
            Out out = {});
Tensor clip(const Tensor& input, const Tensor& min, const Tensor& max, Out out = {});

}  // namespace tsr::ops
