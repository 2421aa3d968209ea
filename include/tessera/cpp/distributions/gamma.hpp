// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distributions made of gamma numbers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/cpp/distributions/distribution.hpp"

namespace tessera::distributions {

// Density rate^a x^(a - 1) exp(-rate x) / gamma(a) with the concentration a.
class Gamma : public Distribution {
 public:
  Tensor concentration, rate;

  Gamma(const Value& shape, const Value& inverse_width) {
    auto [first, second] = detail::broadcast<2>({shape, inverse_width});
    concentration = first;
    rate = second;
    detail::expect_positive("Gamma: concentration", concentration);
    detail::expect_positive("Gamma: rate", rate);
  }

  std::vector<int64_t> batch_shape() const override { return rate.shape(); }
  Tensor mean() const override { return concentration / rate; }
  Tensor variance() const override { return concentration / square(rate); }
  Tensor rsample(const IntList& shape = {}) const override {
    const Tensor drawn = detail::gamma_numbers(concentration, extended(shape)) / rate;
    return clip(drawn, detail::limits(drawn).tiny);
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect("Gamma: value", "numbers of at least 0", value >= 0);
    const Tensor factor = xlogy(concentration, rate) - lgamma(concentration);
    return factor + xlogy(concentration - 1, value) - rate * value;
  }
  Tensor entropy() const override {
    const Tensor& a = concentration;
    return a - log(rate) + lgamma(a) + (1 - a) * digamma(a);
  }
  Tensor kl_divergence(const Gamma& q) const {
    const Tensor& a = concentration;
    const Tensor& b = q.concentration;
    return b * log(rate / q.rate) + lgamma(b) - lgamma(a) + (a - b) * digamma(a) +
           (q.rate - rate) * (a / rate);
  }
};

// Shares that add up to 1, along the last axis: gamma numbers divided by their sum.
class Dirichlet : public Distribution {
 public:
  Tensor concentration;

  explicit Dirichlet(const Tensor& shapes) : concentration(shapes) {
    detail::expect_axes("Dirichlet", concentration);
    detail::expect_positive("Dirichlet: concentration", concentration);
  }

  std::vector<int64_t> batch_shape() const override {
    return detail::without_last(concentration.shape());
  }
  std::vector<int64_t> event_shape() const override { return {concentration.size(-1)}; }
  Tensor mean() const override { return concentration / total(); }
  Tensor variance() const override {
    const Tensor sum = total();
    return concentration * (sum - concentration) / (square(sum) * (sum + 1));
  }
  Tensor rsample(const IntList& shape = {}) const override {
    const Tensor drawn = detail::gamma_numbers(concentration, extended(shape));
    return drawn / drawn.sum(-1, true);
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect_event("Dirichlet", value, event_shape());
    detail::expect("Dirichlet: value", "shares that add up to 1",
                   logical_and(value >= 0, abs(value.sum(-1, true) - 1) < 1e-6));
    return xlogy(concentration - 1, value).sum(-1) - log_beta();
  }
  Tensor entropy() const override {
    return log_beta() - ((concentration - 1) * mean_logs()).sum(-1);
  }
  Tensor kl_divergence(const Dirichlet& q) const {
    return q.log_beta() - log_beta() + ((concentration - q.concentration) * mean_logs()).sum(-1);
  }

  // The logarithm of the beta function of several variables, the factor of the density.
  Tensor log_beta() const { return lgamma(concentration).sum(-1) - lgamma(concentration.sum(-1)); }

 private:
  Tensor total() const { return concentration.sum(-1, true); }
  // The means of the logarithms of the shares.
  Tensor mean_logs() const { return digamma(concentration) - digamma(total()); }
};

// Density x^(a - 1) (1 - x)^(b - 1) / B(a, b): the first share of a Dirichlet distribution of two.
class Beta : public Distribution {
 public:
  Tensor concentration1, concentration0;  // a and b

  Beta(const Value& a, const Value& b) : Beta(checked(detail::broadcast<2>({a, b}))) {}

  std::vector<int64_t> batch_shape() const override { return concentration1.shape(); }
  Tensor mean() const override { return both_.mean().select(-1, 0); }
  Tensor variance() const override { return both_.variance().select(-1, 0); }
  Tensor rsample(const IntList& shape = {}) const override {
    return detail::clamp_probs(both_.rsample(shape).select(-1, 0));
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect_unit("Beta: value", value);
    return xlogy(concentration1 - 1, value) + xlog1py(concentration0 - 1, -value) -
           both_.log_beta();
  }
  Tensor entropy() const override { return both_.entropy(); }
  Tensor kl_divergence(const Beta& q) const { return both_.kl_divergence(q.both_); }

 private:
  explicit Beta(const std::array<Tensor, 2>& given)
      : concentration1(given[0]),
        concentration0(given[1]),
        both_(stack({given[0], given[1]}, -1)) {}

  // Checked before they are part of a Dirichlet distribution, whose errors have other names.
  static std::array<Tensor, 2> checked(std::array<Tensor, 2> given) {
    detail::expect_positive("Beta: concentration1", given[0]);
    detail::expect_positive("Beta: concentration0", given[1]);
    return given;
  }

  Dirichlet both_;
};

}  // namespace tessera::distributions
