// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers without parameters: activations, reshaping.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

struct SELU : Module {
  Tensor forward(const Tensor& input) override { return selu(input); }
};

struct Mish : Module {
  Tensor forward(const Tensor& input) override { return mish(input); }
};

struct Hardswish : Module {
  Tensor forward(const Tensor& input) override { return hardswish(input); }
};

struct Hardsigmoid : Module {
  Tensor forward(const Tensor& input) override { return hardsigmoid(input); }
};

struct ReLU6 : Module {
  Tensor forward(const Tensor& input) override { return relu6(input); }
};

struct Softsign : Module {
  Tensor forward(const Tensor& input) override { return softsign(input); }
};

struct Tanhshrink : Module {
  Tensor forward(const Tensor& input) override { return tanhshrink(input); }
};

struct LogSigmoid : Module {
  Tensor forward(const Tensor& input) override { return logsigmoid(input); }
};

struct ELU : Module {
  explicit ELU(double scale = 1) : alpha(scale) {}
  Tensor forward(const Tensor& input) override { return elu(input, alpha); }

  const double alpha;
};

struct CELU : Module {
  explicit CELU(double scale = 1) : alpha(scale) {}
  Tensor forward(const Tensor& input) override { return celu(input, alpha); }

  const double alpha;
};

struct Hardtanh : Module {
  explicit Hardtanh(double low = -1, double high = 1) : min_val(low), max_val(high) {}
  Tensor forward(const Tensor& input) override { return hardtanh(input, min_val, max_val); }

  const double min_val, max_val;
};

struct Softplus : Module {
  explicit Softplus(double rate = 1, double linear_from = 20)
      : beta(rate), threshold(linear_from) {}
  Tensor forward(const Tensor& input) override { return softplus(input, beta, threshold); }

  const double beta, threshold;
};

struct Softshrink : Module {
  explicit Softshrink(double width = 0.5) : lambd(width) {}
  Tensor forward(const Tensor& input) override { return softshrink(input, lambd); }

  const double lambd;
};

struct Hardshrink : Module {
  explicit Hardshrink(double width = 0.5) : lambd(width) {}
  Tensor forward(const Tensor& input) override { return hardshrink(input, lambd); }

  const double lambd;
};

// x above the limit, else the value.
struct Threshold : Module {
  Threshold(double limit, double otherwise) : threshold(limit), value(otherwise) {}
  Tensor forward(const Tensor& input) override {
    return tessera::threshold(input, threshold, value);
  }

  const double threshold, value;
};

// x where positive, weight x elsewhere; the weight is one number, or one for each channel.
struct PReLU : Module {
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25)
      : weight(full({num_parameters}, init)) {
    register_parameter("weight", weight);
  }
  Tensor forward(const Tensor& input) override { return prelu(input, weight); }

  Tensor weight;
};

struct GLU : Module {
  explicit GLU(int64_t along = -1) : axis(along) {}
  Tensor forward(const Tensor& input) override { return glu(input, axis); }

  const int64_t axis;
};

struct Softmin : Module {
  explicit Softmin(int64_t along = -1) : axis(along) {}
  Tensor forward(const Tensor& input) override { return softmin(input, axis); }

  const int64_t axis;
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

// Merges the axes from start to end into one.
struct Flatten : Module {
  explicit Flatten(int64_t start = 1, int64_t end = -1) : start_axis(start), end_axis(end) {}
  Tensor forward(const Tensor& input) override { return flatten(input, start_axis, end_axis); }

  const int64_t start_axis, end_axis;
};

// Divides an axis into axes of these sizes, of which one may be -1.
struct Unflatten : Module {
  Unflatten(int64_t which, const IntList& sizes)
      : axis(which), unflattened_size(sizes.to_vector()) {}
  Tensor forward(const Tensor& input) override { return unflatten(input, axis, unflattened_size); }

  const int64_t axis;
  const std::vector<int64_t> unflattened_size;
};

struct Identity : Module {
  Tensor forward(const Tensor& input) override { return input; }
};

}  // namespace tessera::nn
