// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Roots of unity, correctly rounded but for a few in a thousand.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <vector>

namespace tsr::cpu {

// exp(-2πi j/n) for many j of one n. An angle is reduced to an octant in integers. For large n a
// root is the product of two roots, in more bits than T has, so that few sines are computed.
template <class T>
class Roots {
 public:
  explicit Roots(int64_t n) : n_(n) {
    while (step_ * step_ < n) step_ *= 2;
    for (int64_t j = 0; j < step_; ++j) fine_.push_back(root(j));
    for (int64_t j = 0; j < n; j += step_) coarse_.push_back(root(j));
  }

  // 0 <= j < n
  [[nodiscard]] std::complex<T> operator()(int64_t j) const {
    const Number a = coarse_[static_cast<size_t>(j / step_)];
    const Number b = fine_[static_cast<size_t>(j % step_)];
    return {static_cast<T>(a.real() * b.real() - a.imag() * b.imag()),
            static_cast<T>(a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  using Number = std::complex<Wide>;

  // `x` counts eighths of 1/n of a turn.
  [[nodiscard]] Number root(int64_t j) const {
    int64_t x = 8 * j;
    const bool below = x > 4 * n_;
    if (below) x = 8 * n_ - x;
    const bool left = x > 2 * n_;
    if (left) x = 4 * n_ - x;
    const bool steep = x > n_;
    if (steep) x = 2 * n_ - x;
    const Wide angle = std::numbers::pi_v<Wide> * static_cast<Wide>(x) / static_cast<Wide>(4 * n_);
    Wide cosine = std::cos(angle);
    Wide sine = std::sin(angle);
    if (steep) std::swap(cosine, sine);
    return {left ? -cosine : cosine, below ? sine : -sine};
  }

  int64_t n_;
  int64_t step_ = 1;
  std::vector<Number> fine_, coarse_;
};

}  // namespace tsr::cpu
