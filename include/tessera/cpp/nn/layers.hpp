// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers with parameters; defaults and initial values are the same as in the Python package.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "tessera/cpp/nn/init.hpp"
#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

// A number for each of the two axes of an image: one for both, or {rows, columns}.
struct Pair {
  Pair(int64_t both) : values{both, both} {}  // NOLINT(google-explicit-constructor)
  Pair(int64_t rows, int64_t columns) : values{rows, columns} {}
  operator IntList() const { return values; }          // NOLINT(google-explicit-constructor)
  operator OptionalIntList() const { return values; }  // NOLINT(google-explicit-constructor)

  std::array<int64_t, 2> values;
};

namespace detail {

// Initial values of the bias of a layer whose outputs have this number of inputs.
inline void init_bias(Tensor& bias, int64_t fan_in) {
  const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

}  // namespace detail

// input @ weight.T + bias, with weight of shape (out_features, in_features).
class Linear : public Module {
 public:
  Tensor weight, bias;

  Linear(int64_t in_features, int64_t out_features, bool with_bias = true,
         std::optional<DType> dtype = std::nullopt)
      : weight(empty({out_features, in_features}, dtype)) {
    if (with_bias) bias = empty({out_features}, dtype);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    init::kaiming_uniform_(weight, std::sqrt(5.0));
    if (with_bias) detail::init_bias(bias, in_features);
  }

  Tensor forward(const Tensor& input) override { return linear(input, weight, bias); }
};

struct ConvOptions {
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  std::optional<DType> dtype = std::nullopt;
  // Conv2d only: pad so that the output has the input's size; replaces padding, needs stride 1.
  bool same = false;
};

namespace detail {

// Base class of the two convolutions.
class Conv : public Module {
 public:
  Tensor weight, bias;

 protected:
  Conv(int64_t rows, int64_t columns, int64_t out_channels, Pair kernel, const ConvOptions& given)
      : options(given) {
    if (given.groups < 1 || rows % given.groups != 0 || columns % given.groups != 0) {
      throw InvalidValueError("in_channels and out_channels must be divisible by groups");
    }
    const int64_t below = columns / given.groups;
    weight = empty({rows, below, kernel.values[0], kernel.values[1]}, given.dtype);
    if (given.bias) bias = empty({out_channels}, given.dtype);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    init::kaiming_uniform_(weight, std::sqrt(5.0));
    if (given.bias) init_bias(bias, init::fan_in_and_fan_out(weight).in);
  }

  ConvOptions options;
};

}  // namespace detail

// Cross-correlation of images (N, C, H, W) with weight (out, in / groups, kH, kW).
class Conv2d : public detail::Conv {
 public:
  Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel_size, const ConvOptions& given = {})
      : Conv(out_channels, in_channels, out_channels, kernel_size, given) {
    constexpr std::array<int64_t, 2> kNone{0, 0}, kOne{1, 1};
    if (given.same && (given.padding.values != kNone || given.stride.values != kOne)) {
      throw InvalidValueError("Conv2d: expected padding 0 and stride 1 with the option `same`");
    }
  }

  Tensor forward(const Tensor& input) override {
    OptionalIntList padding = options.padding;
    if (options.same) padding = std::nullopt;
    return conv2d(input, weight, bias, options.stride, padding, options.dilation, options.groups,
                  options.same);
  }
};

// The gradient of Conv2d as a layer; weight (in, out / groups, kH, kW).
class ConvTranspose2d : public detail::Conv {
 public:
  ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
                  const ConvOptions& given = {}, Pair output_padding = 0)
      : Conv(in_channels, out_channels, out_channels, kernel_size, given),
        output_padding_(output_padding) {
    if (given.same) throw InvalidValueError("ConvTranspose2d: expected no option `same`");
  }

  Tensor forward(const Tensor& input) override {
    return conv_transpose2d(input, weight, bias, options.stride, options.padding, output_padding_,
                            options.groups, options.dilation);
  }

 private:
  Pair output_padding_;
};

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // absent: the mean of all batches so far
  bool affine = true;
  bool track_running_stats = true;
  std::optional<DType> dtype = std::nullopt;
};

// Normalises each channel over the batch, in eval mode with running statistics. Running statistics
// never have a 16-bit dtype.
class BatchNorm2d : public Module {
 public:
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

  explicit BatchNorm2d(int64_t num_features, const BatchNormOptions& given = {}) : options_(given) {
    if (given.affine) {
      weight = ones({num_features}, given.dtype);
      bias = zeros({num_features}, given.dtype);
    }
    if (given.track_running_stats) {
      const bool half = given.dtype == kFloat16 || given.dtype == kBFloat16;
      const std::optional<DType> wide = half ? kFloat32 : given.dtype;
      running_mean = zeros({num_features}, wide);
      running_var = ones({num_features}, wide);
      num_batches_tracked = zeros({}, kInt64);
    }
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    register_statistic("running_mean", running_mean);
    register_statistic("running_var", running_var);
    register_buffer("num_batches_tracked", num_batches_tracked);
  }

  Tensor forward(const Tensor& input) override {
    if (input.ndim() != 4) throw ShapeError("BatchNorm2d: expected 4 axes (N, C, H, W)");
    double momentum = options_.momentum.value_or(0);
    if (is_training() && num_batches_tracked.defined()) {
      num_batches_tracked += 1;
      if (!options_.momentum) momentum = 1.0 / num_batches_tracked.item<double>();
    }
    const bool by_batch = is_training() || !running_mean.defined();
    return batch_norm(input, running_mean, running_var, weight, bias, by_batch, momentum,
                      options_.eps);
  }

 private:
  BatchNormOptions options_;
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  std::optional<DType> dtype = std::nullopt;
};

// Normalises over the last axes, whose sizes are given.
class LayerNorm : public Module {
 public:
  Tensor weight, bias;

  // A separate overload, because {8} could be an IntList or a LayerNorm to copy.
  explicit LayerNorm(std::initializer_list<int64_t> normalized_shape,
                     const LayerNormOptions& given = {})
      : LayerNorm(IntList(normalized_shape), given) {}
  explicit LayerNorm(const IntList& normalized_shape, const LayerNormOptions& given = {})
      : shape_(normalized_shape.to_vector()), eps_(given.eps) {
    if (given.elementwise_affine) {
      weight = ones(shape_, given.dtype);
      if (given.bias) bias = zeros(shape_, given.dtype);
    }
    register_parameter("weight", weight);
    register_parameter("bias", bias);
  }

  Tensor forward(const Tensor& input) override {
    return layer_norm(input, shape_, weight, bias, eps_);
  }

 private:
  std::vector<int64_t> shape_;
  double eps_;
};

// Rows of a table, looked up by integers.
class Embedding : public Module {
 public:
  Tensor weight;

  Embedding(int64_t num_embeddings, int64_t embedding_dim,
            std::optional<int64_t> padding_idx = std::nullopt,
            std::optional<DType> dtype = std::nullopt)
      : weight(empty({num_embeddings, embedding_dim}, dtype)), padding_idx_(padding_idx) {
    if (padding_idx && (*padding_idx < -num_embeddings || *padding_idx >= num_embeddings)) {
      throw InvalidValueError("padding_idx is out of range");
    }
    if (padding_idx && *padding_idx < 0) *padding_idx_ += num_embeddings;
    register_parameter("weight", weight);
    init::normal_(weight);
    if (padding_idx_) weight.detach().select(0, *padding_idx_).zero_();
  }

  Tensor forward(const Tensor& input) override { return embedding(input, weight, padding_idx_); }

 private:
  std::optional<int64_t> padding_idx_;
};

}  // namespace tessera::nn
