// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Fractional max pooling (Graham, "Fractional max-pooling", 2014): windows whose distances are
// random, so that the output has any size.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/create.hpp"
#include "tessera/cpp/nn/module.hpp"
#include "tessera/cpp/nn/sizes.hpp"

namespace tessera::nn {

namespace detail {

template <int kAxes>
class FractionalMaxPool : public Module {
 public:
  // An output of these sizes.
  FractionalMaxPool(Sizes<kAxes> kernel, Sizes<kAxes> output_size)
      : kernel_size_(kernel), sizes_(output_size) {}
  // An output of these shares of the input's sizes.
  static FractionalMaxPool of_ratio(Sizes<kAxes> kernel,
                                    const std::array<double, size_t{kAxes}>& output_ratio) {
    return FractionalMaxPool(kernel, std::nullopt, output_ratio);
  }

  Tensor forward(const Tensor& input) override { return with_positions(input).first; }

  // The maxima, and their positions in the flattened spatial axes. `samples` are numbers from 0 to
  // 1 in place of random ones: for each sample and channel one for each axis.
  std::pair<Tensor, Tensor> with_positions(const Tensor& input, const Tensor& samples = {}) const {
    if (input.ndim() == kAxes + 1) {
      auto [values, positions] = with_positions(input.expand_dims(0), samples);
      return {values.squeeze(0), positions.squeeze(0)};
    }
    if (input.ndim() != kAxes + 2) {
      throw ShapeError(name() + "expected " + std::to_string(kAxes + 1) + " or " +
                       std::to_string(kAxes + 2) + " axes, got shape " + text(input));
    }
    const std::vector<int64_t> shape = input.shape();
    const std::array<int64_t, size_t{kAxes}> counts = output_sizes(shape);
    const Tensor numbers = numbers_for(input, samples);
    Tensor places = zeros({}, kInt64, input.device());
    for (size_t axis = 0; axis < kAxes; ++axis) {
      // The numbers of two axes belong to the last axis first, those of three to the first one.
      const size_t number = kAxes == 2 ? 1 - axis : axis;
      const int64_t window = kernel_size_.values[axis];
      const int64_t length = shape[2 + axis];
      const Tensor first =
          starts(numbers.select(-1, static_cast<int64_t>(number)), length, counts[axis], window);
      const Tensor inside = first.expand_dims(-1) + arange(0, window, 1, kInt64, input.device());
      // (samples, channels, count, window), with an axis of size 1 for each other count and window
      std::vector<int64_t> spread(2 + 2 * size_t{kAxes}, 1);
      spread[0] = shape[0];
      spread[1] = shape[1];
      spread[2 + axis] = counts[axis];
      spread[2 + kAxes + axis] = window;
      places = places * length + inside.reshape(spread);
    }
    std::vector<int64_t> by_window{shape[0], shape[1]};
    by_window.insert(by_window.end(), counts.begin(), counts.end());
    by_window.push_back(-1);
    const std::array<int64_t, 3> flat_shape{shape[0], shape[1], -1};
    const Tensor flat = places.reshape(flat_shape);
    const Tensor picked = input.reshape(flat_shape).gather(-1, flat).reshape(by_window);
    const auto [values, best] = picked.max_with_indices(-1);
    const Tensor positions = flat.reshape(by_window).gather(-1, best.expand_dims(-1));
    return {values, positions.squeeze(-1)};
  }

 private:
  // Of another number of arguments than the public one, because {2, 3} could be either.
  FractionalMaxPool(Sizes<kAxes> kernel, std::nullopt_t /*sizes*/,
                    const std::array<double, size_t{kAxes}>& output_ratio)
      : kernel_size_(kernel), ratios_(output_ratio) {}

  static std::string name() { return "FractionalMaxPool" + std::to_string(kAxes) + "d: "; }
  static std::string text(const Tensor& tensor) { return tessera::detail::text_of(tensor.shape()); }

  std::array<int64_t, size_t{kAxes}> output_sizes(const std::vector<int64_t>& shape) const {
    std::array<int64_t, size_t{kAxes}> counts{};
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const int64_t length = shape[2 + axis];
      const int64_t window = kernel_size_.values[axis];
      counts[axis] = sizes_ ? sizes_->values[axis] : share_of(length, ratios_[axis]);
      if (counts[axis] < 1 || window < 1 || window > length || counts[axis] > length - window + 1) {
        throw ShapeError(name() + "expected sizes of at least 1 with output + kernel - 1 at most " +
                         std::to_string(length) + ", got output " + std::to_string(counts[axis]) +
                         " and kernel " + std::to_string(window));
      }
    }
    return counts;
  }

  static int64_t share_of(int64_t length, double ratio) {
    if (!std::isfinite(ratio)) {
      throw InvalidValueError(name() + "output_ratio: expected a finite number, got " +
                              std::to_string(ratio));
    }
    constexpr double kLimit = 1e18;  // of what is converted, and larger than any axis
    return static_cast<int64_t>(std::clamp(static_cast<double>(length) * ratio, -kLimit, kLimit));
  }

  // The dtype in which places are computed: 16-bit floats do not hold every place.
  static DType exact(DType dtype) {
    return dtype == kFloat16 || dtype == kBFloat16 ? kFloat32 : dtype;
  }

  static Tensor numbers_for(const Tensor& input, const Tensor& samples) {
    const std::vector<int64_t> wanted{input.size(0), input.size(1), kAxes};
    if (!samples.defined()) return rand(wanted, exact(input.dtype()), input.device());
    if (samples.shape() != wanted) {
      throw ShapeError(name() + "samples: expected shape " + tessera::detail::text_of(wanted) +
                       ", got " + text(samples));
    }
    return samples.astype(exact(samples.dtype()), false);
  }

  // Where the windows of one axis begin; the last one ends at the end.
  static Tensor starts(const Tensor& numbers, int64_t length, int64_t count, int64_t window) {
    const Tensor sample = numbers.expand_dims(-1);
    const Tensor last = full(sample.shape(), length - window, kInt64, sample.device());
    if (count == 1) return last;
    const double pace = static_cast<double>(length - window) / static_cast<double>(count - 1);
    const Tensor steps = arange(0, count - 1, 1, sample.dtype(), sample.device());
    const Tensor found = trunc((steps + sample) * pace) - trunc(sample * pace);
    return concat({found.astype(kInt64), last}, -1);
  }

  const Sizes<kAxes> kernel_size_;
  const std::optional<Sizes<kAxes>> sizes_;
  const std::array<double, size_t{kAxes}> ratios_{};
};

}  // namespace detail

// The maxima of windows at random distances along two or three axes.
using FractionalMaxPool2d = detail::FractionalMaxPool<2>;
using FractionalMaxPool3d = detail::FractionalMaxPool<3>;

}  // namespace tessera::nn
