// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/scatter_part.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/shape/slice.h"
#include "ops/shape/strided.h"

namespace tsr::ops {
namespace {

// A copy whose window is written in place: autograd follows writes through views.
template <class Window>
Tensor scatter_part(const Tensor& input, const Tensor& source, const Out& out,
                    const Window& window) {
  check_same_device(input, source, "source");
  const bool recording = needs_grad(input, source);
  const Tensor result = clone(input);
  const Tensor part = window(result);
  TSR_CHECK(part.sizes() == source.sizes(), Code::kShape, "source", "expected shape ", part.sizes(),
            ", which is that of the part, got ", source.sizes());
  copy_(part, source);
  return deliver(result, out, recording);
}

}  // namespace

Tensor select_scatter(const Tensor& input, const Tensor& source, int64_t axis, int64_t index,
                      Out out) {
  return scatter_part(input, source, out, [=](const Tensor& t) { return select(t, axis, index); });
}

Tensor slice_scatter(const Tensor& input, const Tensor& source, int64_t axis,
                     std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step,
                     Out out) {
  return scatter_part(input, source, out,
                      [=](const Tensor& t) { return slice(t, axis, start, stop, step); });
}

Tensor diagonal_scatter(const Tensor& input, const Tensor& source, int64_t offset, int64_t axis1,
                        int64_t axis2, Out out) {
  return scatter_part(input, source, out,
                      [=](const Tensor& t) { return diagonal(t, offset, axis1, axis2); });
}

Tensor as_strided_scatter(const Tensor& input, const Tensor& source, DimsView shape,
                          DimsView strides, std::optional<int64_t> offset, Out out) {
  TSR_CHECK(is_dense(input.sizes(), input.strides()), Code::kValue, "input",
            "expected a tensor that fills its memory without gaps, got shape ", input.sizes(),
            " with strides ", input.strides(), "; clone() it first");
  // The copy has the input's order of dims and begins where its memory begins.
  const int64_t moved = offset.value_or(input.offset()) - input.offset();
  return scatter_part(input, source, out, [&](const Tensor& t) {
    return as_strided(t, shape, strides, t.offset() + moved);
  });
}

}  // namespace tsr::ops
