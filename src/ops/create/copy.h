// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Copies: clone, contiguous, astype, to, copy_, fill_, zero_, detach.
#pragma once

#include <optional>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// ---- on memory alone: no autograd, for use inside ops ----

// dst = src, cast and broadcast. Shapes must broadcast. The memory of src and dst must either not
// overlap or be exactly the same elements. With `non_blocking`, a copy between host and device does
// not wait if the host memory is pinned for that device.
void copy_memory(const Tensor& dst, const Tensor& src, bool non_blocking = false);
void fill_memory(const Tensor& dst, const Scalar& value);
// The tensor itself if it has this dtype, else a cast copy.
Tensor cast_memory(const Tensor& input, DType dtype);
// The tensor itself if it is row-major, else a row-major copy.
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
// The input in host memory that is pinned for the device, so that copies need not wait; the input
// itself if it is pinned already. Without a device: the default device, or the first CUDA device if
// the default is the CPU. Throws kDevice if there is none, kNotImplemented if it cannot pin memory.
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
