// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Batch normalisation over the batches of all ranks of a group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/cpp/collectives.hpp"
#include "tessera/cpp/create.hpp"
#include "tessera/cpp/nn/norm.hpp"

namespace tessera::nn {

// Normalises each channel of (N, C, ...) over the batches of all ranks, as one process with the
// whole batch would. Ranks may have batches of different sizes. All of them call it together, and
// their backward passes too. In eval mode it is a batch normalisation of its own process.
class SyncBatchNorm : public detail::ChannelNorm {
 public:
  SyncBatchNorm(int64_t num_features, const distributed::Group& group,
                const BatchNormOptions& given = {})
      : ChannelNorm(num_features, given.affine, given.track_running_stats, given.dtype),
        options_(given),
        features_(num_features),
        group_(group) {}

  Tensor forward(const Tensor& input) override {
    if (input.ndim() < 2 || input.size(1) != features_) {
      throw ShapeError("SyncBatchNorm: expected (N, " + std::to_string(features_) +
                       ", ...), got shape " + tessera::detail::text_of(input.shape()));
    }
    if (is_training() && group_.size() > 1) return over_ranks(input);
    return detail::batch_normed(*this, options_, input);
  }

 private:
  Tensor over_ranks(const Tensor& input) {
    using distributed::functional::all_reduce;
    const bool half = input.dtype() == kFloat16 || input.dtype() == kBFloat16;
    const Tensor x = half ? input.astype(kFloat32) : input;
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < x.ndim(); ++axis) {
      if (axis != 1) axes.push_back(axis);
    }
    std::vector<int64_t> shape(static_cast<size_t>(x.ndim()), 1);
    shape[1] = features_;
    // Two reductions instead of one of sums and squares, whose difference would lose the digits of
    // a small variance.
    const Tensor own = full({1}, features_ == 0 ? 0 : x.numel() / features_, x.dtype(), x.device());
    const Tensor sums = all_reduce(group_, concat({x.sum(axes), own}));
    const Tensor count = sums.select(0, -1).detach();
    if (const auto values = count.item<double>(); values <= 1) {
      throw InvalidValueError("SyncBatchNorm: expected more than 1 value for each channel, got " +
                              std::to_string(static_cast<int64_t>(values)));
    }
    const Tensor mean = sums.narrow(0, 0, features_) / count;
    const Tensor apart = x - mean.reshape(shape);
    const Tensor var = all_reduce(group_, square(apart).sum(axes)) / count;
    track(mean, var, count);
    Tensor result = apart * rsqrt(var + options_.eps).reshape(shape);
    if (weight.defined()) result = result * weight.reshape(shape) + bias.reshape(shape);
    return result.astype(input.dtype());
  }

  // Moves the running statistics towards those of this batch.
  void track(const Tensor& mean, const Tensor& var, const Tensor& count) {
    if (!running_mean.defined()) return;
    const NoGradGuard no_grad;
    num_batches_tracked += 1;
    // Only the mean of all batches has to wait for their number.
    const double share =
        options_.momentum ? *options_.momentum : 1.0 / num_batches_tracked.item<double>();
    running_mean.lerp_(mean.astype(running_mean.dtype()), share);
    running_var.lerp_((var * (count / (count - 1))).astype(running_var.dtype()), share);
  }

  BatchNormOptions options_;
  int64_t features_;
  distributed::Group group_;
};

}  // namespace tessera::nn
