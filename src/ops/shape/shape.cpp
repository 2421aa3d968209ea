// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/shape.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/reduce/sum_to.h"

namespace tsr::ops {
namespace {

// A view with the same number of elements; its derivative restores the old shape.
Tensor shape_view(const Tensor& input, DimsView shape, DimsView strides, const char* node) {
  Tensor view = make_view(input, shape, strides, input.offset());
  record_view(view, input, node, TakesBatches{[old = input.sizes()](Backward& ctx) {
                ctx.set(0, reshape(ctx.grad(), ctx.batched(old)));
              }});
  return view;
}

Tensor shape_copy(const Tensor& input, DimsView shape) {
  const bool grad = needs_grad(input);
  Result result = allocate_apart({}, shape, input.dtype(), input.device(), grad, {&input});
  const Dims& sizes = input.sizes();
  copy_memory(make_view(result.value(), sizes, contiguous_strides(sizes), 0), input);
  Tensor output = result.finish();
  if (grad) {
    record(output, "ReshapeBackward", {input}, {}, TakesBatches{[sizes](Backward& ctx) {
             ctx.set(0, reshape(ctx.grad(), ctx.batched(sizes)));
           }},
           [&](Forward& ctx) { ctx.set(0, reshape(ctx.tangent(), shape)); });
  }
  return output;
}

Dims iota_dims(int64_t count) {
  Dims dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

bool contains(const Dims& dims, int64_t value) {
  return std::find(dims.begin(), dims.end(), value) != dims.end();
}

}  // namespace

Tensor reshape(const Tensor& input, DimsView shape, std::optional<bool> copy) {
  const Dims target = infer_shape(shape, input.numel());
  checked_numel(target, input.itemsize());
  const std::optional<Dims> strides = view_strides(input.sizes(), input.strides(), target);
  TSR_CHECK(strides.has_value() || copy.value_or(true), Code::kValue, "copy",
            "expected an input that can be viewed as ", target, " without a copy, got shape ",
            input.sizes(), " with strides ", input.strides());
  if (strides.has_value() && !copy.value_or(false))
    return shape_view(input, target, *strides, "ReshapeBackward");
  return shape_copy(input, target);
}

Tensor view(const Tensor& input, DimsView shape) {
  const Dims target = infer_shape(shape, input.numel());
  checked_numel(target, input.itemsize());
  const std::optional<Dims> strides = view_strides(input.sizes(), input.strides(), target);
  TSR_CHECK(strides.has_value(), Code::kValue, "shape",
            "expected a shape that needs no copy of an input of shape ", input.sizes(),
            " with strides ", input.strides(), ", got ", target, "; reshape() copies");
  return shape_view(input, target, *strides, "ViewBackward");
}

Tensor flatten(const Tensor& input, int64_t start, int64_t end) {
  const int64_t first = wrap_axis(start, input.ndim(), "start");
  const int64_t last = wrap_axis(end, input.ndim(), "end_axis");
  TSR_CHECK(first <= last, Code::kIndex, "end_axis", "expected an axis not before start ", start,
            ", got ", end);
  if (input.ndim() == 0) return reshape(input, Dims{1});
  Dims shape;
  int64_t merged = 1;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    if (d < first || d > last) shape.push_back(input.size(d));
    if (d >= first && d <= last) merged *= input.size(d);
    if (d == last) shape.push_back(merged);
  }
  return reshape(input, shape);
}

Tensor unflatten(const Tensor& input, int64_t axis, DimsView shape) {
  TSR_CHECK(input.ndim() > 0, Code::kIndex, "input",
            "expected at least one dimension, got a 0-dim tensor");
  TSR_CHECK(!shape.empty(), Code::kShape, "shape", "expected at least one size, got none");
  const auto at = static_cast<size_t>(wrap_axis(axis, input.ndim()));
  Dims target = input.sizes();
  const Dims parts = infer_shape(shape, target[at]);
  target.erase(at);
  for (size_t i = 0; i < parts.size(); ++i) target.insert(at + i, parts[i]);
  return reshape(input, target);
}

Tensor squeeze(const Tensor& input, DimsView axes) {
  const Dims dropped = wrap_axes(axes, input.ndim(), "axes");
  Dims shape;
  Dims strides;
  for (const int64_t axis : dropped) {
    TSR_CHECK(input.ndim() == 0 || input.size(axis) == 1, Code::kShape, "axes",
              "expected axes of size 1, got axis ", axis, " of shape ", input.sizes());
  }
  for (int64_t d = 0; d < input.ndim(); ++d) {
    if (contains(dropped, d)) continue;
    shape.push_back(input.size(d));
    strides.push_back(input.stride(d));
  }
  return shape_view(input, shape, strides, "SqueezeBackward");
}

Tensor expand_dims(const Tensor& input, DimsView axes) {
  const int64_t ndim = input.ndim() + static_cast<int64_t>(axes.size());
  TSR_CHECK(ndim <= kMaxTensorRank, Code::kShape, "input", "expected at most ", kMaxTensorRank,
            " dimensions of the result, got ", ndim);
  Dims places = wrap_axes(axes, ndim, "axes");
  std::sort(places.begin(), places.end());
  Dims shape = input.sizes();
  Dims strides = input.strides();
  for (const int64_t place : places) {
    const auto at = static_cast<size_t>(place);
    const int64_t stride =
        at < strides.size() ? strides[at] * std::max<int64_t>(shape[at], 1) : int64_t{1};
    shape.insert(at, 1);
    strides.insert(at, stride);
  }
  return shape_view(input, shape, strides, "ExpandDimsBackward");
}

Tensor expand_dims(const Tensor& input, int64_t axis) {
  const std::array places{axis};
  return expand_dims(input, DimsView(places));
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
  record_view(view, input, "PermuteDimsBackward", TakesBatches{[inverse](Backward& ctx) {
                Dims back;
                if (ctx.lead() == 1) back.push_back(0);
                for (const int64_t axis : inverse) back.push_back(axis + ctx.lead());
                ctx.set(0, permute_dims(ctx.grad(), back));
              }});
  return view;
}

Tensor transpose(const Tensor& input, int64_t axis0, int64_t axis1) {
  const int64_t a = wrap_axis(axis0, input.ndim(), "axis0");
  const int64_t b = wrap_axis(axis1, input.ndim(), "axis1");
  Dims axes = iota_dims(input.ndim());
  if (a != b) std::swap(axes[static_cast<size_t>(a)], axes[static_cast<size_t>(b)]);
  return permute_dims(input, axes);
}

Tensor matrix_transpose(const Tensor& input) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  return transpose(input, -2, -1);
}

