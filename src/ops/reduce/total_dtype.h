// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The dtype of sums and products, also of running ones.
#pragma once

#include "base/dtype.h"

namespace tsr::ops {

// Integers and bool become 64-bit integers of their signedness; others stay.
inline DType total_dtype(DType input) noexcept {
  if (!is_integral_or_bool(input)) return input;
  return input == DType::kBool || info(input).is_signed ? DType::kInt64 : DType::kUInt64;
}

}  // namespace tsr::ops
