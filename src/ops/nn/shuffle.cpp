// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/shuffle.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_factor(int64_t factor, const char* arg) {
  TSR_CHECK(factor >= 1 && factor <= INT16_MAX, Code::kValue, arg,
            "expected a number from 1 to 32767, got ", factor);
}

void check_planes(const Tensor& input) {
  TSR_CHECK(input.ndim() >= 3, Code::kShape, "input",
            "expected at least 3 dimensions (..., channels, height, width), got shape ",
            input.sizes());
}

// The sizes before the last three, then `rest`.
Dims with_leading(const Tensor& input, std::initializer_list<int64_t> rest) {
  Dims sizes(input.sizes().begin(), input.sizes().end() - 3);
  for (const int64_t size : rest) sizes.push_back(size);
  return sizes;
}

// The last five axes in another order.
Tensor permute_last(const Tensor& input, std::initializer_list<int64_t> order) {
  const int64_t leading = input.ndim() - static_cast<int64_t>(order.size());
  Dims axes;
  for (int64_t d = 0; d < leading; ++d) axes.push_back(d);
  for (const int64_t axis : order) axes.push_back(leading + axis);
  return permute_dims(input, axes);
}

// A copy: where a factor is 1 the shuffle alone would be a view.
Tensor copy_of(const Tensor& shuffled, DimsView sizes) {
  return reshape(shuffled, sizes, true);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor) {
  check_planes(input);
  check_factor(upscale_factor, "upscale_factor");
  const int64_t r = upscale_factor;
  const int64_t channels = input.size(-3 + input.ndim());
  const int64_t height = input.size(-2 + input.ndim());
  const int64_t width = input.size(-1 + input.ndim());
  TSR_CHECK(channels % (r * r) == 0, Code::kShape, "input", "expected a number of channels that ",
            r * r, " divides, got shape ", input.sizes());
  const Tensor parts =
      reshape(input, with_leading(input, {channels / (r * r), r, r, height, width}));
  return copy_of(permute_last(parts, {0, 3, 1, 4, 2}),
                 with_leading(input, {channels / (r * r), height * r, width * r}));
}

Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor) {
  check_planes(input);
  check_factor(downscale_factor, "downscale_factor");
  const int64_t r = downscale_factor;
  const int64_t channels = input.size(-3 + input.ndim());
  const int64_t height = input.size(-2 + input.ndim());
  const int64_t width = input.size(-1 + input.ndim());
  TSR_CHECK(height % r == 0 && width % r == 0, Code::kShape, "input",
            "expected a height and a width that ", r, " divides, got shape ", input.sizes());
  const Tensor parts = reshape(input, with_leading(input, {channels, height / r, r, width / r, r}));
  return copy_of(permute_last(parts, {0, 2, 4, 1, 3}),
                 with_leading(input, {channels * r * r, height / r, width / r}));
}

Tensor channel_shuffle(const Tensor& input, int64_t groups) {
  TSR_CHECK(input.ndim() >= 3, Code::kShape, "input",
            "expected at least 3 dimensions (batch, channels, ...), got shape ", input.sizes());
  TSR_CHECK(groups >= 1 && input.size(1) % groups == 0, Code::kValue, "groups",
            "expected a positive number that divides the ", input.size(1), " channels, got ",
            groups);
  Dims sizes = input.sizes();
  sizes[1] /= groups;
  sizes.insert(1, groups);
  return copy_of(transpose(reshape(input, sizes), 1, 2), input.sizes());
}

}  // namespace tsr::ops
