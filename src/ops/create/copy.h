// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Copies: clone, contiguous, astype, to, copy_, fill_, zero_, detach.
#pragma once

#include <optional>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// ---- on memory alone: no autograd, for the insides of ops ----

// dst = src, cast and broadcast; shapes must broadcast; dst must not overlap src otherwise than
// exactly. With `non_blocking` nobody waits for a copy between devices that may run on its own: one
// to or from memory that is pinned for the other device.
void copy_memory(const Tensor& dst, const Tensor& src, bool non_blocking = false);
void fill_memory(const Tensor& dst, const Scalar& value);
// The tensor itself when it has this dtype already, else a cast copy.
Tensor cast_memory(const Tensor& input, DType dtype);
// The tensor itself when it is row-major already, else a row-major copy.
Tensor contiguous_memory(const Tensor& input);

// ---- differentiable ----

// A copy with memory of its own, in the input's memory order.
Tensor clone(const Tensor& input, Out out = {});
// The input itself when it is row-major, else a row-major copy.
Tensor contiguous(const Tensor& input);
// A copy of another dtype; the input itself when nothing changes and `copy` is false. Complex to
// real throws kDType (take the real part explicitly).
Tensor astype(const Tensor& input, DType dtype, bool copy = false);
// As astype, also to another device.
Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype,
          bool copy = false, bool non_blocking = false);
// The input in memory that the device copies from and to on its own; itself when it lies there.
// Without a device the default one is meant, or the first CUDA device when that is the CPU. Throws
// kDevice when there is none, kNotImplemented when it cannot do so.
Tensor pin_memory(const Tensor& input, std::optional<Device> device = {});
bool is_pinned(const Tensor& input);
// The real part of a complex tensor, as a copy; a real tensor is returned as it is.
Tensor real_part(const Tensor& input);
// An alias outside the graph: same memory, same version counter.
Tensor detach(const Tensor& input);
// input[...] = src, cast and broadcast, in place.
Tensor copy_(const Tensor& input, const Tensor& src, bool non_blocking = false);
Tensor fill_(const Tensor& input, const Scalar& value);
Tensor zero_(const Tensor& input);

}  // namespace tsr::ops
