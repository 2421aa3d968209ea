// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// record_window: RECORD for ops that return a view of a part of their input.
#pragma once

#include <utility>

#include "autograd/forward.h"
#include "autograd/view.h"
#include "ops/create/copy.h"
#include "ops/reduce/sum_to.h"

namespace tsr::ops {

// Zeros of `sizes` with g copied into the part that `window` shows. `window` is a view op; it is
// also the derivative of this function. It also takes a tensor with one axis more in front, of
// which it shows all.
template <class Window>
Tensor scatter_window(const Tensor& g, const Dims& sizes, const char* node, const Window& window) {
  Tensor whole = zeros_like_shape(sizes, g.dtype(), g.device());
  {
    const Unrecorded guard;
    copy_memory(window(whole), g);
  }
  if (needs_grad(g)) {
    record(whole, node, {g}, {},
           TakesBatches{[window](Backward& ctx) { ctx.set(0, window(ctx.grad())); }},
           [&](Forward& ctx) { ctx.set(0, scatter_window(ctx.tangent(), sizes, node, window)); });
  }
  return whole;
}

// `view` is window(input). `node` and `second` are the names of its first and second derivative.
template <class Window>
void record_window(const Tensor& view, const Tensor& input, const char* node, const char* second,
                   Window window) {
  record_view(
      view, input, node,
      TakesBatches{[sizes = input.sizes(), second, window = std::move(window)](Backward& ctx) {
        ctx.set(0, scatter_window(ctx.grad(), ctx.batched(sizes), second, window));
      }});
}

}  // namespace tsr::ops
