// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode and the derivatives of functions that are made of it.
#include "support.hpp"

namespace test_forward_ad {

using namespace tessera;
using namespace tessera::test;

namespace {

Tensor numbers_of(std::initializer_list<double> values) {
  return tensor(values, kFloat64);
}

TEST(ForwardAd, A18_tangent_beside_the_value) {
  Tensor y;
  {
    const DualLevel level;
    const Tensor x = make_dual(numbers_of({1, 2}), numbers_of({1, 10}));
    const UnpackedDual parts = unpack_dual(x * x, level.number());
    expect_near(parts.primal, {1, 4});
    expect_near(parts.tangent, {2, 40});
    EXPECT_FALSE(unpack_dual(parts.primal).tangent.defined());
    y = x.exp();
  }
  EXPECT_THROW(unpack_dual(y), AutogradError);
  EXPECT_THROW(make_dual(y, y), AutogradError);
}

TEST(ForwardAd, A18_jvp_and_vjp) {
  const auto f = [](const Tensor& x) { return x * x.sum(); };
  const auto pushed = jvp(f, numbers_of({1, 2}), numbers_of({1, 0}));
  expect_near(pushed.first, {3, 6});
  expect_near(pushed.second, {4, 2});
  const auto pulled = vjp(f, numbers_of({1, 2}), numbers_of({1, 0}));
  expect_near(pulled.first, {3, 6});
  expect_near(pulled.second, {4, 1});
  EXPECT_FALSE(pulled.second.requires_grad());
}

TEST(ForwardAd, A18_jacobian_and_hessian) {
  const auto f = [](const Tensor& x) { return x * x.sum(); };
  const Tensor j = jacobian(f, numbers_of({1, 2}));
  EXPECT_EQ(j.shape(), (Shape{2, 2}));
  expect_near(j, {4, 1, 2, 5});
  const auto g = [](const Tensor& x) { return (x * x * x).sum(); };
  expect_near(hessian(g, numbers_of({1, 2})), {6, 0, 0, 12});
  const Tensor matrix = numbers_of({1, 2, 3, 4}).reshape({2, 2});
  EXPECT_EQ(hessian(g, matrix).shape(), (Shape{2, 2, 2, 2}));
  expect_near(jacrev(f, numbers_of({1, 2})), {4, 1, 2, 5});
  EXPECT_EQ(jacrev(g, matrix).shape(), (Shape{2, 2}));
}

TEST(ForwardAd, A18_rows_of_a_batched_backward) {
  Tensor x = numbers_of({1, 2});
  x.requires_grad_();
  BackwardOptions options;
  options.batched = true;
  const Tensor rows = numbers_of({1, 0, 0, 1, 1, 1}).reshape({3, 2});
  const Tensor found = grad(x * x, x, rows, options).front();
  EXPECT_EQ(found.shape(), (Shape{3, 2}));
  expect_near(found, {2, 0, 0, 4, 2, 4});
  EXPECT_THROW(grad(x * x, x, numbers_of({1, 2}), options), ShapeError);
  expect_near(jacrev([](const Tensor& y) { return y.detach(); }, x), {0, 0, 0, 0});
}

TEST(ForwardAd, A18_nested_jvp_is_a_second_derivative) {
  const auto slope = [](const Tensor& x) {
    return jvp([](const Tensor& y) { return y * y * y; }, x, ones_like(x)).second;
  };
  expect_near(jvp(slope, numbers_of({2}), numbers_of({1})).second, {12});
}

struct Cube : Function<Cube> {
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    context.save_for_forward({x});
    return x * x * x;
  }
  static std::vector<Tensor> backward(FunctionContext& context, const std::vector<Tensor>& g) {
    const Tensor x = context.saved_tensors()[0];
    return {g[0] * x * x * 3};
  }
  static std::vector<Tensor> jvp(FunctionContext& context, const std::vector<Tensor>& t) {
    const Tensor& x = context.saved_for_forward()[0];
    return {t[0] * x * x * 3};
  }
};

// Of one tensor: its gradient and its tangent alone.
struct Twice : Function<Twice> {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& x) { return x * 2; }
  static Tensor backward(FunctionContext& /*context*/, const std::vector<Tensor>& g) {
    return g[0] * 2;
  }
  static Tensor jvp(FunctionContext& /*context*/, const std::vector<Tensor>& t) { return t[0] * 2; }
};

struct NoRule : Function<NoRule> {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& x) { return x * 2; }
  static std::vector<Tensor> backward(FunctionContext& /*context*/, const std::vector<Tensor>& g) {
    return {g[0] * 2};
  }
};

TEST(ForwardAd, A18_custom_function_has_a_jvp) {
  const auto cube = [](const Tensor& x) { return Cube::apply(x); };
  expect_near(jvp(cube, numbers_of({2}), numbers_of({1})).second, {12});
  expect_near(hessian([&](const Tensor& x) { return cube(x).sum(); }, numbers_of({2})), {12});
  const auto twice = [](const Tensor& x) { return Twice::apply(x); };
  expect_near(jvp(twice, numbers_of({2}), numbers_of({1})).second, {2});
  expect_near(vjp(twice, numbers_of({2}), numbers_of({1})).second, {2});
  const auto none = [](const Tensor& x) { return NoRule::apply(x); };
  EXPECT_THROW(jvp(none, numbers_of({2}), numbers_of({1})), AutogradError);
}

}  // namespace
}  // namespace test_forward_ad
