// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The ranges of dtypes, and whether a number of the host language fits an integer dtype: such
// numbers never wrap around.
#pragma once

#include "base/dtype.h"
#include "base/scalar.h"

namespace tsr {

// The position of a number relative to the range of `dtype`. A fraction is cut off first; NaN is
// above. Every number fits a dtype that is not an integer dtype.
enum class Fit { kBelow, kInside, kAbove };
Fit fit_of(const Scalar& value, DType dtype) noexcept;

// The smallest and the largest number of an integer dtype, limited to the range of int64.
int64_t lowest_of(DType dtype) noexcept;
int64_t highest_of(DType dtype) noexcept;

// The largest finite number of a floating dtype.
double largest_of(DType dtype) noexcept;

// The number rounded to a dtype of 16-bit floats; itself for other dtypes. For ops that compare it
// with elements of the dtype: arithmetic takes it in opmath.
Scalar rounded_to(const Scalar& value, DType dtype) noexcept;

[[noreturn]] void fail_range(const Scalar& value, DType dtype, const char* arg);

// Throws kValue, with the number and the range in the message.
inline void check_fits(const Scalar& value, DType dtype, const char* arg) {
  if (is_integral(dtype) && fit_of(value, dtype) != Fit::kInside) fail_range(value, dtype, arg);
}

// Throws kDType for a complex number where the dtype is none and for a fraction where the dtype has
// none, kValue for one outside its range: for numbers that are cast to a dtype without promotion.
void check_holds(const Scalar& value, DType dtype, const char* arg);

}  // namespace tsr
