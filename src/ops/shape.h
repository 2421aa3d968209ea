// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Shape ops: windows on the same memory where possible.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// The same elements in row-major order under another shape (one -1 is inferred): a view where the
// strides allow it, else a copy. Throws kShape.
Tensor reshape(const Tensor& input, DimsView shape);
// A read-only-by-nature view of stride 0 along the stretched dims. Throws kShape.
Tensor broadcast_to(const Tensor& input, DimsView shape);
// Dims in another order, a view. Throws kShape, kIndex, kValue.
Tensor permute_dims(const Tensor& input, DimsView axes);
// The last two dims swapped, a view. Throws kShape below two dims.
Tensor matrix_transpose(const Tensor& input);

}  // namespace tsr::ops
