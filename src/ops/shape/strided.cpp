// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/strided.h"

#include <algorithm>

#include "autograd/copy_slices.h"
#include "autograd/forward.h"
#include "base/error.h"
#include "ops/create/create.h"
#include "ops/index/getitem.h"
#include "ops/nn/window.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/alignment.h"

namespace tsr::ops {
namespace {

// The place of every element of a window, of the window's shape.
Tensor places_of(const Geometry& window, Device device) {
  Tensor places = full({}, window.offset, DType::kInt64, device);
  for (size_t d = 0; d < window.sizes.size(); ++d) {
    Dims shape(window.sizes.size(), 1);
    shape[d] = window.sizes[d];
    const Tensor steps = arange(0, window.sizes[d], 1, DType::kInt64, device);
    places = add(places, reshape(multiply(steps, window.strides[d]), shape));
  }
  return places;
}

// As sum_into for windows that overlap along one short dim only, outside any graph: one sum for
// each position of that dim. False for others.
bool sum_by_position(const Tensor& flat, const Tensor& g, const Geometry& window) {
  constexpr int64_t kMost = 64;
  if (needs_grad(g)) return false;
  for (size_t d = 0; d < window.sizes.size(); ++d) {
    if (window.sizes[d] <= 1 || window.sizes[d] > kMost) continue;
    Geometry rest = window;
    rest.sizes.erase(d);
    rest.strides.erase(d);
    if (may_overlap_itself(rest.sizes, rest.strides)) continue;
    const Unrecorded guard;
    for (int64_t i = 0; i < window.sizes[d]; ++i) {
      const int64_t first = rest.offset + i * window.strides[d];
      const Tensor part = make_view(flat, rest.sizes, rest.strides, first);
      add(part, select_memory(g, static_cast<int64_t>(d), i), Out::inplace(part));
    }
    return true;
  }
  return false;
}

// Zeros of one axis with g added at the places of a window on it. Differentiable: the derivative is
// the window.
Tensor sum_into(const Tensor& g, int64_t length, const Geometry& window) {
  Geometry place = window;
  Dims repeated;
  for (size_t d = 0; d < place.sizes.size(); ++d) {
    if (place.strides[d] != 0 || place.sizes[d] <= 1) continue;
    repeated.push_back(static_cast<int64_t>(d));
    place.sizes[d] = 1;
  }
  const Tensor part = repeated.empty() ? g : sum(g, DimsView(repeated), true);
  if (!may_overlap_itself(place.sizes, place.strides)) {
    return scatter_window(part, {length}, "StridedSumBackward", [place](const Tensor& t) {
      const Tensor flat = contiguous(t);
      const Geometry all = t.ndim() == 1 ? place : place.of_samples(t.size(0), t.size(1));
      return as_strided(flat, all.sizes, all.strides, flat.offset() + all.offset);
    });
  }
  const Tensor flat = zeros_like_shape(Dims{length}, g.dtype(), g.device());
  if (sum_by_position(flat, part, place)) return flat;
  const Tensor places = places_of(place, g.device());
  return index_put(flat, {&places, 1}, part, true, Out::inplace(flat));
}

// The gradient of `source` from that of `window`; both show the same memory.
Tensor strided_grad(const Backward& ctx, Geometry source, Geometry window) {
  const Tensor& g = ctx.grad();
  if (g.numel() == 0) return zeros_like_shape(ctx.batched(source.sizes), g.dtype(), g.device());
  const Extent a = extent_of(source.sizes, source.strides);
  const Extent b = extent_of(window.sizes, window.strides);
  const int64_t low = std::min(source.offset + a.low, window.offset + b.low);
  const int64_t length = std::max(source.offset + a.high, window.offset + b.high) - low;
  source.offset -= low;
  window.offset -= low;
  const int64_t samples = ctx.lead() == 0 ? 1 : ctx.samples();
  if (ctx.lead() != 0) window = window.of_samples(samples, length);
  Tensor flat = sum_into(g, samples * length, window);
  if (may_overlap_itself(source.sizes, source.strides)) {
    const Tensor shown = sum_into(ones(source.sizes, g.dtype(), g.device()), length, source);
    flat = divide(reshape(flat, Dims{samples, length}), add(shown, equal(shown, 0)));
  }
  flat = contiguous(flat);
  if (ctx.lead() != 0) source = source.of_samples(samples, length);
  return as_strided(flat, source.sizes, source.strides, flat.offset() + source.offset);
}

// kValue unless every element of the window lies in the memory.
void check_inside(const Tensor& input, DimsView shape, DimsView strides, int64_t offset) {
  __int128 low = offset;
  __int128 high = offset;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return;
    const __int128 reach = static_cast<__int128>(shape[d] - 1) * strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const auto room = static_cast<int64_t>(input.storage()->nbytes) / input.itemsize();
  TSR_CHECK(low >= 0 && high < room, Code::kValue, "strides",
            "expected a window inside the memory of ", room, " elements, got shape ", shape,
            " with strides ", strides, " from element ", offset);
}

}  // namespace

Tensor as_strided(const Tensor& input, DimsView shape, DimsView strides,
                  std::optional<int64_t> offset) {
  TSR_CHECK(shape.size() == strides.size(), Code::kShape, "strides", "expected ", shape.size(),
            " strides, one for each size, got ", strides);
  checked_numel(shape, input.itemsize());
  const int64_t first = offset.value_or(input.offset());
  TSR_CHECK(first >= 0, Code::kValue, "offset", "expected an offset that is not negative, got ",
            first);
  check_inside(input, shape, strides, first);
  Tensor view = make_view(input, shape, strides, first);
  record_view(view, input, "AsStridedBackward",
              TakesBatches{[source = Geometry{input.sizes(), input.strides(), input.offset()},
                            window = Geometry{Dims(shape), Dims(strides), first}](Backward& ctx) {
                ctx.set(0, strided_grad(ctx, source, window));
              }});
  return view;
}

Tensor unfold(const Tensor& input, int64_t axis, int64_t size, int64_t step) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const int64_t total = input.ndim() == 0 ? 1 : input.size(dim);
  TSR_CHECK(size >= 0 && size <= total, Code::kValue, "size", "expected a size in [0, ", total,
            "] for axis ", dim, " of shape ", input.sizes(), ", got ", size);
  TSR_CHECK(step > 0, Code::kValue, "step", "expected a step above 0, got ", step);
  TSR_CHECK(input.ndim() < kMaxTensorRank, Code::kShape, "input", "expected fewer than ",
            kMaxTensorRank, " dimensions, got ", input.ndim());
  const int64_t count = (total - size) / step + 1;
  const auto windows = [=](const Dims& sizes, const Dims& strides, int64_t offset) {
    Geometry place{sizes, strides, offset};
    int64_t inner = 1;
    if (!sizes.empty()) {
      const auto at = static_cast<size_t>(dim);
      inner = strides[at];
      place.sizes[at] = count;
      // With one window there is no next one, and a huge step must not overflow.
      if (count > 1) place.strides[at] *= step;
    }
    place.sizes.push_back(size);
    place.strides.push_back(inner);
    return place;
  };
  const Geometry place = windows(input.sizes(), input.strides(), input.offset());
  checked_numel(place.sizes, input.itemsize());
  Tensor view = make_view(input, place.sizes, place.strides, place.offset);
  const auto derivative = [sizes = input.sizes(), windows](Backward& ctx) {
    Geometry dense = windows(sizes, contiguous_strides(sizes), 0);
    int64_t length = numel_of(sizes);
    if (ctx.lead() != 0) {
      dense = dense.of_samples(ctx.samples(), length);
      length *= ctx.samples();
    }
    ctx.set(0, reshape(sum_into(ctx.grad(), length, dense), ctx.batched(sizes)));
  };
  record_view(view, input, "UnfoldBackward", TakesBatches{derivative});
  return view;
}

