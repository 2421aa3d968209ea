// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GradientOps: the differentiable operations that the engine itself needs; ops/ fills them in.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tsr {

// All of them record when grad mode is on and an input needs grad, as any op does.
struct GradientOps {
  Tensor (*add)(const Tensor& a, const Tensor& b);
  // a += b; same shape, dtype and device. Called only under NoGrad.
  void (*add_inplace)(const Tensor& a, const Tensor& b);
  // Sums over the dimensions that broadcasting `sizes` to the tensor's shape repeats.
  Tensor (*sum_to)(const Tensor& tensor, DimsView sizes);
  // A complex tensor cast to a real dtype keeps its real part.
  Tensor (*cast)(const Tensor& tensor, DType dtype);
  Tensor (*to_device)(const Tensor& tensor, Device device);
  // A copy, row-major.
  Tensor (*clone)(const Tensor& tensor);
  // Writes src into dst in place: the ordinary in-place copy, which records on views too. Same
  // shape.
  void (*copy_into)(const Tensor& dst, const Tensor& src);
  Tensor (*zeros)(DimsView sizes, DType dtype, Device device);
  Tensor (*ones)(DimsView sizes, DType dtype, Device device);
  // Whether an element is not a number.
  bool (*has_nan)(const Tensor& tensor);
  Tensor (*conj)(const Tensor& tensor);
  // A complex tensor as real numbers, with a last axis of size 2, and the way back. Views.
  Tensor (*as_real)(const Tensor& tensor);
  Tensor (*as_complex)(const Tensor& tensor);
  // One place of the first axis, as a view; and the way back.
  Tensor (*select)(const Tensor& tensor, int64_t index);
  Tensor (*stack)(std::span<const Tensor> tensors);
};

// Called once at start-up, before any backward.
void set_gradient_ops(const GradientOps& ops);
// Throws kInternal when set_gradient_ops was not called.
const GradientOps& gradient_ops();

}  // namespace tsr
