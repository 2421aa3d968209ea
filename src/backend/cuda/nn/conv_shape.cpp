// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nn/conv_shape.h"

#include <algorithm>

namespace tsr::cuda {

using kernel::ConvPlan;

namespace {

// The strides of dense memory, row-major or with the channels last.
DimArray dense_strides(const DimArray& sizes, int dims, bool channels_last) {
  DimArray strides{};
  int64_t stride = 1;
  const auto place = [&](int d) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= sizes[static_cast<size_t>(d)];
  };
  if (channels_last) place(1);
  for (int d = dims - 1; d > 1; --d) place(d);
  if (!channels_last) place(1);
  place(0);
  return strides;
}

// The layouts that fit a dense tensor; both may fit.
struct Layouts {
  bool row_major, channels_last;
};
Layouts layouts_of(const DimArray& sizes, const DimArray& strides, int dims) {
  const auto matches = [&](bool last) {
    const DimArray dense = dense_strides(sizes, dims, last);
    for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
      if (sizes[d] != 1 && strides[d] != dense[d]) return false;
    }
    return true;
  };
  return {matches(false), matches(true)};
}

// Sizes and strides of a tensor with `missing` axes of size 1 before its spatial ones.
void set_sides(ConvTensor& tensor, int64_t first, int64_t second, const int64_t* size,
               const int64_t* strides, int spatial, int missing) {
  tensor.sizes[0] = first;
  tensor.sizes[1] = second;
  tensor.strides[0] = strides[0];
  tensor.strides[1] = strides[1];
  for (int d = 0; d < missing; ++d) tensor.sizes[static_cast<size_t>(2 + d)] = 1;
  for (int d = 0; d < spatial; ++d) {
    tensor.sizes[static_cast<size_t>(2 + missing + d)] = size[d];
    tensor.strides[static_cast<size_t>(2 + missing + d)] = strides[2 + d];
  }
  tensor.wanted_sizes = tensor.sizes;
}

// Sets the wanted layout of a tensor. If its memory already has this layout, the strides of both
// forms are made equal, also for axes of size 1, where they do not matter.
void set_layout(ConvTensor& tensor, int dims, bool channels_last) {
  const Layouts found = layouts_of(tensor.sizes, tensor.strides, dims);
  if (channels_last ? found.channels_last : found.row_major)
    tensor.strides = dense_strides(tensor.sizes, dims, channels_last);
  tensor.wanted_strides = dense_strides(tensor.wanted_sizes, dims, channels_last);
}

}  // namespace

ConvShape::ConvShape(const ConvPlan& plan) : spatial(std::max(plan.spatial, 2)) {
  const int missing = spatial - plan.spatial;
  stride.fill(1);
  dilation.fill(1);
  set_sides(input, plan.batch, plan.in_channels, plan.input_size, plan.input_strides, plan.spatial,
            missing);
  set_sides(weight, plan.out_channels, plan.in_channels / plan.groups, plan.kernel,
            plan.weight_strides, plan.spatial, missing);
  set_sides(output, plan.batch, plan.out_channels, plan.output_size, plan.output_strides,
            plan.spatial, missing);
  input.data = plan.input;
  weight.data = plan.weight;
  output.data = plan.output;
  for (int d = 0; d < plan.spatial; ++d) {
    const auto own = static_cast<size_t>(missing + d);
    const int64_t before = plan.padding[d];
    const int64_t reach = (plan.kernel[d] - 1) * plan.dilation[d] + 1;
    const int64_t covered = (plan.output_size[d] - 1) * plan.stride[d] + reach;
    const int64_t after = covered - plan.input_size[d] - before;
    stride[own] = plan.stride[d];
    dilation[own] = plan.dilation[d];
    padding[own] = before;
    // Does equal padding at both ends give the same number of windows?
    const int64_t room = plan.input_size[d] + 2 * before - reach;
    if (room >= 0 && room / plan.stride[d] + 1 == plan.output_size[d]) continue;
    // Otherwise the excess padding becomes part of a copy of the input.
    padding[own] = std::max<int64_t>(0, std::min(before, after));
    input.front[own + 2] = before - padding[own];
    input.wanted_sizes[own + 2] = covered - 2 * padding[own];
  }
  const Layouts in = layouts_of(input.sizes, input.strides, dims());
  const Layouts out = layouts_of(output.sizes, output.strides, dims());
  // A tensor that is both follows the other one; row-major where both are both.
  const bool last = in.channels_last && out.channels_last && !(in.row_major && out.row_major);
  for (ConvTensor* tensor : {&input, &weight, &output}) set_layout(*tensor, dims(), last);
}

}  // namespace tsr::cuda
