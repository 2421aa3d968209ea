// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling along one, two and three axes of (N, C, spatial...) or (C, spatial...).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "tessera/cpp/nn/module.hpp"
#include "tessera/cpp/nn/sizes.hpp"

namespace tessera::nn {

namespace detail {

// Windows of one size; the stride is the kernel's size if absent.
template <int kAxes>
struct Windows : Module {
  explicit Windows(Sizes<kAxes> kernel, std::optional<Sizes<kAxes>> steps, Sizes<kAxes> pad,
                   bool ceil)
      : kernel_size(kernel), stride(steps.value_or(kernel)), padding(pad), ceil_mode(ceil) {}

  const Sizes<kAxes> kernel_size, stride, padding;
  const bool ceil_mode;
};

// The maximum of each window.
template <int kAxes>
struct MaxPool : Windows<kAxes> {
  // A separate overload, because {2, 3} could be a size or a layer to copy.
  template <class... Options>
  explicit MaxPool(std::initializer_list<int64_t> kernel, const Options&... given)
      : MaxPool(Sizes<kAxes>(kernel), given...) {}
  explicit MaxPool(Sizes<kAxes> kernel, std::optional<Sizes<kAxes>> steps = std::nullopt,
                   Sizes<kAxes> pad = 0, Sizes<kAxes> dilate = 1, bool ceil = false)
      : Windows<kAxes>(kernel, steps, pad, ceil), dilation(dilate) {}

  Tensor forward(const Tensor& input) override {
    if constexpr (kAxes == 1) {
      return max_pool1d(input, this->kernel_size, this->stride, this->padding, dilation,
                        this->ceil_mode);
    } else if constexpr (kAxes == 2) {
      return max_pool2d(input, this->kernel_size, this->stride, this->padding, dilation,
                        this->ceil_mode);
    } else {
      return max_pool3d(input, this->kernel_size, this->stride, this->padding, dilation,
                        this->ceil_mode);
    }
  }

  // The maxima, and their positions in the flattened spatial axes.
  std::pair<Tensor, Tensor> with_positions(const Tensor& input) const {
    if constexpr (kAxes == 1) {
      auto [values, positions] = max_pool1d_with_positions(
          input, this->kernel_size, this->stride, this->padding, dilation, this->ceil_mode);
      return {values, positions};
    } else if constexpr (kAxes == 2) {
      auto [values, positions] = max_pool2d_with_positions(
          input, this->kernel_size, this->stride, this->padding, dilation, this->ceil_mode);
      return {values, positions};
    } else {
      auto [values, positions] = max_pool3d_with_positions(
          input, this->kernel_size, this->stride, this->padding, dilation, this->ceil_mode);
      return {values, positions};
    }
  }

  const Sizes<kAxes> dilation;
};

// The mean of each window.
template <int kAxes>
struct AvgPool : Windows<kAxes> {
  // As above.
  template <class... Options>
  explicit AvgPool(std::initializer_list<int64_t> kernel, const Options&... given)
      : AvgPool(Sizes<kAxes>(kernel), given...) {}
  explicit AvgPool(Sizes<kAxes> kernel, std::optional<Sizes<kAxes>> steps = std::nullopt,
                   Sizes<kAxes> pad = 0, bool ceil = false, bool count_pad = true,
                   std::optional<int64_t> divisor = std::nullopt)
      : Windows<kAxes>(kernel, steps, pad, ceil),
        count_include_pad(count_pad),
        divisor_override(divisor) {}

  Tensor forward(const Tensor& input) override {
    if constexpr (kAxes == 1) {
      return avg_pool1d(input, this->kernel_size, this->stride, this->padding, this->ceil_mode,
                        count_include_pad, divisor_override);
    } else if constexpr (kAxes == 2) {
      return avg_pool2d(input, this->kernel_size, this->stride, this->padding, this->ceil_mode,
                        count_include_pad, divisor_override);
    } else {
      return avg_pool3d(input, this->kernel_size, this->stride, this->padding, this->ceil_mode,
                        count_include_pad, divisor_override);
    }
  }

  const bool count_include_pad;
  const std::optional<int64_t> divisor_override;
};

// (sum of x^p)^(1/p) for each window.
template <int kAxes>
struct LPPool : Windows<kAxes> {
  LPPool(double p, Sizes<kAxes> kernel, std::optional<Sizes<kAxes>> steps = std::nullopt,
         bool ceil = false)
      : Windows<kAxes>(kernel, steps, 0, ceil), norm_type(p) {}

