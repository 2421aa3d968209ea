// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// gather, take_along_axis: reading with one index for each element.
#include <algorithm>

#include "base/error.h"
#include "ops/index/along_axis.h"
#include "ops/index/index.h"
#include "ops/reduce/sum_to.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::IndexOp;

// Zeros of that shape with g added at the index; the derivative of gather.
Tensor gather_backward(const Tensor& g, const Dims& sizes, int64_t axis, const Tensor& index) {
  return scatter_add_at(zeros_like_shape(sizes, g.dtype(), g.device()), axis, index, g,
                        Indices::kFromEnd, {});
}

}  // namespace

Tensor at_least_1d_memory(const Tensor& input) {
  return input.ndim() == 0 ? make_view(input, Dims{1}, Dims{1}, input.offset()) : input;
}

Tensor at_least_1d(const Backward& ctx, const Tensor& batch) {
  return ctx.lead() == 1 && batch.ndim() == 1 ? reshape(batch, Dims{ctx.samples(), 1}) : batch;
}

Tensor shaped_like(const Tensor& batch, const Tensor& other) {
  return batch.sizes() == other.sizes() ? batch : reshape(batch, other.sizes());
}

IndexWalk gather_walk(const Tensor& array, int64_t axis, const Tensor& index, Indices kind) {
  IndexWalk walk;
  walk.from_end = kind == Indices::kFromEnd;
  walk.shape = index.sizes();
  walk.array_strides = array.strides();
  walk.array_strides[static_cast<size_t>(axis)] = 0;
  walk.indices.push_back(index);
  walk.axes.push_back({axis, array.size(axis), array.stride(axis)});
  return walk;
}

void check_gather(const Tensor& input, int64_t axis, const Tensor& index) {
  const auto rank = [](const Tensor& tensor) { return std::max<int64_t>(tensor.ndim(), 1); };
  TSR_CHECK(rank(index) == rank(input), Code::kShape, "index", "expected ", input.ndim(),
            " dimensions as the input, got shape ", index.sizes());
  for (int64_t d = 0; d < index.ndim(); ++d) {
    TSR_CHECK(d == axis || index.size(d) <= input.size(d), Code::kShape, "index",
              "expected an index that is not longer than the input except on axis ", axis,
              ", got shapes ", index.sizes(), " and ", input.sizes());
  }
}

Tensor gather_at(const Tensor& input, int64_t axis, const Tensor& index, Indices kind,
                 const Out& out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Tensor positions = index_array(index, input.device(), "index");
  check_gather(input, dim, positions);
  const bool grad = needs_grad(input);
  Result result =
      allocate_apart(out, index.sizes(), input.dtype(), input.device(), grad, {&input, &positions});
  const Tensor array = at_least_1d_memory(input.detached());
  const Tensor flat = at_least_1d_memory(positions);
  launch_index(IndexOp::kGet, gather_walk(array, dim, flat, kind), array,
               at_least_1d_memory(result.value()));
  Tensor output = result.finish();
  if (grad) {
    record(output, "GatherBackward", {input}, {save_input(positions)},
           TakesBatches{[sizes = input.sizes(), dim](Backward& ctx) {
             // The engine sums what comes from several reads of a 0-dim array.
             if (ctx.lead() == 1 && sizes.empty()) return ctx.set(0, ctx.grad());
             const Tensor at = at_least_1d(ctx, for_samples(ctx, ctx.saved(0)));
             ctx.set(0, gather_backward(at_least_1d(ctx, ctx.grad()), ctx.batched(sizes),
                                        dim + ctx.lead(), at));
           }},
           [&](Forward& ctx) { ctx.set(0, gather_at(ctx.tangent(), dim, positions, kind, {})); });
  }
  return output;
}

Tensor gather(const Tensor& input, int64_t axis, const Tensor& index, Out out) {
  // One of them is 0-dim: it counts as 1-D, and the result has the shape of the index.
  if (input.ndim() + index.ndim() == 1) {
    const Tensor found = gather_at(reshape(input, Dims{-1}), axis, reshape(index, Dims{-1}),
                                   Indices::kNotNegative, {});
    return deliver(reshape(found, index.sizes()), out, needs_grad(input));
  }
  return gather_at(input, axis, index, Indices::kNotNegative, out);
}

Tensor take_along_axis(const Tensor& input, const Tensor& indices, int64_t axis, Out out) {
  TSR_CHECK(indices.ndim() == input.ndim() && input.ndim() > 0, Code::kShape, "indices",
            "expected as many dimensions as the input, at least one, got shapes ", indices.sizes(),
            " and ", input.sizes());
  const auto dim = static_cast<size_t>(wrap_axis(axis, input.ndim()));
  Dims mine = input.sizes();
  Dims theirs = indices.sizes();
  mine[dim] = theirs[dim] = 1;
  Dims joint = broadcast_shapes(mine, theirs, "indices");
  joint[dim] = input.sizes()[dim];
  const Tensor array = broadcast_to(input, joint);
  joint[dim] = indices.sizes()[dim];
  return gather_at(array, static_cast<int64_t>(dim), shown_as(indices, joint), Indices::kFromEnd,
                   out);
}

}  // namespace tsr::ops
