// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/copy_slices.h"

#include <algorithm>
#include <array>

#include "autograd/batch.h"
#include "autograd/gradient_ops.h"
#include "autograd/tensor_record.h"
#include "autograd/validate.h"
#include "base/error.h"

namespace tsr {
namespace {

// Fresh zeros with the layout of a part of a storage, in a batched backward once for each sample;
// `low` is the offset of the part's first element in the storage.
struct Shadow {
  Tensor flat;
  int64_t low;
  int64_t length;
  int64_t samples;

  // Where a part of the storage lies in `flat`, with the axis of samples in front.
  [[nodiscard]] Geometry place(Geometry geometry) const {
    geometry.offset -= low;
    return samples == Backward::kNoBatch ? geometry : geometry.of_samples(samples, length);
  }
  [[nodiscard]] Tensor window(const Geometry& geometry) const {
    const Geometry at = place(geometry);
    return as_strided_view(flat, at.sizes, at.strides, at.offset);
  }
};

// What the elements of the geometry touch, as offsets in the storage.
Extent place_of(const Geometry& geometry) {
  const Extent extent = extent_of(geometry.sizes, geometry.strides);
  return {geometry.offset + extent.low, geometry.offset + extent.high};
}

// Of both. What has no elements touches nothing, wherever it lies.
Extent joined(const Extent& a, const Extent& b) {
  if (a.low == a.high) return b;
  if (b.low == b.high) return a;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// The memory of a base and of a view of it, which need not lie inside the base: its limits are
// those of the storage.
Shadow make_shadow(const Geometry& base, const Geometry& view, const Backward& ctx) {
  const auto [low, high] = joined(place_of(base), place_of(view));
  const int64_t length = high - low;
  const int64_t samples = ctx.samples();
  const int64_t times = samples == Backward::kNoBatch ? 1 : samples;
  const Tensor& like = ctx.grad();
  return {gradient_ops().zeros(std::array{times * length}, like.dtype(), like.device()), low,
          length, samples};
}

// flat[geometry] += grad, where the view may show one element several times. Every view is taken
// from `flat`, whose elements do not overlap, so that the result can be differentiated.
void add_into(const Tensor& flat, const Geometry& geometry, const Tensor& grad, bool fresh) {
  const Dims& sizes = geometry.sizes;
  const Dims& strides = geometry.strides;
  if (!may_overlap_itself(sizes, strides)) {
    const Tensor window = as_strided_view(flat, sizes, strides, geometry.offset);
    gradient_ops().copy_into(window, fresh ? grad : gradient_ops().add(window, grad));
    return;
  }
  Geometry part = geometry;
  // A dimension of stride 0 repeats one element, which gets the sum.
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0) part.sizes[d] = 1;
  }
  if (!(part.sizes == sizes)) {
    add_into(flat, part, gradient_ops().sum_to(grad, part.sizes), fresh);
    return;
  }
  // Overlapping parts: add them one after the other along the first dimension longer than 1.
  const Tensor dense = gradient_ops().clone(grad);
  size_t dim = 0;
  while (sizes[dim] <= 1) ++dim;
  part.sizes[dim] = 1;
  for (int64_t i = 0; i < sizes[dim]; ++i) {
    part.offset = geometry.offset + i * strides[dim];
    const Tensor grad_part =
        as_strided_view(dense, part.sizes, dense.strides(), i * dense.strides()[dim]);
    add_into(flat, part, grad_part, false);
  }
}

}  // namespace

Geometry Geometry::of_samples(int64_t samples, int64_t length) const {
  Geometry result = *this;
  result.sizes.insert(0, samples);
  result.strides.insert(0, length);
  return result;
}

NodePtr make_strided_node(const Edge& source_edge, const Geometry& source, const Tensor& window) {
  auto derivative = [source, view = Geometry(window)](Backward& ctx) {
    TSR_CHECK(!may_overlap_itself(source.sizes, source.strides), Code::kNotImplemented, nullptr,
              "the gradient of a strided view of a tensor with overlapping elements is not "
              "implemented; make the tensor contiguous first");
    const Shadow shadow = make_shadow(source, view, ctx);
    if (ctx.grad().numel() != 0) add_into(shadow.flat, shadow.place(view), ctx.grad(), true);
    ctx.set(0, shadow.window(source));
  };
  using Batches = TakesBatches<decltype(derivative)>;
  NodePtr node =
      NodePtr::adopt(new LambdaNode<Batches>("AsStridedBackward", Batches{std::move(derivative)}));
  node->add_edge(source_edge);
  node->add_output(window, true);
  return node;
}

CopySlices::CopySlices(const Tensor& base, const Edge& base_edge, const Tensor& view, NodePtr fn,
                       uint32_t output, size_t input)
    : Node("CopySlices"),
      base_(base),
      view_(view),
      fn_(std::move(fn)),
      output_(output),
      input_(input) {
  fn_->set_outer(this);
  for (size_t i = 0; i < fn_->next_edges().size(); ++i) {
    add_edge(i == input_ ? base_edge : fn_->next_edge(i));
  }
  add_output(base, true);
}

Tensor CopySlices::run_fn(Backward& ctx, const Tensor& slice) {
  SmallVector<Tensor, 2> grads(fn_->outputs().size());
  SmallVector<Tensor, 4> results(fn_->next_edges().size());
  grads[output_] = gradient_ops().clone(slice);
  Backward inner(*fn_, {grads.data(), grads.size()}, {results.data(), results.size()},
                 ctx.needs_mask(), ctx.samples());
  fn_->apply(inner);
  for (size_t i = 0; i < results.size(); ++i) {
    if (i != input_ && ctx.needs(i)) ctx.set(i, std::move(results[i]));
  }
  return std::move(results[input_]);
}

void CopySlices::apply(Backward& ctx) {
  const Shadow shadow = make_shadow(base_, view_, ctx);
  gradient_ops().copy_into(shadow.window(base_), ctx.grad());
  const Tensor slice = shadow.window(view_);
  Tensor old = run_fn(ctx, slice);
  if (!ctx.needs(input_)) return;
  if (!old.defined()) old = gradient_ops().zeros(slice.sizes(), slice.dtype(), slice.device());
  const OutputMeta& meta = fn_->outputs()[output_];
  if (ctx.lead() == 0) {
    fit_gradient(old, meta, *fn_, input_);
  } else {
    fit_batch(old, meta, *fn_, input_, ctx.samples());
  }
  gradient_ops().copy_into(slice, old);
  ctx.set(input_, shadow.window(base_));
}

void CopySlices::release() noexcept {
  fn_->release();
}

Edge CopySlices::output_edge(uint32_t) const {
  const Edge self{NodePtr::share(const_cast<CopySlices*>(this)), 0};
  // Only the sizes and strides of the view matter, so it needs no memory.
  const StoragePtr none = wrap_storage(outputs()[0].device, nullptr, 0, nullptr, nullptr);
  const Tensor window = Tensor::adopt(
      new TensorImpl(none, outputs()[0].dtype, view_.sizes, view_.strides, view_.offset));
  return {make_strided_node(self, base_, window), 0};
}

}  // namespace tsr
