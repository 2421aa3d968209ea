// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Special functions and parts of numbers that take more than their operands, or are made of other
// ops; those that are plain rows stand in ops/generated.
#pragma once

#include <optional>
#include <string_view>

#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {

// ---- one operand ----

// The derivative of order n of digamma; real dtypes. Throws kValue for n < 0.
Tensor polygamma(const Tensor& input, int64_t n, Out out = {});
// log(x / (1 - x)) of x limited to [eps, 1 - eps]; real dtypes.
Tensor logit(const Tensor& input, std::optional<double> eps = {}, Out out = {});
// A copy; throws kDType for bool.
Tensor positive(const Tensor& input, Out out = {});
// The input rounded to so many decimal places, halves to even; whole numbers stay. Throws kValue
// for integers and decimals below 0.
Tensor round_decimals(const Tensor& input, int64_t decimals, Out out = {});
// The input with NaN and infinities replaced; in complex numbers, in both parts. An absent value
// is the largest number of the dtype, or its negative.
Tensor nan_to_num(const Tensor& input, double nan = 0, std::optional<double> posinf = {},
                  std::optional<double> neginf = {}, Out out = {});

// ---- complex numbers of two real tensors, which broadcast; float32 or float64, one for both ----

Tensor complex(const Tensor& real, const Tensor& imag, Out out = {});
Tensor polar(const Tensor& magnitude, const Tensor& phase, Out out = {});

// ---- two operands, of which one is a tensor ----

// The number next to the first operand towards the second; real dtypes.
Tensor nextafter(const Arg& input, const Arg& other, Out out = {});
// pow in float64 or complex128.
Tensor float_power(const Arg& input, const Arg& other, Out out = {});
// The quotient: "none" as divide, "trunc" rounded towards 0, "floor" as floor_divide.
Tensor divide_rounded(const Arg& input, const Arg& other, std::string_view rounding_mode = "none",
                      Out out = {});

}  // namespace tsr::ops
