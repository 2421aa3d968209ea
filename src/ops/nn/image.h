// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Images: the two memory layouts that convolution, pooling and normalisation support, and their
// lists of sizes.
#pragma once

#include <array>
#include <optional>

#include "kernel/nn.h"
#include "ops/result.h"

namespace tsr::ops {

// One number for each spatial axis.
using Spatial = std::array<int64_t, kernel::kMaxSpatial>;
// One number for each spatial axis, or one number for all axes; absent: the default.
using SpatialArg = std::optional<DimsView>;

// `arg` is the name of the argument in errors. Throws kValue unless all numbers are in [low, 2^31).
Spatial spatial_list(const SpatialArg& list, int32_t spatial, int64_t fallback, int64_t low,
                     const char* arg);

// Strides of (batch, channels, spatial...) with the channels innermost.
Dims channels_last_strides(DimsView sizes);
// Whether the memory is dense with the channels innermost, and not also row-major.
bool is_channels_last(const Tensor& image);
// The image itself if it has this layout, else a copy in this layout. No autograd.
Tensor image_memory(const Tensor& image, bool channels_last);
Tensor empty_image(DimsView sizes, DType dtype, Device device, bool channels_last);
// ALLOCATE for an image. A fresh result gets the layout; the caller's tensor gets a detour unless
// the layout is row-major and it is row-major too.
Result allocate_image(const Out& out, DimsView sizes, DType dtype, Device device, bool recording,
                      std::initializer_list<const Tensor*> inputs, bool channels_last);

// Runs op(batched input, Out). An input of (channels, spatial...) is a batch of one. Throws kShape
// for other ranks.
template <class Op>
Tensor batched(const Tensor& input, int32_t spatial, const Out& out, Op op);
// input[None], and the first item of a batch. Differentiable views.
Tensor add_batch(const Tensor& input);
Tensor drop_batch(const Tensor& output);
// Throws kShape unless the input has the spatial axes, channels and optionally a batch.
void check_image(const Tensor& input, int32_t spatial);

template <class Op>
Tensor batched(const Tensor& input, int32_t spatial, const Out& out, Op op) {
  check_image(input, spatial);
  if (input.ndim() == spatial + 2) return op(input, out);
  const Tensor result = drop_batch(op(add_batch(input), Out{}));
  return deliver(result, out, needs_grad(result));
}

}  // namespace tsr::ops
