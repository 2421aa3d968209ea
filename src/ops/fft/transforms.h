// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The three transforms that the Fourier kernels compute, differentiable; the ops of fft.h pad, crop
// and scale.
#pragma once

#include "tensor/tensor.h"

namespace tsr::ops {

// result[k] = scale * sum over j of input[j] * exp(-2πi jk / n) along an axis of n elements, or
// +2πi when `inverse`. Axes are not negative and not repeated, and have elements.

// Complex to complex, along several axes.
Tensor transform_complex(const Tensor& input, DimsView axes, bool inverse, double scale);
// The same in the memory of contiguous numbers that nobody else reads, without autograd and scale.
void transform_complex_memory(const Tensor& numbers, DimsView axes, bool inverse);
// float32 or float64 to the n/2 + 1 results that are not conjugates of others.
Tensor transform_real(const Tensor& input, int64_t axis, bool inverse, double scale);
// The reverse: from n/2 + 1 complex numbers, the others being their conjugates, to n real ones.
Tensor transform_half(const Tensor& input, int64_t axis, int64_t n, bool inverse, double scale);

}  // namespace tsr::ops
