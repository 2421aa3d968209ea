// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The normal distribution of vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/cpp/distributions/distribution.hpp"

namespace tessera::distributions {

// Normal vectors with a covariance matrix, which is scale_tril times its transpose.
class MultivariateNormal : public Distribution {
 public:
  Tensor loc, scale_tril;

  // With means of shape (..., n) and positive definite matrices of shape (..., n, n).
  MultivariateNormal(const Tensor& means, const Tensor& covariance)
      : MultivariateNormal(of_scale_tril(means, factor(means, covariance))) {}
  // With the lower triangular factor of the covariance, whose diagonal is above 0.
  static MultivariateNormal of_scale_tril(const Tensor& means, const Tensor& matrix) {
    check_shapes(means, matrix);
    detail::expect_real("MultivariateNormal: loc", means);
    detail::expect("MultivariateNormal: scale_tril", "a lower triangular matrix",
                   matrix == tril(matrix));
    detail::expect("MultivariateNormal: scale_tril", "a diagonal above 0",
                   diagonal(matrix, 0, -2, -1) > 0);
    std::vector<int64_t> shape =
        broadcast_tensors({means.select(-1, 0), matrix.select(-1, 0).select(-1, 0)})[0].shape();
    MultivariateNormal made;
    shape.push_back(means.size(-1));
    made.loc = broadcast_to(means, shape);
    shape.push_back(means.size(-1));
    made.scale_tril = broadcast_to(matrix, shape);
    return made;
  }

  std::vector<int64_t> batch_shape() const override { return detail::without_last(loc.shape()); }
  std::vector<int64_t> event_shape() const override { return {loc.size(-1)}; }
  Tensor mean() const override { return loc; }
  Tensor variance() const override { return square(scale_tril).sum(-1); }
  Tensor rsample(const IntList& shape = {}) const override {
    const Tensor drawn = randn(extended(shape), loc.dtype(), loc.device());
    return loc + matmul(scale_tril, drawn.expand_dims(-1)).squeeze(-1);
  }
  Tensor log_prob(const Tensor& value) const override {
    detail::expect_event("MultivariateNormal", value, event_shape());
    detail::expect_real("MultivariateNormal: value", value);
    return -0.5 * distance(value - loc) - half_log_det() - 0.5 * size() * detail::kLogTwoPi;
  }
  Tensor entropy() const override {
    return half_log_det() + 0.5 * size() * (1 + detail::kLogTwoPi);
  }
  Tensor kl_divergence(const MultivariateNormal& q) const {
    if (q.loc.size(-1) != loc.size(-1)) {
      throw ShapeError("kl_divergence: expected vectors of one length, got " +
                       std::to_string(loc.size(-1)) + " and " + std::to_string(q.loc.size(-1)));
    }
    const std::vector<Tensor> both = broadcast_tensors({scale_tril, q.scale_tril});
    const Tensor trace = square(solve_triangular(both[1], both[0], false)).sum({-2, -1});
    const Tensor halves = q.half_log_det() - half_log_det();
    return halves + 0.5 * (trace + q.distance(q.loc - loc) - size());
  }

 private:
  MultivariateNormal() = default;

  double size() const { return static_cast<double>(loc.size(-1)); }
  static Tensor factor(const Tensor& means, const Tensor& covariance) {
    check_shapes(means, covariance);
    const Tensor matrix = covariance.detach();
    detail::expect("MultivariateNormal: covariance", "a symmetric matrix",
                   isclose(matrix, matrix_transpose(matrix), 1e-5, 1e-6));
    detail::expect("MultivariateNormal: covariance",
                   "a positive definite matrix (eigenvalues above 0)", eigvalsh(matrix) > 0);
    return cholesky(covariance);
  }
  static void check_shapes(const Tensor& means, const Tensor& matrix) {
    if (means.ndim() >= 1 && matrix.ndim() >= 2 && means.size(-1) > 0 &&
        matrix.size(-1) == means.size(-1) && matrix.size(-2) == means.size(-1)) {
      return;
    }
    throw ShapeError(
        "MultivariateNormal: expected a vector loc and a square matrix of its length, got shapes " +
        tessera::detail::text_of(means.shape()) + " and " +
        tessera::detail::text_of(matrix.shape()));
  }
  // The logarithm of the determinant of scale_tril.
  Tensor half_log_det() const { return log(diagonal(scale_tril, 0, -2, -1)).sum(-1); }
  // The squared length of L^-1 d for vectors d, with L = scale_tril.
  Tensor distance(const Tensor& difference) const {
    std::vector<int64_t> shape =
        broadcast_tensors({scale_tril.select(-1, 0), difference})[0].shape();
    const Tensor column = broadcast_to(difference, shape).expand_dims(-1);
    shape.push_back(loc.size(-1));
    return square(solve_triangular(broadcast_to(scale_tril, shape), column, false)).sum({-2, -1});
  }
};

}  // namespace tessera::distributions
