// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Views and in-place writes: what an op that returns a window, or writes into its argument, must
// tell autograd.
#pragma once

#include <span>

#include "autograd/record.h"

namespace tsr {

// How a view came about; in-place writes through all but kNormal are ambiguous and raise.
enum class ViewKind : uint8_t {
  kNormal,
  kMultiOutput,  // one of several views made by one call (split, unbind)
  kNoGrad,       // made in no_grad mode
  kInference,    // of an ordinary tensor, made in inference mode
  kCustom,       // returned by a custom function
  kOtherDType,   // shows the memory under another dtype
};

namespace detail {
void track_view(const Tensor& view, const Tensor& source, ViewKind kind);
void track_alias(const Tensor& output, const Tensor& source, Node* node);
}  // namespace detail

// Every view op calls this on its result, whether or not anything needs grad, so that a later
// in-place write through the view or its source reaches both:
//   Tensor view = make_view(input, sizes, strides, offset);
//   record_view(view, input, "PermuteBackward", [axes](Backward& ctx) { ctx.set(0, ...); });
// `view` shares `source`'s storage and dtype. Integer and inference tensors are not tracked.
template <class F>
void record_view(const Tensor& view, const Tensor& source, const char* name, F derivative) {
  detail::track_view(view, source, ViewKind::kNormal);
  if (needs_grad(source)) record(view, name, {source}, {}, std::move(derivative));
}

// As record_view where `view` shows `source`'s memory under another dtype: writes through it cannot
// be followed, so they raise where something requires grad.
template <class F>
void record_cast_view(const Tensor& view, const Tensor& source, const char* name, F derivative) {
  detail::track_view(view, source, ViewKind::kOtherDType);
  if (needs_grad(source)) record(view, name, {source}, {}, std::move(derivative));
}

// Several views made by one call; ctx.grad(k) belongs to views[k] and may be undefined.
template <class F>
void record_views(std::span<const Tensor> views, const Tensor& source, const char* name,
                  F derivative) {
  for (const Tensor& view : views) detail::track_view(view, source, ViewKind::kMultiOutput);
  if (needs_grad(source)) record_outputs(views, name, {source}, {}, std::move(derivative));
}

// Every in-place form calls this before LAUNCH: refuses forbidden writes and counts the write.
// `recording` is needs_grad of all inputs including `target`. Throws kAutograd: a leaf that
// requires grad, a view of one, an ambiguous view of a tensor that takes part (by whatever is
// written), an inference tensor outside inference mode (features I4, I8); kBuffer: read-only
// memory.
void begin_inplace(const Tensor& target, bool recording);

// Every out= form calls this before LAUNCH. Throws kAutograd when an input or `out` or what it is a
// view of needs grad: out= forms are not differentiable.
void begin_out(const Tensor& out, bool recording);

// As begin_out, for an `out` of another shape than the result: its memory is not written, it will
// be given other memory. Throws kAutograd also when `out` itself requires grad, in any mode: its
// history and its gradient have its shape.
void begin_replace(const Tensor& out, bool recording);

// `tensor` has been given memory of its own: if it was a view, it is none any more. Its views, if
// it had any, no longer look into it; they notice by themselves.
void leave_base(const Tensor& tensor);

// A window of `source` with any sizes, strides and offset (from the start of the storage, in
// elements), differentiable to any order.
Tensor as_strided_view(const Tensor& source, DimsView sizes, DimsView strides, int64_t offset);

// The tensor that `view` looks into; undefined when `view` is none, or when the tensor it was made
// from has other memory by now.
Tensor view_base(const Tensor& view);

}  // namespace tsr
