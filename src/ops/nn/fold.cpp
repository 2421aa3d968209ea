// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/fold.h"

#include "autograd/forward.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/sum_to.h"
#include "ops/samples.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "ops/shape/strided.h"

namespace tsr::ops {
namespace {

constexpr int32_t kAxes = 2;

// The windows of an image besides its tensors; nodes store it by value.
struct Windows {
  Spatial image{}, kernel{}, dilation{}, padding{}, stride{}, count{};

  [[nodiscard]] int64_t reach(size_t d) const { return (kernel[d] - 1) * dilation[d] + 1; }
  [[nodiscard]] int64_t padded(size_t d) const { return image[d] + 2 * padding[d]; }
};

Windows windows_of(const Spatial& image, DimsView kernel_size, const SpatialArg& dilation,
                   const SpatialArg& padding, const SpatialArg& stride) {
  Windows made;
  made.image = image;
  made.kernel = spatial_list(kernel_size, kAxes, 1, 1, "kernel_size");
  made.dilation = spatial_list(dilation, kAxes, 1, 1, "dilation");
  made.padding = spatial_list(padding, kAxes, 0, 0, "padding");
  made.stride = spatial_list(stride, kAxes, 1, 1, "stride");
  for (size_t d = 0; d < kAxes; ++d) {
    TSR_CHECK(made.padded(d) >= made.reach(d), Code::kShape, "kernel_size",
              "expected windows inside the padded image, got a reach of ", made.reach(d),
              " in a size of ", made.padded(d));
    made.count[d] = (made.padded(d) - made.reach(d)) / made.stride[d] + 1;
  }
  static_cast<void>(checked_numel(DimsView(made.count.data(), kAxes), 1));
  return made;
}

Tensor sum_columns(const Tensor& columns, const Windows& windows);

// Both functions take a batch and know the derivative: each is the other's.

Tensor take_columns(const Tensor& image, const Windows& w) {
  Tensor columns;
  {
    const Unrecorded guard;
    const Dims around{w.padding[1], w.padding[1], w.padding[0], w.padding[0]};
    const bool pads = w.padding[0] != 0 || w.padding[1] != 0;
    Tensor shown = pads ? pad(image, around) : image;
    for (size_t d = 0; d < kAxes; ++d) {
      const auto axis = static_cast<int64_t>(d);
      shown = unfold(shown, axis + 2, w.reach(d), w.stride[d]);
      shown = slice(shown, axis + 4, {}, {}, w.dilation[d]);
    }
    const Dims order{0, 1, 4, 5, 2, 3};
    const Dims sizes{image.size(0), image.size(1) * w.kernel[0] * w.kernel[1],
                     w.count[0] * w.count[1]};
    columns = reshape(permute_dims(shown, order), sizes, true);
  }
  if (needs_grad(image)) {
    record(columns, "Im2ColBackward", {image}, {}, TakesBatches{[w](Backward& ctx) {
             ctx.set(0, split_samples(ctx, sum_columns(join_samples(ctx, ctx.grad()), w)));
           }},
           [&](Forward& ctx) { ctx.set(0, take_columns(ctx.tangent(), w)); });
  }
  return columns;
}

// The elements of the padded image that stand at one place of every window.
Tensor places(const Tensor& padded, const Windows& w, int64_t row, int64_t column) {
  Tensor shown = padded;
  const int64_t at[] = {row, column};
  for (size_t d = 0; d < kAxes; ++d) {
    const int64_t begin = at[d] * w.dilation[d];
    const int64_t end = begin + (w.count[d] - 1) * w.stride[d] + 1;
    shown = slice(shown, static_cast<int64_t>(d) + 2, begin, end, w.stride[d]);
  }
  return shown;
}

Tensor sum_columns(const Tensor& columns, const Windows& w) {
  Tensor image;
  {
    const Unrecorded guard;
    const Tensor numbers = in_opmath(columns);
    const int64_t batch = columns.size(0);
    const int64_t channels = columns.size(1) / (w.kernel[0] * w.kernel[1]);
    const Dims parts{batch, channels, w.kernel[0], w.kernel[1], w.count[0], w.count[1]};
    const Tensor split = reshape(numbers, parts);
    const Dims padded{batch, channels, w.padded(0), w.padded(1)};
    const Tensor sums = zeros_like_shape(padded, numbers.dtype(), numbers.device());
    for (int64_t i = 0; numbers.numel() != 0 && i < w.kernel[0]; ++i) {
      for (int64_t j = 0; j < w.kernel[1]; ++j) {
        const Tensor target = places(sums, w, i, j);
        add(target, select(select(split, 2, i), 2, j), Out::inplace(target));
      }
    }
    const Tensor rows = narrow(sums, 2, w.padding[0], w.image[0]);
    const Tensor inner = narrow(rows, 3, w.padding[1], w.image[1]);
    image = contiguous(astype(inner, columns.dtype()));
  }
  if (needs_grad(columns)) {
    record(image, "Col2ImBackward", {columns}, {}, TakesBatches{[w](Backward& ctx) {
             ctx.set(0, split_samples(ctx, take_columns(join_samples(ctx, ctx.grad()), w)));
           }},
           [&](Forward& ctx) { ctx.set(0, sum_columns(ctx.tangent(), w)); });
  }
  return image;
}

}  // namespace

Tensor im2col(const Tensor& input, DimsView kernel_size, SpatialArg dilation, SpatialArg padding,
              SpatialArg stride) {
  check_image(input, kAxes);
  const Spatial image{input.size(input.ndim() - 2), input.size(input.ndim() - 1)};
  const Windows windows = windows_of(image, kernel_size, dilation, padding, stride);
  return batched(input, kAxes, {},
                 [&](const Tensor& x, const Out&) { return take_columns(x, windows); });
}

Tensor col2im(const Tensor& input, DimsView output_size, DimsView kernel_size, SpatialArg dilation,
              SpatialArg padding, SpatialArg stride) {
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  check_image(input, 1);
  const Spatial image = spatial_list(output_size, kAxes, 1, 1, "output_size");
  const Windows windows = windows_of(image, kernel_size, dilation, padding, stride);
  const int64_t elements = windows.kernel[0] * windows.kernel[1];
  const int64_t count = windows.count[0] * windows.count[1];
  TSR_CHECK(input.size(input.ndim() - 2) % elements == 0, Code::kShape, "input",
            "expected columns of a multiple of ", elements, " elements, got shape ", input.sizes());
  TSR_CHECK(input.size(input.ndim() - 1) == count, Code::kShape, "input", "expected ", count,
            " windows for an output of ", image[0], " by ", image[1], ", got shape ",
            input.sizes());
  return batched(input, 1, {},
                 [&](const Tensor& x, const Out&) { return sum_columns(x, windows); });
}

}  // namespace tsr::ops
