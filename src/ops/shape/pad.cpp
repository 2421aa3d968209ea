// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// pad: constant, reflect, replicate, circular.
#include <algorithm>

#include "autograd/forward.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/contract.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/arrange.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// The padding of one axis; negative counts crop.
struct AxisPad {
  int64_t axis, before, after;
};
using AxisPads = SmallVector<AxisPad, 4>;

AxisPads read_padding(const Tensor& input, DimsView padding) {
  TSR_CHECK(padding.size() % 2 == 0, Code::kValue, "padding",
            "expected two counts for each axis, got ", padding);
  const auto count = static_cast<int64_t>(padding.size() / 2);
  TSR_CHECK(count <= input.ndim(), Code::kShape, "padding", "expected counts for at most ",
            input.ndim(), " axes, got ", padding);
  AxisPads pads;
  for (int64_t i = 0; i < count; ++i) {
    const AxisPad pad{input.ndim() - 1 - i, padding[static_cast<size_t>(2 * i)],
                      padding[static_cast<size_t>(2 * i) + 1]};
    constexpr int64_t kLimit = int64_t{1} << 61;
    TSR_CHECK(std::max(pad.before, pad.after) < kLimit && std::min(pad.before, pad.after) > -kLimit,
              Code::kShape, "padding", "expected fewer than 2^61 elements on a side, got ",
              padding);
    const int64_t size = input.size(pad.axis);
    TSR_CHECK(size < kLimit && size + pad.before + pad.after >= 0 && size + pad.before >= 0 &&
                  size + pad.after >= 0,
              Code::kShape, "padding", "expected to crop at most ", size, " elements of axis ",
              pad.axis, ", got ", padding);
    pads.push_back(pad);
  }
  return pads;
}

// The elements that the input and the padded tensor share: as a view of the padded tensor if
// `inside`, else as a view of the input.
Tensor overlap_window(const Tensor& tensor, const AxisPads& pads, bool inside) {
  Tensor window = tensor;
  for (const AxisPad& pad : pads) {
    const int64_t sign = inside ? 1 : -1;
    const int64_t before = std::max<int64_t>(sign * pad.before, 0);
    const int64_t after = std::max<int64_t>(sign * pad.after, 0);
    window = narrow_memory(window, pad.axis, before, window.size(pad.axis) - before - after);
  }
  return window;
}

Tensor pad_constant(const Tensor& input, const AxisPads& pads, DimsView padding,
                    const Scalar& value, const Out& out) {
  Dims shape = input.sizes();
  for (const AxisPad& pad : pads) shape[static_cast<size_t>(pad.axis)] += pad.before + pad.after;
  check_holds(value, input.dtype(), "value");
  const bool grad = needs_grad(input);
  Result result = allocate_apart(out, shape, input.dtype(), input.device(), grad, {&input});
  fill_memory(result.value(), value);
  copy_memory(overlap_window(result.value(), pads, true), overlap_window(input, pads, false));
  Tensor output = result.finish();
  if (grad) {
    Dims undo(padding);
    for (int64_t& count : undo) count = -count;
    record(output, "PadBackward", {input}, {},
           TakesBatches{[undo](Backward& ctx) { ctx.set(0, pad(ctx.grad(), undo)); }},
           [&](Forward& ctx) { ctx.set(0, pad_constant(ctx.tangent(), pads, padding, 0, {})); });
  }
  return output;
}

enum class Border { kReflect, kReplicate, kCircular };

// The input position for position i, which may lie outside [0, size).
int64_t source_position(Border border, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  if (border == Border::kReplicate) return std::clamp<int64_t>(i, 0, size - 1);
  if (border == Border::kCircular) return i < 0 ? i + size : i - size;
  return i < 0 ? -i : 2 * (size - 1) - i;
}

void check_border(Border border, const AxisPad& pad, int64_t size) {
  const int64_t most = std::max(pad.before, pad.after);
  const int64_t limit = border == Border::kReflect ? size - 1 : size;
  const bool fits = most <= 0 || (border == Border::kReplicate ? size > 0 : most <= limit);
  TSR_CHECK(fits, Code::kShape, "padding", "expected at most ", std::max<int64_t>(limit, 0),
            " elements on a side of axis ", pad.axis, ", got ", most);
}

