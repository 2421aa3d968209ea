// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Compares the derivative of a layer with central differences.
#pragma once

#include "support.hpp"

namespace tessera::test {

// The derivative of sum(f(x) * weight) by central differences, element by element.
inline void expect_gradient(nn::Module& module, Tensor x) {
  x = x.clone().requires_grad_();
  const Tensor y = module.forward(x);
  const Tensor weight = rand(y.shape(), kFloat64, {}, Generator(5));
  (y * weight).sum().backward();
  Numbers wanted;
  const NoGradGuard no_grad;
  Tensor flat = x.detach().reshape({-1});
  for (int64_t i = 0; i < flat.numel(); ++i) {
    constexpr double kStep = 1e-6;
    flat.index({i}) += kStep;
    const double above = (module.forward(x.detach()) * weight).sum().item<double>();
    flat.index({i}) -= 2 * kStep;
    const double below = (module.forward(x.detach()) * weight).sum().item<double>();
    flat.index({i}) += kStep;
    wanted.push_back((above - below) / (2 * kStep));
  }
  expect_near(x.grad(), wanted, 1e-6);
}

}  // namespace tessera::test
