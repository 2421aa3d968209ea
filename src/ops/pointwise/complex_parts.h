// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Complex tensors and their parts: views of the same memory with two dtypes.
//
// Autograd can follow an in-place write through a view only if the view has the dtype of its base.
// In grad mode, a write through a view of these functions therefore throws kAutograd if anything
// involved requires grad.
#pragma once

#include "base/scalar.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// The same memory under another dtype, outside any graph; a window as make_view gives it in every
// other way.
Tensor make_cast_view(const Tensor& input, DType dtype, DimsView sizes, DimsView strides,
                      int64_t offset);

// (...) complex as (..., 2) real: the real parts at 0 of the last axis, the imaginary ones at 1.
Tensor view_as_real(const Tensor& input);
// As view_as_real for a complex tensor, without autograd; for use inside ops.
Tensor parts_memory(const Tensor& input);
// The reverse of view_as_real. Throws kShape unless the last axis has 2 contiguous elements and the
// other strides and the offset are even.
Tensor view_as_complex(const Tensor& input);
// The real parts; a real tensor itself.
Tensor real(const Tensor& input);
// The imaginary parts; kDType for a real tensor.
Tensor imag(const Tensor& input);
// The conjugate; a real tensor or number itself.
Tensor conj_of(const Tensor& x);
Scalar conj_of(const Scalar& x);

}  // namespace tsr::ops
