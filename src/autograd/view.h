// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Views and in-place writes: what an op that returns a view, or writes into its argument, must tell
// autograd.
#pragma once

#include <span>

#include "autograd/record.h"

namespace tsr {

// How a view was made. All kinds but kNormal are ambiguous: in-place writes through them throw.
enum class ViewKind : uint8_t {
  kNormal,
  kMultiOutput,  // one of several views made by one call (split, unbind)
  kNoGrad,       // made in no_grad mode
  kInference,    // of an ordinary tensor, made in inference mode
  kCustom,       // returned by a custom function
  kOtherDType,   // has another dtype than its base
};

namespace detail {
void track_view(const Tensor& view, const Tensor& source, ViewKind kind);
}  // namespace detail

// Every view op calls this on its result, whether or not anything needs grad, so that a later
// in-place write through the view or its source reaches both:
//   Tensor view = make_view(input, sizes, strides, offset);
//   record_view(view, input, "PermuteBackward", [axes](Backward& ctx) { ctx.set(0, ...); });
// `view` shares `source`'s storage and dtype. Integer and inference tensors are not tracked.
// Forward mode needs no rule: the tangent of a view is the view of its base's tangent (forward.h).
template <class F>
void record_view(const Tensor& view, const Tensor& source, const char* name, F derivative) {
  detail::track_view(view, source, ViewKind::kNormal);
  if (needs_history(source)) record(view, name, {source}, {}, std::move(derivative));
}

// As record_view, for a view that has another dtype than `source`. Writes through it cannot be
// differentiated, so they throw if something requires grad.
template <class F>
void record_cast_view(const Tensor& view, const Tensor& source, const char* name, F derivative) {
  detail::track_view(view, source, ViewKind::kOtherDType);
  if (needs_history(source)) record(view, name, {source}, {}, std::move(derivative));
}

// Several views made by one call; ctx.grad(k) belongs to views[k] and may be undefined.
template <class F>
void record_views(std::span<const Tensor> views, const Tensor& source, const char* name,
                  F derivative) {
  for (const Tensor& view : views) detail::track_view(view, source, ViewKind::kMultiOutput);
  if (needs_history(source)) record_outputs(views, name, {source}, {}, std::move(derivative));
}

// Every in-place form calls this before LAUNCH: refuses forbidden writes and counts the write.
// `recording` is needs_grad of all inputs including `target`. Throws kAutograd for a leaf that
// requires grad, a view of such a leaf, an ambiguous view of a tensor that needs grad (whatever is
// written), and an inference tensor outside inference mode; kBuffer for read-only memory.
void begin_inplace(const Tensor& target, bool recording);

// Every out= form calls this before LAUNCH. out= forms are not differentiable: throws kAutograd if
// an input, `out`, or the base of `out` needs grad.
void begin_out(const Tensor& out, bool recording);

// As begin_out, for an `out` of another shape than the result: `out` gets new memory, its old
// memory is not written. Also throws kAutograd if `out` itself requires grad, in any mode, because
// its history and its gradient have the old shape.
void begin_replace(const Tensor& out, bool recording);

// Call after `tensor` has got memory of its own: if it was a view, it is one no longer. Views of
// `tensor` keep the old memory and find out by themselves.
void leave_base(const Tensor& tensor);

// A view of `source` with any sizes, strides and offset (from the start of the storage, in
// elements), differentiable to any order.
Tensor as_strided_view(const Tensor& source, DimsView sizes, DimsView strides, int64_t offset);

// The base of `view`; undefined if `view` is no view, or if its base has other memory by now.
Tensor view_base(const Tensor& view);

}  // namespace tsr
