// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the engine makes of gradients that do not look like their inputs (E20).
#include "autograd/validate.h"

#include "toy_ops.h"

namespace tsr::test_validate {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::message_of;
using toy::Values;

using Validate = toy::GraphTest;

// y = x, whose node returns `given` as the gradient.
Tensor returning(const Tensor& x, const Tensor& given) {
  Tensor y = make({}, {1});
  record(y, "GivenBackward", {x}, {save_input(given)},
         [](Backward& ctx) { ctx.set(0, ctx.saved(0)); });
  return y;
}

TEST_F(Validate, E20_gradient_of_a_shape_that_expands_is_summed) {
  for (const auto& [given, wanted] : {std::pair{make({2, 3}, {1, 2, 3, 4, 5, 6}), Values{5, 7, 9}},
                                      {make({1, 3}, {1, 2, 3}), Values{1, 2, 3}},
                                      {make({2, 2, 3}, Values(12, 1)), Values{4, 4, 4}}}) {
    const Tensor x = leaf({3}, {0, 0, 0});
    backward(std::array{returning(x, given)});
    EXPECT_EQ(grad_values(x), wanted);
    EXPECT_EQ(grad_of(x).sizes(), x.sizes());
  }
  const Tensor kept = leaf({1, 3}, {0, 0, 0});
  backward(std::array{returning(kept, make({2, 3}, {1, 2, 3, 4, 5, 6}))});
  EXPECT_EQ(grad_values(kept), (Values{5, 7, 9}));
  EXPECT_EQ(grad_of(kept).sizes(), kept.sizes());
  const Tensor number = leaf({}, {0});
  backward(std::array{returning(number, make({2, 2}, {1, 2, 3, 4}))});
  EXPECT_EQ(grad_values(number), (Values{10}));
}

TEST_F(Validate, E20_gradient_of_a_shape_that_does_not_expand_is_refused) {
  for (const Tensor& given : {make({5}, Values(5, 1)), make({3, 2}, Values(6, 1)), make({}, {1})}) {
    const Tensor x = leaf({3}, {0, 0, 0});
    const std::string text = message_of([&] { backward(std::array{returning(x, given)}); });
    EXPECT_EQ(text, concat("GivenBackward returned an invalid gradient at index 0 - got ",
                           given.sizes(), " but expected shape compatible with [3]"));
    EXPECT_FALSE(grad_of(x).defined());
  }
}

TEST_F(Validate, E20_gradient_is_cast_to_the_dtype_of_its_input) {
  const Tensor x = leaf({2}, {0, 0}, DType::kFloat32);
  backward(std::array{returning(x, make({2}, {0.1, 2}))});
  EXPECT_EQ(grad_of(x).dtype(), DType::kFloat32);
  EXPECT_EQ(grad_values(x), (Values{static_cast<float>(0.1), 2}));
}

TEST_F(Validate, E20_summed_and_cast_gradient_is_differentiable) {
  const Tensor x = leaf({2}, {2, 3}, DType::kFloat32);
  const Tensor wide = toy::expand(toy::cast(x, DType::kFloat64), std::array<int64_t, 2>{3, 2});
  const Tensor y = toy::sum(toy::mul(toy::mul(wide, wide), wide));
  const Tensor first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(toy::values(first), (Values{36, 81}));
  backward(std::array{toy::sum(first)});
  EXPECT_EQ(grad_values(x), (Values{36, 54}));
}

}  // namespace
}  // namespace tsr::test_validate