  Tensor forward(const Tensor& input) override {
    if constexpr (kAxes == 1) {
      return lp_pool1d(input, norm_type, this->kernel_size, this->stride, this->ceil_mode);
    } else if constexpr (kAxes == 2) {
      return lp_pool2d(input, norm_type, this->kernel_size, this->stride, this->ceil_mode);
    } else {
      return lp_pool3d(input, norm_type, this->kernel_size, this->stride, this->ceil_mode);
    }
  }

  const double norm_type;
};

// The means of output_size windows that cover the input evenly.
template <int kAxes>
struct AdaptiveAvgPool : Module {
  explicit AdaptiveAvgPool(Sizes<kAxes> size) : output_size(size) {}
  explicit AdaptiveAvgPool(std::initializer_list<int64_t> size) : output_size(size) {}

  Tensor forward(const Tensor& input) override {
    if constexpr (kAxes == 1) {
      return adaptive_avg_pool1d(input, output_size);
    } else if constexpr (kAxes == 2) {
      return adaptive_avg_pool2d(input, output_size);
    } else {
      return adaptive_avg_pool3d(input, output_size);
    }
  }

  const Sizes<kAxes> output_size;
};

// The maxima of output_size windows that cover the input evenly.
template <int kAxes>
struct AdaptiveMaxPool : Module {
  explicit AdaptiveMaxPool(Sizes<kAxes> size) : output_size(size) {}
  explicit AdaptiveMaxPool(std::initializer_list<int64_t> size) : output_size(size) {}

  Tensor forward(const Tensor& input) override {
    if constexpr (kAxes == 1) {
      return adaptive_max_pool1d(input, output_size);
    } else if constexpr (kAxes == 2) {
      return adaptive_max_pool2d(input, output_size);
    } else {
      return adaptive_max_pool3d(input, output_size);
    }
  }

  // The maxima, and their positions in the flattened spatial axes.
  std::pair<Tensor, Tensor> with_positions(const Tensor& input) const {
    if constexpr (kAxes == 1) {
      auto [values, positions] = adaptive_max_pool1d_with_positions(input, output_size);
      return {values, positions};
    } else if constexpr (kAxes == 2) {
      auto [values, positions] = adaptive_max_pool2d_with_positions(input, output_size);
      return {values, positions};
    } else {
      auto [values, positions] = adaptive_max_pool3d_with_positions(input, output_size);
      return {values, positions};
    }
  }

  const Sizes<kAxes> output_size;
};

// Zeros with the maxima at the positions that MaxPool gave. No Module, because it takes two inputs.
template <int kAxes>
struct MaxUnpool {
  // As above.
  template <class... Options>
  explicit MaxUnpool(std::initializer_list<int64_t> kernel, const Options&... given)
      : MaxUnpool(Sizes<kAxes>(kernel), given...) {}
  explicit MaxUnpool(Sizes<kAxes> kernel, std::optional<Sizes<kAxes>> steps = std::nullopt,
                     Sizes<kAxes> pad = 0)
      : kernel_size(kernel), stride(steps.value_or(kernel)), padding(pad) {}

  Tensor operator()(const Tensor& input, const Tensor& positions,
                    const OptionalIntList& output_size = std::nullopt) const {
    if constexpr (kAxes == 1) {
      return max_unpool1d(input, positions, kernel_size, stride, padding, output_size);
    } else if constexpr (kAxes == 2) {
      return max_unpool2d(input, positions, kernel_size, stride, padding, output_size);
    } else {
      return max_unpool3d(input, positions, kernel_size, stride, padding, output_size);
    }
  }

  const Sizes<kAxes> kernel_size, stride, padding;
};

}  // namespace detail

using MaxPool1d = detail::MaxPool<1>;
using MaxPool2d = detail::MaxPool<2>;
using MaxPool3d = detail::MaxPool<3>;
using AvgPool1d = detail::AvgPool<1>;
using AvgPool2d = detail::AvgPool<2>;
using AvgPool3d = detail::AvgPool<3>;
using LPPool1d = detail::LPPool<1>;
using LPPool2d = detail::LPPool<2>;
using LPPool3d = detail::LPPool<3>;
using AdaptiveAvgPool1d = detail::AdaptiveAvgPool<1>;
using AdaptiveAvgPool2d = detail::AdaptiveAvgPool<2>;
using AdaptiveAvgPool3d = detail::AdaptiveAvgPool<3>;
using AdaptiveMaxPool1d = detail::AdaptiveMaxPool<1>;
using AdaptiveMaxPool2d = detail::AdaptiveMaxPool<2>;
using AdaptiveMaxPool3d = detail::AdaptiveMaxPool<3>;
using MaxUnpool1d = detail::MaxUnpool<1>;
using MaxUnpool2d = detail::MaxUnpool<2>;
using MaxUnpool3d = detail::MaxUnpool<3>;

}  // namespace tessera::nn
