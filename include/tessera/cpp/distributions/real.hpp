// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distributions of real numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/cpp/distributions/distribution.hpp"

namespace tessera::distributions {

// Density exp(-z^2 / 2) / (scale sqrt(2 pi)) with z = (x - loc) / scale.
class Normal : public Distribution {
 public:
  Tensor loc, scale;

  Normal(const Value& mean, const Value& deviation) {
    auto [first, second] = detail::broadcast<2>({mean, deviation});
    loc = first;
    scale = second;
    detail::expect_real("Normal: loc", loc);
    detail::expect_positive("Normal: scale", scale);
  }

  std::vector<int64_t> batch_shape() const override { return loc.shape(); }
  Tensor mean() const override { return loc; }
  Tensor variance() const override { return square(scale); }
  Tensor rsample(const IntList& shape = {}) const override {
    return loc + scale * randn(extended(shape), loc.dtype(), loc.device());
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect_real("Normal: value", value);
    return -0.5 * square((value - loc) / scale) - log(scale) - 0.5 * detail::kLogTwoPi;
  }
  Tensor entropy() const override { return log(scale) + (0.5 + 0.5 * detail::kLogTwoPi); }
  Tensor kl_divergence(const Normal& q) const {
    const Tensor ratio = square(scale / q.scale);
    return 0.5 * (ratio + square((loc - q.loc) / q.scale) - 1 - log(ratio));
  }
};

// All numbers from low to below high are equally likely.
class Uniform : public Distribution {
 public:
  Tensor low, high;

  Uniform(const Value& least, const Value& end) {
    auto [first, second] = detail::broadcast<2>({least, end});
    low = first;
    high = second;
    detail::expect("Uniform: high", "numbers above low", low < high);
  }

  std::vector<int64_t> batch_shape() const override { return low.shape(); }
  Tensor mean() const override { return (high + low) / 2; }
  Tensor variance() const override { return square(high - low) / 12; }
  Tensor rsample(const IntList& shape = {}) const override {
    Tensor drawn = empty(extended(shape), low.dtype(), low.device());
    drawn.uniform_();
    return low + drawn * (high - low);
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect("Uniform: value", "numbers from low to high",
                   logical_and(value >= low, value <= high));
    return where(value < high, -log(high - low), -detail::kInfinity);
  }
  Tensor entropy() const override { return log(high - low); }
  // Infinite where the other distribution excludes some values.
  Tensor kl_divergence(const Uniform& q) const {
    const Tensor inside = logical_and(q.low <= low, q.high >= high);
    return where(inside, log((q.high - q.low) / (high - low)), detail::kInfinity);
  }
};

// Density rate exp(-rate x) for x >= 0.
class Exponential : public Distribution {
 public:
  Tensor rate;

  explicit Exponential(const Value& given) : rate(detail::broadcast<1>({given})[0]) {
    detail::expect_positive("Exponential: rate", rate);
  }

  std::vector<int64_t> batch_shape() const override { return rate.shape(); }
  Tensor mean() const override { return reciprocal(rate); }
  Tensor variance() const override { return pow(rate, -2); }
  Tensor rsample(const IntList& shape = {}) const override {
    Tensor drawn = empty(extended(shape), rate.dtype(), rate.device());
    drawn.exponential_();
    return drawn / rate;
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect("Exponential: value", "numbers of at least 0", value >= 0);
    return log(rate) - rate * value;
  }
  Tensor entropy() const override { return 1 - log(rate); }
  Tensor kl_divergence(const Exponential& q) const {
    const Tensor ratio = q.rate / rate;
    return ratio - 1 - log(ratio);
  }
};

}  // namespace tessera::distributions
