// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution along one, two and three axes, and its transpose; defaults and initial values are the
// same as in the Python package.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/cpp/nn/layers.hpp"
#include "tessera/cpp/nn/sizes.hpp"

namespace tessera::nn {

template <int kAxes>
struct ConvOptionsOf {
  Sizes<kAxes> stride = 1;
  Sizes<kAxes> padding = 0;
  Sizes<kAxes> dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  std::optional<DType> dtype = std::nullopt;
  // Not for the transposes: pad so that the output has the input's size; replaces padding, needs
  // stride 1.
  bool same = false;
  // Not for the transposes: what stands in the padding: zeros, reflect, replicate or circular.
  std::string padding_mode = "zeros";
};
using Conv1dOptions = ConvOptionsOf<1>;
using ConvOptions = ConvOptionsOf<2>;
using Conv3dOptions = ConvOptionsOf<3>;

namespace detail {

// Base class of a convolution and its transpose.
template <int kAxes>
class Conv : public Module {
 public:
  Tensor weight, bias;

 protected:
  Conv(int64_t rows, int64_t columns, int64_t out_channels, Sizes<kAxes> kernel,
       const ConvOptionsOf<kAxes>& given)
      : options(given) {
    if (given.groups < 1 || rows % given.groups != 0 || columns % given.groups != 0) {
      tessera::detail::throw_value(
          "Conv", "groups",
          "a divisor of " + std::to_string(rows) + " and " + std::to_string(columns) + " channels",
          std::to_string(given.groups));
    }
    std::vector<int64_t> shape{rows, columns / given.groups};
    shape.insert(shape.end(), kernel.values.begin(), kernel.values.end());
    weight = empty(shape, given.dtype);
    if (given.bias) bias = empty({out_channels}, given.dtype);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    init::kaiming_uniform_(weight, std::sqrt(5.0));
    if (given.bias) init_bias(bias, init::fan_in_and_fan_out(weight).in);
  }

  ConvOptionsOf<kAxes> options;
};

// Cross-correlation with weight (out, in / groups, kernel...).
template <int kAxes>
class PlainConv : public Conv<kAxes> {
 public:
  PlainConv(int64_t in_channels, int64_t out_channels, Sizes<kAxes> kernel_size,
            const ConvOptionsOf<kAxes>& given = {})
      : Conv<kAxes>(out_channels, in_channels, out_channels, kernel_size, given) {
    if (given.same && (given.padding.values != Sizes<kAxes>(0).values ||
                       given.stride.values != Sizes<kAxes>(1).values)) {
      throw InvalidValueError("Conv: expected padding 0 and stride 1 with the option `same`");
    }
    const std::string& mode = given.padding_mode;
    if (mode != "zeros" && mode != "reflect" && mode != "replicate" && mode != "circular") {
      throw InvalidValueError(
          "Conv: padding_mode: expected zeros, reflect, replicate or circular, got " + mode);
    }
    // Elements before and after each axis, the last axis first.
    for (size_t axis = kAxes; axis-- > 0;) {
      const int64_t both = given.same ? given.dilation.values[axis] * (kernel_size.values[axis] - 1)
                                      : 2 * given.padding.values[axis];
      around_.push_back(both / 2);
      around_.push_back(both - both / 2);
    }
  }

  Tensor forward(const Tensor& input) override {
    const auto& o = this->options;
    if (o.padding_mode != "zeros") {
      return convolved(pad(input, around_, o.padding_mode), Sizes<kAxes>(0), false);
    }
    OptionalIntList padding = o.padding;
    if (o.same) padding = std::nullopt;
    return convolved(input, padding, o.same);
  }

 private:
  Tensor convolved(const Tensor& input, const OptionalIntList& padding, bool same) const {
    const auto& o = this->options;
    if constexpr (kAxes == 1) {
      return conv1d(input, this->weight, this->bias, o.stride, padding, o.dilation, o.groups, same);
    } else if constexpr (kAxes == 2) {
      return conv2d(input, this->weight, this->bias, o.stride, padding, o.dilation, o.groups, same);
    } else {
      return conv3d(input, this->weight, this->bias, o.stride, padding, o.dilation, o.groups, same);
    }
  }

  std::vector<int64_t> around_;
};

// The gradient of a convolution as a layer; weight (in, out / groups, kernel...).
template <int kAxes>
class ConvTranspose : public Conv<kAxes> {
 public:
  ConvTranspose(int64_t in_channels, int64_t out_channels, Sizes<kAxes> kernel_size,
                const ConvOptionsOf<kAxes>& given = {}, Sizes<kAxes> output_padding = 0)
      : Conv<kAxes>(in_channels, out_channels, out_channels, kernel_size, given),
        output_padding_(output_padding) {
    if (given.same) throw InvalidValueError("ConvTranspose: expected no option `same`");
    if (given.padding_mode != "zeros") {
      throw InvalidValueError("ConvTranspose: expected padding_mode zeros, got " +
                              given.padding_mode);
    }
  }

  Tensor forward(const Tensor& input) override {
    const auto& o = this->options;
    if constexpr (kAxes == 1) {
      return conv_transpose1d(input, this->weight, this->bias, o.stride, o.padding, output_padding_,
                              o.groups, o.dilation);
    } else if constexpr (kAxes == 2) {
      return conv_transpose2d(input, this->weight, this->bias, o.stride, o.padding, output_padding_,
                              o.groups, o.dilation);
    } else {
      return conv_transpose3d(input, this->weight, this->bias, o.stride, o.padding, output_padding_,
                              o.groups, o.dilation);
    }
  }

 private:
  Sizes<kAxes> output_padding_;
};

}  // namespace detail

// Of sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W).
using Conv1d = detail::PlainConv<1>;
using Conv2d = detail::PlainConv<2>;
using Conv3d = detail::PlainConv<3>;
using ConvTranspose1d = detail::ConvTranspose<1>;
using ConvTranspose2d = detail::ConvTranspose<2>;
using ConvTranspose3d = detail::ConvTranspose<3>;

}  // namespace tessera::nn