// The input positions of the elements of a padded axis. The circular border repeats the part of the
// input that is left after cropping; the other borders continue the whole input.
Tensor border_positions(Border border, const AxisPad& pad, int64_t size) {
  const bool crops = border == Border::kCircular;
  const int64_t start = crops ? std::max<int64_t>(-pad.before, 0) : 0;
  const int64_t stop = crops ? size + std::min<int64_t>(pad.after, 0) : size;
  const int64_t length = std::max<int64_t>(stop - start, 0);
  check_border(border, pad, length);
  Tensor positions = empty(Dims{size + pad.before + pad.after}, DType::kInt64);
  auto* position = positions.data_as<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i)
    position[i] = start + source_position(border, i - pad.before - start, length);
  return positions;
}

// A window of `source` as a source for the border of `count` places along the axis: backwards, or
// one place again and again.
Tensor border_source(const Tensor& whole, Border border, int64_t axis, int64_t first,
                     int64_t count) {
  const Tensor window = narrow_memory(whole, axis, first, border == Border::kReplicate ? 1 : count);
  const auto dim = static_cast<size_t>(axis);
  Dims sizes = window.sizes();
  Dims strides = window.strides();
  int64_t offset = window.offset();
  sizes[dim] = count;
  if (border == Border::kReplicate) strides[dim] = 0;
  if (border == Border::kReflect) {
    offset += (count - 1) * strides[dim];
    strides[dim] = -strides[dim];
  }
  return make_view(window, sizes, strides, offset);
}

// Copies the input into the padded tensor, and then, axis by axis, the borders from what is there.
// Nothing is cropped.
void pad_by_copies(const Tensor& padded, const Tensor& input, const AxisPads& pads, Border border) {
  if (padded.numel() == 0) return;
  copy_memory(overlap_window(padded, pads, true), input);
  for (size_t i = 0; i < pads.size(); ++i) {
    const AxisPad& pad = pads[i];
    AxisPads later;  // the axes whose borders are still empty
    for (size_t k = i + 1; k < pads.size(); ++k) later.push_back(pads[k]);
    const Tensor whole = overlap_window(padded, later, true);
    const int64_t size = input.size(pad.axis);
    const int64_t start = pad.before;
    const int64_t stop = pad.before + size;
    const auto fill = [&](int64_t to, int64_t from, int64_t count) {
      if (count == 0) return;
      copy_memory(narrow_memory(whole, pad.axis, to, count),
                  border_source(whole, border, pad.axis, from, count));
    };
    switch (border) {
      case Border::kReflect:
        fill(0, start + 1, pad.before);
        fill(stop, stop - 1 - pad.after, pad.after);
        break;
      case Border::kReplicate:
        fill(0, start, pad.before);
        fill(stop, stop - 1, pad.after);
        break;
      case Border::kCircular:
        fill(0, stop - pad.before, pad.before);
        fill(stop, start, pad.after);
        break;
    }
  }
}

// A window of the padded tensor: everything before the axis is padded, everything behind it is not.
Tensor border_of_window(const Tensor& padded, const AxisPads& pads, size_t i, int64_t first,
                        int64_t count) {
  AxisPads later;
  for (size_t k = i + 1; k < pads.size(); ++k) later.push_back(pads[k]);
  return narrow_memory(overlap_window(padded, later, true), pads[i].axis, first, count);
}

// The transpose of pad_by_copies: fresh memory with the middle of the padded tensor, to which every
// border is added where it was copied from. Only the first `count` axes have borders.
Tensor fold_borders(const Tensor& padded, const AxisPads& pads, size_t count, Border border) {
  const AxisPads here(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(count));
  const Tensor middle = overlap_window(padded, here, true);
  const Tensor folded = empty(middle.sizes(), middle.dtype(), middle.device());
  copy_memory(folded, middle);
  for (size_t i = 0; i < count; ++i) {
    const AxisPad& pad = here[i];
    const int64_t size = folded.size(pad.axis);
    const int64_t stop = pad.before + size;
    const auto add_to = [&](int64_t to, int64_t from, int64_t width) {
      if (width == 0) return;
      const Tensor window = border_of_window(padded, here, i, from, width);
      Tensor part = i == 0 ? window : fold_borders(window, pads, i, border);
      if (border == Border::kReflect) part = border_source(part, border, pad.axis, 0, width);
      if (border == Border::kReplicate) part = sum(part, DimsView(Dims{pad.axis}), true);
      const Tensor target = narrow_memory(folded, pad.axis, to, part.size(pad.axis));
      add(target, part, Out::inplace(target));
    };
    switch (border) {
      case Border::kReflect:
        add_to(1, 0, pad.before);
        add_to(size - 1 - pad.after, stop, pad.after);
        break;
      case Border::kReplicate:
        add_to(0, 0, pad.before);
        add_to(size - 1, stop, pad.after);
        break;
      case Border::kCircular:
        add_to(size - pad.before, 0, pad.before);
        add_to(0, stop, pad.after);
        break;
    }
  }
  return folded;
}