Tensor moveaxis(const Tensor& input, DimsView source, DimsView destination) {
  TSR_CHECK(source.size() == destination.size(), Code::kShape, "destination",
            "expected as many axes as source ", source, ", got ", destination);
  const Dims from = wrap_axes(source, input.ndim(), "source");
  const Dims to = wrap_axes(destination, input.ndim(), "destination");
  if (input.ndim() == 0) return permute_dims(input, {});
  Dims order(static_cast<size_t>(input.ndim()), -1);
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(to[i])] = from[i];
  int64_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (contains(from, next)) ++next;
    axis = next++;
  }
  return permute_dims(input, order);
}

Tensor broadcast_to(const Tensor& input, DimsView shape) {
  checked_numel(shape, input.itemsize());
  const Dims strides = broadcast_strides(input.sizes(), input.strides(), shape);
  Tensor view = make_view(input, shape, strides, input.offset());
  record_view(view, input, "BroadcastToBackward",
              TakesBatches{[old = input.sizes()](Backward& ctx) {
                // The engine sums the gradients of samples.
                ctx.set(0, ctx.lead() == 1 ? ctx.grad() : sum_to(ctx.grad(), old));
              }});
  return view;
}

Tensor expand(const Tensor& input, DimsView shape) {
  Dims target(shape);
  const size_t added = shape.size() - static_cast<size_t>(input.ndim());
  TSR_CHECK(shape.size() >= static_cast<size_t>(input.ndim()), Code::kShape, "shape",
            "expected at least ", input.ndim(), " sizes, got ", shape);
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] != -1) continue;
    TSR_CHECK(i >= added, Code::kShape, "shape", "expected -1 only for the ", input.ndim(),
              " sizes that the input has, got ", shape);
    target[i] = input.sizes()[i - added];
  }
  return broadcast_to(input, target);
}

Tensor atleast_1d(const Tensor& input) {
  return input.ndim() >= 1 ? input : expand_dims(input, 0);
}

Tensor atleast_2d(const Tensor& input) {
  return input.ndim() >= 2 ? input : expand_dims(atleast_1d(input), 0);
}

Tensor atleast_3d(const Tensor& input) {
  return input.ndim() >= 3 ? input : expand_dims(atleast_2d(input), -1);
}

Tensor drop_leading_ones(const Tensor& input, int64_t rank) {
  Dims shape = input.sizes();
  while (static_cast<int64_t>(shape.size()) > rank && shape.front() == 1) shape.erase(0);
  return shape == input.sizes() ? input : reshape(input, shape);
}

}  // namespace tsr::ops
