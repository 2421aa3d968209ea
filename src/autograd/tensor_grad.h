// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The autograd properties of a tensor: requires_grad, grad, grad_fn, detach, retain_grad.
#pragma once

#include "autograd/node.h"

namespace tsr {

// Throws kAutograd when the tensor is no leaf and `value` is false; kDType when `value` is true and
// the dtype is neither floating nor complex.
void set_requires_grad(const Tensor& tensor, bool value);
// Also true for a view whose base needs grad since an in-place write; the bare flag,
// Tensor::requires_grad, may still be false there. For all other tensors it is the flag.
[[nodiscard]] bool requires_grad(const Tensor& tensor) noexcept;
// No grad_fn: made by the user, or outside grad mode.
[[nodiscard]] bool is_leaf(const Tensor& tensor) noexcept;

// The accumulated gradient; undefined when there is none.
[[nodiscard]] Tensor grad_of(const Tensor& tensor);
// Undefined clears it. Throws kShape, kDType, kDevice when `value` does not fit the tensor,
// kAutograd when the tensor is its own gradient.
void set_grad(const Tensor& tensor, const Tensor& value);

// The tensor takes over the memory, layout, dtype and device of `data` and stays the same object;
// its version goes up, so that whoever saved it notices. Throws kAutograd for non-leaves, views, a
// mix with inference mode and when .grad would no longer fit; kDType when the tensor requires grad
// and the dtype cannot. Needs exclusive access.
void set_data(const Tensor& tensor, const Tensor& data);

// Null in leaves.
[[nodiscard]] NodePtr grad_fn(const Tensor& tensor);
// Which output of grad_fn the tensor is; 0 in leaves.
[[nodiscard]] uint32_t output_number(const Tensor& tensor);

// The same memory, without history; shares the version counter. Keeps the tangents of forward mode.
[[nodiscard]] Tensor detach(const Tensor& tensor);
// Cuts the tensor itself from its history; throws kAutograd for views.
void detach_inplace(const Tensor& tensor);

// Makes backward store the gradient of a non-leaf in .grad; does nothing for leaves and when called
// again. Throws kAutograd when the tensor does not require grad.
void retain_grad(const Tensor& tensor);
[[nodiscard]] bool retains_grad(const Tensor& tensor);

}  // namespace tsr
