// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape.h"

#include "base/error.h"
#include "ops/copy.h"
#include "ops/sum_to.h"

namespace tsr::ops {
namespace {

// A window with the same numel; its gradient is the gradient under the old shape.
Tensor shape_view(const Tensor& input, DimsView shape, DimsView strides, const char* node) {
  Tensor view = make_view(input, shape, strides, input.offset());
  record_view(view, input, node,
              [old = input.sizes()](Backward& ctx) { ctx.set(0, reshape(ctx.grad(), old)); });
  return view;
}

}  // namespace

Tensor reshape(const Tensor& input, DimsView shape) {
  const Dims target = infer_shape(shape, input.numel());
  const std::optional<Dims> strides = view_strides(input.sizes(), input.strides(), target);
  if (strides.has_value()) return shape_view(input, target, *strides, "ReshapeBackward");
  const Tensor dense = contiguous(input);
  return shape_view(dense, target, contiguous_strides(target), "ReshapeBackward");
}

Tensor broadcast_to(const Tensor& input, DimsView shape) {
  checked_numel(shape, input.itemsize());
  const Dims strides = broadcast_strides(input.sizes(), input.strides(), shape);
  Tensor view = make_view(input, shape, strides, input.offset());
  record_view(view, input, "BroadcastToBackward",
              [old = input.sizes()](Backward& ctx) { ctx.set(0, sum_to(ctx.grad(), old)); });
  return view;
}

Tensor expand_to(const Tensor& input, DimsView shape) {
  return broadcast_to(input, shape);
}

Tensor permute_dims(const Tensor& input, DimsView axes) {
  TSR_CHECK(static_cast<int64_t>(axes.size()) == input.ndim(), Code::kShape, "axes", "expected ",
            input.ndim(), " axes, got ", axes);
  const Dims order = wrap_axes(axes, input.ndim(), "axes");
  Dims sizes(order.size());
  Dims strides(order.size());
  Dims inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    sizes[i] = input.size(order[i]);
    strides[i] = input.stride(order[i]);
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  Tensor view = make_view(input, sizes, strides, input.offset());
  record_view(view, input, "PermuteDimsBackward",
              [inverse](Backward& ctx) { ctx.set(0, permute_dims(ctx.grad(), inverse)); });
  return view;
}

Tensor matrix_transpose(const Tensor& input) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  Dims axes(static_cast<size_t>(input.ndim()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return permute_dims(input, axes);
}

}  // namespace tsr::ops
