// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers of images without parameters: other sizes, shuffles, windows as columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/nn/layers.hpp"
#include "tessera/cpp/nn/module.hpp"
#include "tessera/cpp/nn/sizes.hpp"

namespace tessera::nn {

// One of size and scale_factor, with one number or one for each spatial axis.
struct UpsampleOptions {
  std::vector<int64_t> size = {};
  std::vector<double> scale_factor = {};
  // nearest, nearest-exact, area, linear, bilinear, bicubic, trilinear
  std::string mode = "nearest";
  std::optional<bool> align_corners = std::nullopt;
  bool recompute_scale_factor = false;
};

// An image of another size.
struct Upsample : Module {
  explicit Upsample(UpsampleOptions given) : options(std::move(given)) {}
  Tensor forward(const Tensor& input) override {
    OptionalIntList size = std::nullopt;
    if (!options.size.empty()) size = options.size;
    return interpolate(input, options.scale_factor, size, options.mode, options.align_corners,
                       options.recompute_scale_factor);
  }

  const UpsampleOptions options;
};

struct PixelShuffle : Module {
  explicit PixelShuffle(int64_t factor) : upscale_factor(factor) {}
  Tensor forward(const Tensor& input) override { return pixel_shuffle(input, upscale_factor); }

  const int64_t upscale_factor;
};

struct PixelUnshuffle : Module {
  explicit PixelUnshuffle(int64_t factor) : downscale_factor(factor) {}
  Tensor forward(const Tensor& input) override { return pixel_unshuffle(input, downscale_factor); }

  const int64_t downscale_factor;
};

struct ChannelShuffle : Module {
  explicit ChannelShuffle(int64_t count) : groups(count) {}
  Tensor forward(const Tensor& input) override { return channel_shuffle(input, groups); }

  const int64_t groups;
};

// The windows of an image as columns.
struct Unfold : Module {
  explicit Unfold(Pair kernel, Pair spread = 1, Pair pad = 0, Pair steps = 1)
      : kernel_size(kernel), dilation(spread), padding(pad), stride(steps) {}
  Tensor forward(const Tensor& input) override {
    return im2col(input, kernel_size, dilation, padding, stride);
  }

  const Pair kernel_size, dilation, padding, stride;
};

// The sums of windows that are given as columns.
struct Fold : Module {
  Fold(Pair size, Pair kernel, Pair spread = 1, Pair pad = 0, Pair steps = 1)
      : output_size(size), kernel_size(kernel), dilation(spread), padding(pad), stride(steps) {}
  Tensor forward(const Tensor& input) override {
    return col2im(input, output_size, kernel_size, dilation, padding, stride);
  }

  const Pair output_size, kernel_size, dilation, padding, stride;
};

}  // namespace tessera::nn
