// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation over the batch, samples, groups of channels, rows and neighbouring channels;
// defaults are the same as in the Python package. LayerNorm is in layers.hpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tessera/cpp/nn/layers.hpp"

namespace tessera::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // absent: the mean of all batches so far
  bool affine = true;
  bool track_running_stats = true;
  std::optional<DType> dtype = std::nullopt;
};

struct InstanceNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
  std::optional<DType> dtype = std::nullopt;
};

namespace detail {

// A weight and a bias per channel, and running statistics, which never have a 16-bit dtype.
class ChannelNorm : public Module {
 public:
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  ChannelNorm(int64_t num_features, bool affine, bool track, std::optional<DType> dtype) {
    if (affine) {
      weight = ones({num_features}, dtype);
      bias = zeros({num_features}, dtype);
    }
    if (track) {
      const bool half = dtype == kFloat16 || dtype == kBFloat16;
      const std::optional<DType> wide = half ? kFloat32 : dtype;
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
};

// Normalises over the batch, or in eval mode with the running statistics.
inline Tensor batch_normed(ChannelNorm& layer, const BatchNormOptions& options,
                           const Tensor& input) {
  double momentum = options.momentum.value_or(0);
  if (layer.is_training() && layer.num_batches_tracked.defined()) {
    layer.num_batches_tracked += 1;
    if (!options.momentum) momentum = 1.0 / layer.num_batches_tracked.item<double>();
  }
  const bool by_batch = layer.is_training() || !layer.running_mean.defined();
  return batch_norm(input, layer.running_mean, layer.running_var, layer.weight, layer.bias,
                    by_batch, momentum, options.eps);
}

// Normalises each channel over the batch, in eval mode with the running statistics. kAxes: the
// spatial axes; 1 also means none.
template <int kAxes>
class BatchNorm : public ChannelNorm {
 public:
  explicit BatchNorm(int64_t num_features, const BatchNormOptions& given = {})
      : ChannelNorm(num_features, given.affine, given.track_running_stats, given.dtype),
        options_(given) {}

  Tensor forward(const Tensor& input) override {
    if (input.ndim() != kAxes + 2 && (kAxes != 1 || input.ndim() != 2)) {
      throw ShapeError("BatchNorm" + std::to_string(kAxes) + "d: expected " +
                       std::to_string(kAxes + 2) + (kAxes == 1 ? " or 2" : "") +
                       " axes (N, C, ...)");
    }
    return batch_normed(*this, options_, input);
  }

 private:
  BatchNormOptions options_;
};

// Normalises each channel of each sample; an input may lack the batch.
template <int kAxes>
class InstanceNorm : public ChannelNorm {
 public:
  explicit InstanceNorm(int64_t num_features, const InstanceNormOptions& given = {})
      : ChannelNorm(num_features, given.affine, given.track_running_stats, given.dtype),
        options_(given) {}

  Tensor forward(const Tensor& input) override {
    if (input.ndim() != kAxes + 1 && input.ndim() != kAxes + 2) {
      throw ShapeError("InstanceNorm" + std::to_string(kAxes) + "d: expected " +
                       std::to_string(kAxes + 2) + " axes (N, C, ...) or one less");
    }
    const bool batched = input.ndim() == kAxes + 2;
    const bool own = is_training() || !running_mean.defined();
    const Tensor result =
        instance_norm(batched ? input : input.expand_dims(0), running_mean, running_var, weight,
                      bias, own, options_.momentum, options_.eps);
    return batched ? result : result.select(0, 0);
  }

 private:
  InstanceNormOptions options_;
};

}  // namespace detail

using BatchNorm1d = detail::BatchNorm<1>;
using BatchNorm2d = detail::BatchNorm<2>;
using BatchNorm3d = detail::BatchNorm<3>;
using InstanceNorm1d = detail::InstanceNorm<1>;
using InstanceNorm2d = detail::InstanceNorm<2>;
using InstanceNorm3d = detail::InstanceNorm<3>;

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
  std::optional<DType> dtype = std::nullopt;
};

// Normalises groups of neighbouring channels of each sample of (N, C, ...).
class GroupNorm : public Module {
 public:
  Tensor weight, bias;

  GroupNorm(int64_t num_groups, int64_t num_channels, const GroupNormOptions& given = {})
      : num_groups_(num_groups), eps_(given.eps) {
    if (num_groups < 1 || num_channels % num_groups != 0) {
      tessera::detail::throw_value("GroupNorm", "num_groups",
                                   "a divisor of " + std::to_string(num_channels) + " channels",
                                   std::to_string(num_groups));
    }
    if (given.affine) {
      weight = ones({num_channels}, given.dtype);
      bias = zeros({num_channels}, given.dtype);
    }
    register_parameter("weight", weight);
    register_parameter("bias", bias);
  }

  Tensor forward(const Tensor& input) override {
    return group_norm(input, num_groups_, weight, bias, eps_);
  }

 private:
  int64_t num_groups_;
  double eps_;
};

struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  // absent: the machine epsilon of the input's dtype
  bool elementwise_affine = true;
  std::optional<DType> dtype = std::nullopt;
};

// Divides by the root of the mean square over the last axes, whose sizes are given.
class RMSNorm : public Module {
 public:
  Tensor weight;

  // A separate overload, because {8} could be an IntList or an RMSNorm to copy.
  explicit RMSNorm(std::initializer_list<int64_t> normalized_shape,
                   const RMSNormOptions& given = {})
      : RMSNorm(IntList(normalized_shape), given) {}
  explicit RMSNorm(const IntList& normalized_shape, const RMSNormOptions& given = {})
      : shape_(normalized_shape.to_vector()), eps_(given.eps) {
    if (given.elementwise_affine) weight = ones(shape_, given.dtype);
    register_parameter("weight", weight);
  }

  Tensor forward(const Tensor& input) override { return rms_norm(input, shape_, weight, eps_); }

 private:
  std::vector<int64_t> shape_;
  std::optional<double> eps_;
};

// Divides by a power of the mean square over neighbouring channels.
struct LocalResponseNorm : Module {
  explicit LocalResponseNorm(int64_t channels, double factor = 1e-4, double power = 0.75,
                             double start = 1)
      : size(channels), alpha(factor), beta(power), k(start) {}
  Tensor forward(const Tensor& input) override {
    return local_response_norm(input, size, alpha, beta, k);
  }

  const int64_t size;
  const double alpha, beta, k;
};

}  // namespace tessera::nn
