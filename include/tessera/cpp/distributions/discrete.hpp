// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distributions over a few outcomes.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tessera/cpp/distributions/distribution.hpp"

namespace tessera::distributions {

// 1 with the probability `probs`, else 0. `logits` are log-odds. Both are computed at construction,
// with the gradient mode of that time.
class Bernoulli : public Distribution {
 public:
  Tensor probs, logits;

  explicit Bernoulli(const Value& given) : probs(detail::broadcast<1>({given})[0]) {
    detail::expect_unit("Bernoulli: probs", probs);
    const Tensor inside = detail::clamp_probs(probs);
    logits = log(inside) - log1p(-inside);
  }
  // From log-odds.
  static Bernoulli of_logits(const Value& given) {
    Bernoulli made;
    made.logits = detail::broadcast<1>({given})[0];
    detail::expect_real("Bernoulli: logits", made.logits);
    made.probs = sigmoid(made.logits);
    return made;
  }

  std::vector<int64_t> batch_shape() const override { return probs.shape(); }
  Tensor mean() const override { return probs; }
  Tensor variance() const override { return probs * (1 - probs); }
  Tensor sample(const IntList& shape = {}) const override {
    const NoGradGuard no_grad;
    return bernoulli(broadcast_to(probs, extended(shape)));
  }
  Tensor rsample(const IntList& /*shape*/ = {}) const override {
    throw detail::no_rsample("Bernoulli");
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect("Bernoulli: value", "0 or 1", logical_or(value == 0, value == 1));
    return value * logits - softplus(logits);
  }
  Tensor entropy() const override { return softplus(logits) - probs * logits; }
  Tensor kl_divergence(const Bernoulli& q) const {
    return relative(probs, q.probs) + relative(1 - probs, 1 - q.probs);
  }

 private:
  Bernoulli() = default;

  // p log(p / q), 0 where p is 0 and infinite where only q is.
  static Tensor relative(const Tensor& p, const Tensor& q) {
    return where(logical_and(q == 0, p > 0), detail::kInfinity, xlogy(p, p) - xlogy(p, q));
  }
};

// The number of one outcome of several, from 0: those of the last axis of the parameters. `logits`
// are logarithms of `probs`. Both are computed at construction, with the gradient mode of that
// time.
class Categorical : public Distribution {
 public:
  Tensor probs, logits;

  // From weights of at least 0, which are divided by their sum.
  explicit Categorical(const Tensor& weights) {
    expect_outcomes(weights);
    const Tensor total = weights.sum(-1, true);
    detail::expect("Categorical: probs", "weights of at least 0 with a finite sum above 0",
                   logical_and(weights >= 0, logical_and(total > 0, isfinite(total))));
    probs = weights / total;
    logits = log(detail::clamp_probs(probs));
  }
  // From logarithms of weights.
  static Categorical of_logits(const Tensor& given) {
    expect_outcomes(given);
    detail::expect_real("Categorical: logits", given);
    Categorical made;
    made.logits = given - logsumexp(given, -1, true);
    made.probs = softmax(made.logits, -1);
    return made;
  }

  std::vector<int64_t> batch_shape() const override { return detail::without_last(probs.shape()); }
  // NaN: the numbers are names of outcomes.
  Tensor mean() const override {
    return full(batch_shape(), std::numeric_limits<double>::quiet_NaN(), probs.dtype(),
                probs.device());
  }
  Tensor variance() const override { return mean(); }
  Tensor sample(const IntList& shape = {}) const override {
    const NoGradGuard no_grad;
    const std::vector<int64_t> found = extended(shape);
    const int64_t draws =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    for (const int64_t size : found) {
      if (size == 0) return empty(found, kInt64, probs.device());
    }
    return matrix_transpose(multinomial(probs.reshape({-1, probs.size(-1)}), draws, true))
        .reshape(found);
  }
  Tensor rsample(const IntList& /*shape*/ = {}) const override {
    throw detail::no_rsample("Categorical");
  }
  Tensor log_prob(const Tensor& value) const override {
    const int64_t count = probs.size(-1);
    const Tensor index = value.astype(kInt64);
    detail::expect("Categorical: value", "whole numbers from 0 to " + std::to_string(count - 1),
                   logical_and(logical_and(index >= 0, index < count), index == value));
    const std::vector<Tensor> both =
        broadcast_tensors({index.expand_dims(-1), logits.narrow(-1, 0, 1)});
    std::vector<int64_t> shape = both[0].shape();
    shape.back() = count;
    return broadcast_to(logits, shape).gather(-1, both[0]).squeeze(-1);
  }
  Tensor entropy() const override {
    // An outcome of probability 0 adds nothing, whatever its logarithm.
    return -(probs * clip(logits, -detail::limits(logits).max)).sum(-1);
  }
  Tensor kl_divergence(const Categorical& q) const {
    const Tensor terms =
        where(logical_and(q.probs == 0, probs > 0), detail::kInfinity, probs * (logits - q.logits));
    return where(probs == 0, 0.0, terms).sum(-1);
  }

 private:
  Categorical() = default;

  static void expect_outcomes(const Tensor& weights) {
    if (weights.ndim() > 0 && weights.size(-1) > 0) return;
    throw ShapeError(
        "Categorical: expected weights with at least one axis and one outcome, got shape " +
        tessera::detail::text_of(weights.shape()));
  }
};

}  // namespace tessera::distributions
