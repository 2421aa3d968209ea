// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// For derivatives that take batches (Note [Batched backward] in autograd/node.h). Without a batch
// each function returns what it is given.
#pragma once

#include "autograd/node.h"
#include "ops/shape/shape.h"

namespace tsr::ops {

// Axes of the forward's tensor, counted from 0, as axes of its gradient.
inline Dims sample_axes(const Backward& ctx, DimsView axes) {
  Dims moved(axes);
  for (int64_t& axis : moved) axis += ctx.lead();
  return moved;
}

// The axis of samples and the first axis of the forward as one axis, and apart again: for ops whose
// first axis is a batch.
inline Tensor join_samples(const Backward& ctx, const Tensor& tensor) {
  return ctx.lead() == 0 ? tensor : flatten(tensor, 0, 1);
}
inline Tensor split_samples(const Backward& ctx, const Tensor& tensor) {
  if (ctx.lead() == 0) return tensor;
  return unflatten(tensor, 0, Dims{ctx.samples(), tensor.size(0) / ctx.samples()});
}

// A saved tensor, which may be undefined, seen once by each sample.
inline Tensor for_samples(const Backward& ctx, const Tensor& saved) {
  if (ctx.lead() == 0 || !saved.defined()) return saved;
  return broadcast_to(saved, ctx.batched(saved.sizes()));
}

}  // namespace tsr::ops
