// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Images: the two memory layouts that convolution, pooling and normalisation know, and the lists of
// sizes their arguments name.
#pragma once

#include <array>
#include <optional>

#include "kernel/nn.h"
#include "ops/result.h"

namespace tsr::ops {

// One number per spatial axis.
using Spatial = std::array<int64_t, kernel::kMaxSpatial>;
// One number for every spatial axis, or one for all; absent: the default.
using SpatialArg = std::optional<DimsView>;

// `arg` names the argument; numbers must lie in [low, 2^31). Throws kValue.
Spatial spatial_list(const SpatialArg& list, int32_t spatial, int64_t fallback, int64_t low,
                     const char* arg);

// Strides of (batch, channels, spatial...) with the channels innermost.
Dims channels_last_strides(DimsView sizes);
// Whether the memory is dense with the channels innermost and not row-major as well.
bool is_channels_last(const Tensor& image);
// The image itself when it has this layout, else a copy that has. No autograd.
Tensor image_memory(const Tensor& image, bool channels_last);
Tensor empty_image(DimsView sizes, DType dtype, Device device, bool channels_last);
// ALLOCATE for an image: a fresh one gets the layout, a caller's is row-major or gets a detour.
Result allocate_image(const Out& out, DimsView sizes, DType dtype, Device device, bool recording,
                      std::initializer_list<const Tensor*> inputs, bool channels_last);

// An input of (channels, spatial...) is a batch of one: runs op(batched input, Out) either way.
// Throws kShape for other ranks.
template <class Op>
Tensor batched(const Tensor& input, int32_t spatial, const Out& out, Op op);
// input[None], and the first of a batch. Differentiable views.
Tensor add_batch(const Tensor& input);
Tensor drop_batch(const Tensor& output);
// Throws kShape unless input has the spatial axes, channels and perhaps a batch.
void check_image(const Tensor& input, int32_t spatial);

template <class Op>
Tensor batched(const Tensor& input, int32_t spatial, const Out& out, Op op) {
  check_image(input, spatial);
  if (input.ndim() == spatial + 2) return op(input, out);
  const Tensor result = drop_batch(op(add_batch(input), Out{}));
  return deliver(result, out, needs_grad(result));
}

}  // namespace tsr::ops