namespace {

// Why the memory cannot be cut into elements of the other size; null when it can.
const char* recast_fault(const Tensor& input, int64_t itemsize) {
  if (input.ndim() == 0) return "at least one dimension";
  const int64_t last = input.ndim() - 1;
  const bool some = input.numel() != 0;  // without elements the strides do not matter
  if (some && input.stride(last) != 1 && input.size(last) > 1) return "a last axis without gaps";
  const int64_t ratio = itemsize / input.itemsize();
  if (ratio <= 1) return nullptr;
  if (input.size(last) % ratio != 0) return "a last axis that holds whole elements of the dtype";
  if (!some) return nullptr;
  if (input.offset() % ratio != 0) return "memory that begins at a whole element of the dtype";
  for (int64_t d = 0; d < last; ++d) {
    if (input.size(d) > 1 && input.stride(d) % ratio != 0)
      return "strides before the last axis of whole elements of the dtype";
  }
  return nullptr;
}

}  // namespace

Tensor view_dtype(const Tensor& input, DType dtype) {
  if (dtype == input.dtype()) return view(input, input.sizes());
  Dims sizes = input.sizes();
  Dims strides = input.strides();
  int64_t offset = input.offset();
  const int64_t from = input.itemsize();
  const int64_t to = itemsize(dtype);
  if (from != to) {
    const char* fault = recast_fault(input, to);
    TSR_CHECK(fault == nullptr, Code::kShape, "input", "expected ", fault, " to show ",
              input.dtype(), " as ", dtype, ", got shape ", sizes, " with strides ", strides,
              " from element ", offset);
    const auto recast = [=](int64_t count) { return count * from / to; };
    for (int64_t& stride : strides) stride = recast(stride);
    strides.back() = 1;
    sizes.back() = recast(sizes.back());
    offset = recast(offset);
  }
  TSR_CHECK(input.numel() == 0 || is_aligned_for(input.device(), dtype, input.data()), Code::kShape,
            "input", "expected memory that is aligned to elements of ", dtype, ", got memory for ",
            input.dtype(), " that is not");
  Tensor view = make_cast_view(input, dtype, sizes, strides, offset);
  detail::track_view(view, input, ViewKind::kOtherDType);
  return view;
}

}  // namespace tsr::ops