// The pads of tensors with further axes in front.
AxisPads behind(const AxisPads& pads, int64_t axes) {
  AxisPads moved = pads;
  for (AxisPad& pad : moved) pad.axis += axes;
  return moved;
}

Tensor pad_border(const Tensor& input, const AxisPads& pads, Border border, const Out& out);

// The transpose of pad_border.
Tensor fold_border(const Tensor& padded, const AxisPads& pads, Border border) {
  const Tensor plain = padded.detached();
  Tensor folded;
  {
    const Unrecorded no_grad;
    const Tensor wide = cast_memory(plain, kernel::opmath(plain.dtype()));
    folded = cast_memory(fold_borders(wide, pads, pads.size(), border), plain.dtype());
  }
  if (needs_grad(padded)) {
    const int64_t ndim = padded.ndim();
    record(folded, "PadBorderBackwardBackward", {padded}, {}, TakesBatches{[=](Backward& ctx) {
             const Tensor& g = ctx.grad();
             ctx.set(0, pad_border(g, behind(pads, g.ndim() - ndim), border, {}));
           }},
           [&](Forward& ctx) { ctx.set(0, fold_border(ctx.tangent(), pads, border)); });
  }
  return folded;
}

Tensor pad_border(const Tensor& input, const AxisPads& pads, Border border, const Out& out) {
  Dims shape = input.sizes();
  for (const AxisPad& pad : pads) {
    check_border(border, pad, input.size(pad.axis));
    shape[static_cast<size_t>(pad.axis)] += pad.before + pad.after;
  }
  const bool grad = needs_grad(input);
  Result result = allocate_apart(out, shape, input.dtype(), input.device(), grad, {&input});
  pad_by_copies(result.value(), input, pads, border);
  Tensor output = result.finish();
  if (grad) {
    const int64_t ndim = input.ndim();
    record(output, "PadBorderBackward", {input}, {}, TakesBatches{[=](Backward& ctx) {
             const Tensor& g = ctx.grad();
             ctx.set(0, fold_border(g, behind(pads, g.ndim() - ndim), border));
           }},
           [&](Forward& ctx) { ctx.set(0, pad_border(ctx.tangent(), pads, border, {})); });
  }
  return output;
}

Border border_of(std::string_view mode) {
  if (mode == "reflect") return Border::kReflect;
  if (mode == "replicate") return Border::kReplicate;
  TSR_CHECK(mode == "circular", Code::kValue, "mode",
            "expected \"constant\", \"reflect\", \"replicate\" or \"circular\", got \"", mode,
            "\"");
  return Border::kCircular;
}

}  // namespace

Tensor pad(const Tensor& input, DimsView padding, std::string_view mode, const Scalar& value,
           Out out) {
  const AxisPads pads = read_padding(input, padding);
  if (mode == "constant") return pad_constant(input, pads, padding, value, out);
  const Border border = border_of(mode);
  const bool recording = needs_grad(input);
  const bool crops = std::any_of(pads.begin(), pads.end(), [](const AxisPad& pad) {
    return std::min(pad.before, pad.after) < 0;
  });
  if (!crops) return pad_border(input, pads, border, out);
  Tensor padded = input;
  for (const AxisPad& pad : pads) {
    if (pad.before == 0 && pad.after == 0) continue;
    padded = take(padded, border_positions(border, pad, input.size(pad.axis)), pad.axis);
  }
  if (padded.is_same(input)) padded = clone(input);
  return deliver(padded, out, recording);
}

}  // namespace tsr::ops
