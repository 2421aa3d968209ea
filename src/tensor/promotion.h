// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Type promotion: the lattice of docs/guide/operations.md; only host-language numbers are weak.
#pragma once

#include "base/dtype.h"
#include "base/scalar.h"

namespace tsr {

// The dtype of an op on tensors of dtypes a and b. uint64 with a signed integer throws kDType that
// names both.
DType promote_types(DType a, DType b, const char* arg = "other");
// True when promote_types(from, to) is `to`; dtypes without a common dtype cannot be cast.
bool can_cast(DType from, DType to) noexcept;
// The same for a tensor and a number, which can only raise the category: to default_dtype()
// (floating), the complex dtype of its precision, or int64.
DType promote_scalar(DType tensor, Category scalar);
DType promote_scalar(DType tensor, const Scalar& scalar);

// True when values of `from` may be written in place into `to`: the category (bool, integer,
// floating, complex) must not become lower.
constexpr bool can_cast_in_place(DType from, DType to) {
  return category(from) <= category(to);
}

// The floating type of results that need one (exp of integers, new tensors of floats); float32 at
// start.
DType default_dtype() noexcept;
// Process-wide; must be floating, otherwise throws kDType.
void set_default_dtype(DType dtype);
// The complex type of the same precision as default_dtype().
DType default_complex_dtype() noexcept;

}  // namespace tsr
