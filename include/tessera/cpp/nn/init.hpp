// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters, in place.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/cpp/autograd.hpp"

namespace tessera::nn::init {

enum class Mode { kFanIn, kFanOut };

struct Fans {
  int64_t in, out;
};

// The factor that keeps the variance through a nonlinearity. slope: for leaky_relu.
inline double calculate_gain(std::string_view nonlinearity, double slope = 0.01) {
  constexpr std::string_view kPlain[] = {"linear",           "sigmoid",         "conv1d",
                                         "conv2d",           "conv3d",          "conv_transpose1d",
                                         "conv_transpose2d", "conv_transpose3d"};
  for (const std::string_view plain : kPlain) {
    if (nonlinearity == plain) return 1;
  }
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + slope * slope));
  if (nonlinearity == "selu") return 0.75;
  tessera::detail::throw_value("calculate_gain", "nonlinearity", "the name of one that has a gain",
                               "'" + std::string(nonlinearity) + "'");
}

// The number of inputs for each output of a weight, and of outputs for each input.
inline Fans fan_in_and_fan_out(const Tensor& tensor) {
  const std::vector<int64_t> shape = tensor.shape();
  if (shape.size() < 2) {
    tessera::detail::throw_value("fan_in_and_fan_out", "tensor", "at least 2 axes",
                                 "shape " + tessera::detail::text_of(shape));
  }
  int64_t field = 1;
  for (size_t i = 2; i < shape.size(); ++i) field *= shape[i];
  return {shape[1] * field, shape[0] * field};
}

inline void uniform_(Tensor& tensor, double low = 0, double high = 1,
                     const Generator& generator = {}) {
  const NoGradGuard no_grad;
  tensor.uniform_(low, high, generator);
}

inline void normal_(Tensor& tensor, double mean = 0, double std = 1,
                    const Generator& generator = {}) {
  const NoGradGuard no_grad;
  tensor.normal_(mean, std, generator);
}

inline void constant_(Tensor& tensor, double value) {
  const NoGradGuard no_grad;
  tensor.fill_(value);
}
inline void zeros_(Tensor& tensor) {
  constant_(tensor, 0);
}
inline void ones_(Tensor& tensor) {
  constant_(tensor, 1);
}

// Normal numbers, given that they lie in [low, high].
inline void trunc_normal_(Tensor& tensor, double mean = 0, double std = 1, double low = -2,
                          double high = 2, const Generator& generator = {}) {
  const NoGradGuard no_grad;
  tessera::trunc_normal_(tensor, mean, std, low, high, generator);
}

// The identity, of two axes.
inline void eye_(Tensor& tensor) {
  const NoGradGuard no_grad;
  tessera::eye_fill_(tensor);
}

// The weight of a convolution (3 to 5 axes) that gives back its input channels, in each group.
inline void dirac_(Tensor& tensor, int64_t groups = 1) {
  const NoGradGuard no_grad;
  tessera::dirac_(tensor, groups);
}

// Random orthonormal rows or columns, whichever are fewer, times gain.
inline void orthogonal_(Tensor& tensor, double gain = 1, const Generator& generator = {}) {
  const NoGradGuard no_grad;
  tessera::orthogonal_(tensor, gain, generator);
}

// Normal numbers of which a share in each column is 0.
inline void sparse_(Tensor& tensor, double sparsity, double std = 0.01,
                    const Generator& generator = {}) {
  const NoGradGuard no_grad;
  tessera::sparse_normal_(tensor, sparsity, std, generator);
}

// A divisor: a fan of 0 means that the weight has no elements, so any number will do.
inline double nonzero(int64_t fan) {
  return fan == 0 ? 1 : static_cast<double>(fan);
}

inline void xavier_uniform_(Tensor& tensor, double gain = 1, const Generator& generator = {}) {
  const Fans fans = fan_in_and_fan_out(tensor);
  const double bound = gain * std::sqrt(6.0 / nonzero(fans.in + fans.out));
  init::uniform_(tensor, -bound, bound, generator);
}

inline void xavier_normal_(Tensor& tensor, double gain = 1, const Generator& generator = {}) {
  const Fans fans = fan_in_and_fan_out(tensor);
  init::normal_(tensor, 0, gain * std::sqrt(2.0 / nonzero(fans.in + fans.out)), generator);
}

// The standard deviation of Kaiming's rule.
inline double kaiming_std(const Tensor& tensor, double slope, Mode mode,
                          std::string_view nonlinearity) {
  const Fans fans = fan_in_and_fan_out(tensor);
  const int64_t fan = mode == Mode::kFanIn ? fans.in : fans.out;
  return calculate_gain(nonlinearity, slope) / std::sqrt(nonzero(fan));
}

inline void kaiming_uniform_(Tensor& tensor, double slope = 0, Mode mode = Mode::kFanIn,
                             std::string_view nonlinearity = "leaky_relu",
                             const Generator& generator = {}) {
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, slope, mode, nonlinearity);
  init::uniform_(tensor, -bound, bound, generator);
}

inline void kaiming_normal_(Tensor& tensor, double slope = 0, Mode mode = Mode::kFanIn,
                            std::string_view nonlinearity = "leaky_relu",
                            const Generator& generator = {}) {
  init::normal_(tensor, 0, kaiming_std(tensor, slope, mode, nonlinearity), generator);
}

}  // namespace tessera::nn::init
