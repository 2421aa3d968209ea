// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers without parameters: activations, pooling, dropout, reshaping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tessera/cpp/nn/layers.hpp"
#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

struct ReLU : Module {
  Tensor forward(const Tensor& input) override { return relu(input); }
};

struct LeakyReLU : Module {
  explicit LeakyReLU(double slope = 0.01) : negative_slope(slope) {}
  Tensor forward(const Tensor& input) override { return leaky_relu(input, negative_slope); }

  const double negative_slope;
};

struct GELU : Module {
  explicit GELU(std::string way = "none") : approximate(std::move(way)) {}
  Tensor forward(const Tensor& input) override { return gelu(input, approximate); }

  const std::string approximate;  // "none" or "tanh"
};

struct SiLU : Module {
  Tensor forward(const Tensor& input) override { return silu(input); }
};

struct Sigmoid : Module {
  Tensor forward(const Tensor& input) override { return sigmoid(input); }
};

struct Tanh : Module {
  Tensor forward(const Tensor& input) override { return tanh(input); }
};

struct Softmax : Module {
  explicit Softmax(int64_t along = -1) : axis(along) {}
  Tensor forward(const Tensor& input) override { return softmax(input, axis); }

  const int64_t axis;
};

struct LogSoftmax : Module {
  explicit LogSoftmax(int64_t along = -1) : axis(along) {}
  Tensor forward(const Tensor& input) override { return log_softmax(input, axis); }

  const int64_t axis;
};

// Zeroes elements with probability p while training, and scales the others by 1 / (1 - p).
struct Dropout : Module {
  explicit Dropout(double probability = 0.5) : p(probability) {
    if (!(p >= 0 && p <= 1)) throw InvalidValueError("p: expected a probability from 0 to 1");
  }
  Tensor forward(const Tensor& input) override { return dropout(input, p, is_training()); }

  const double p;
};

// Joins the axes from start to end into one.
struct Flatten : Module {
  explicit Flatten(int64_t start = 1, int64_t end = -1) : start_axis(start), end_axis(end) {}
  Tensor forward(const Tensor& input) override { return flatten(input, start_axis, end_axis); }

  const int64_t start_axis, end_axis;
};

struct Identity : Module {
  Tensor forward(const Tensor& input) override { return input; }
};

struct MaxPool2d : Module {
  explicit MaxPool2d(Pair kernel, std::optional<Pair> steps = std::nullopt, Pair pad = 0)
      : kernel_size(kernel), stride(steps.value_or(kernel)), padding(pad) {}
  Tensor forward(const Tensor& input) override {
    return max_pool2d(input, kernel_size, stride, padding);
  }

  const Pair kernel_size, stride, padding;
};

struct AvgPool2d : Module {
  explicit AvgPool2d(Pair kernel, std::optional<Pair> steps = std::nullopt, Pair pad = 0)
      : kernel_size(kernel), stride(steps.value_or(kernel)), padding(pad) {}
  Tensor forward(const Tensor& input) override {
    return avg_pool2d(input, kernel_size, stride, padding);
  }

  const Pair kernel_size, stride, padding;
};

struct AdaptiveAvgPool2d : Module {
  explicit AdaptiveAvgPool2d(Pair size) : output_size(size) {}
  Tensor forward(const Tensor& input) override { return adaptive_avg_pool2d(input, output_size); }

  const Pair output_size;
};

}  // namespace tessera::nn
