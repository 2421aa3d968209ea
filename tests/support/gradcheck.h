// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// gradcheck and gradgradcheck: compare derivatives with central differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "tensor/tensor.h"

namespace tsr::testing {

struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};

// A differentiable function: any callable on the list of inputs that returns one tensor or several.
class Differentiable {
 public:
  template <class Fn>
  requires std::is_invocable_v<Fn, std::span<const Tensor>> Differentiable(Fn fn) {
    if constexpr (std::is_same_v<std::invoke_result_t<Fn, std::span<const Tensor>>, Tensor>) {
      call_ = [fn](std::span<const Tensor> inputs) { return std::vector<Tensor>{fn(inputs)}; };
    } else {
      call_ = std::move(fn);
    }
  }
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const { return call_(inputs); }

 private:
  std::function<std::vector<Tensor>(std::span<const Tensor>)> call_;
};

// EXPECT_TRUE(gradcheck([](std::span<const Tensor> x) { return ops::multiply(x[0], x[1]); }, {a,
// b}));
//
// Compares every entry of the Jacobian that backward computes with a central difference, for the
// inputs that require grad. These must be float64 or complex128 leaves without overlapping
// elements, of any strides. For complex numbers the gradient is dL/dRe + i dL/dIm. Also fails if a
// second backward gives another result, or if a gradient has another shape or dtype. Skips outputs
// that do not require grad. Starts the op layer.
::testing::AssertionResult gradcheck(const Differentiable& fn, const std::vector<Tensor>& inputs,
                                     GradcheckOptions options = {});

// The same for the gradients of fn, as a function of its inputs and of the upstream gradient.
::testing::AssertionResult gradgradcheck(const Differentiable& fn,
                                         const std::vector<Tensor>& inputs,
                                         GradcheckOptions options = {});

// A leaf that requires grad, with pseudorandom values in [low, high) that depend on the seed only.
Tensor random_leaf(DimsView sizes, uint32_t seed, double low = -1, double high = 1,
                   DType dtype = DType::kFloat64);

}  // namespace tsr::testing
