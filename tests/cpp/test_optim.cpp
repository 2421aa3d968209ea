// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers, compared with their formulas written out.
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "support.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

// Gradients that differ from step to step, without randomness.
double gradient_at(int step) {
  return std::sin(1.0 + step) + 0.5;
}

template <class Optimizer>
double after_steps(Optimizer& optimizer, Tensor& x, int steps) {
  for (int step = 0; step < steps; ++step) {
    x.set_grad(tensor({gradient_at(step)}, kFloat64));
    optimizer.step();
  }
  return x.item<double>();
}

TEST(Optim, twenty_steps_match_the_formulas_sgd) {
  Tensor x = leaf({1});
  optim::SGDOptions options;
  options.learning_rate = 0.1;
  options.momentum = 0.9;
  options.weight_decay = 0.01;
  options.nesterov = true;
  optim::SGD sgd({x}, options);
  double value = 1;
  double buffer = 0;
  for (int step = 0; step < 20; ++step) {
    const double gradient = gradient_at(step) + 0.01 * value;
    buffer = step == 0 ? gradient : 0.9 * buffer + gradient;
    value -= 0.1 * (gradient + 0.9 * buffer);
  }
  EXPECT_NEAR(after_steps(sgd, x, 20), value, 1e-12);
}

// One parameter under Adam's rule.
double adam(double decay, bool decoupled, bool amsgrad) {
  double value = 1, average = 0, square = 0, largest = 0;
  for (int step = 0; step < 20; ++step) {
    double gradient = gradient_at(step);
    if (decoupled) {
      value *= 1 - 0.1 * decay;
    } else {
      gradient += decay * value;
    }
    average = 0.9 * average + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    largest = std::max(largest, square);
    const double first = 1 - std::pow(0.9, step + 1);
    const double second = 1 - std::pow(0.999, step + 1);
    const double spread = std::sqrt((amsgrad ? largest : square) / second) + 1e-8;
    value -= 0.1 * (average / first) / spread;
  }
  return value;
}

// In C++20 such a structure is written where it is needed: Adam(parameters, {.learning_rate =
// 0.1}).
static_assert(std::is_aggregate_v<optim::SGDOptions>);
static_assert(std::is_aggregate_v<optim::AdamOptions>);
static_assert(std::is_aggregate_v<optim::AdamWOptions>);
static_assert(std::is_aggregate_v<nn::ConvOptions>);
static_assert(std::is_aggregate_v<nn::BatchNormOptions>);
static_assert(std::is_aggregate_v<nn::LayerNormOptions>);
static_assert(std::is_aggregate_v<data::LoaderOptions>);
static_assert(std::is_aggregate_v<BackwardOptions>);

TEST(Optim, twenty_steps_match_the_formulas_adam) {
  for (const bool amsgrad : {false, true}) {
    Tensor x = leaf({1});
    Tensor y = leaf({1});
    optim::AdamOptions options;
    options.learning_rate = 0.1;
    options.weight_decay = 0.02;
    options.amsgrad = amsgrad;
    optim::Adam plain({x}, options);
    EXPECT_NEAR(after_steps(plain, x, 20), adam(0.02, false, amsgrad), 1e-12);
    optim::AdamWOptions decoupled;
    EXPECT_EQ(decoupled.weight_decay, 0.01);
    decoupled.learning_rate = 0.1;
    decoupled.amsgrad = amsgrad;
    optim::AdamW adamw({y}, decoupled);
    EXPECT_NEAR(after_steps(adamw, y, 20), adam(0.01, true, amsgrad), 1e-12);
  }
}

TEST(Optim, groups_have_their_own_options) {
  Tensor slow = leaf({1});
  Tensor fast = leaf({1});
  Tensor idle = leaf({1});
  optim::SGDOptions options;
  options.learning_rate = 0.1;
  optim::SGD sgd({slow, idle}, options);
  options.learning_rate = 1;
  sgd.add_group({fast}, options);
  slow.set_grad(ones({1}, kFloat64));
  fast.set_grad(ones({1}, kFloat64));
  sgd.step();
  expect_near(slow.detach(), {0.9});
  expect_near(fast.detach(), {0});
  expect_near(idle.detach(), {1});
  sgd.set_learning_rate(0.5);
  sgd.step();
  expect_near(fast.detach(), {-0.5});
  sgd.zero_grad();
  EXPECT_FALSE(fast.grad().defined());
}

TEST(Optim, state_continues_where_it_was) {
  const std::string path = temporary("optimizer.safetensors");
  Tensor x = leaf({1});
  optim::Adam whole({x});
  after_steps(whole, x, 5);
  save_file(whole.state_dict(), path);
  Tensor again = tensor({x.item<double>()}, kFloat64).requires_grad_();
  optim::Adam resumed({again});
  resumed.load_state_dict(load_file(path));
  EXPECT_EQ(after_steps(resumed, again, 5), after_steps(whole, x, 5));
  EXPECT_THROW(resumed.load_state_dict({{"1.exp_avg", ones({1})}}), InvalidValueError);
  EXPECT_THROW(resumed.load_state_dict({{"exp_avg", ones({1})}}), InvalidValueError);
  EXPECT_THROW(resumed.load_state_dict({{"99999999999999999999.step", ones({1})}}),
               InvalidValueError);
  EXPECT_THROW(resumed.load_state_dict({{".x", ones({1})}}), InvalidValueError);
  std::remove(path.c_str());
}

TEST(Optim, parameters_that_join_later_have_their_own_steps) {
  Tensor early = leaf({1});
  Tensor late = leaf({1});
  optim::SGDOptions options;
  options.learning_rate = 1;
  options.momentum = 0.5;
  optim::SGD sgd({early, late}, options);
  early.set_grad(ones({1}, kFloat64));
  sgd.step();
  late.set_grad(ones({1}, kFloat64));
  sgd.step();
  expect_near(early.detach(), {-1.5});
  expect_near(late.detach(), {0});
}

TEST(Optim, closures_compute_the_loss) {
  Tensor x = leaf({2});
  optim::SGDOptions options;
  options.learning_rate = 0.25;
  optim::SGD sgd({x}, options);
  const NoGradGuard no_grad;
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    Tensor value = (x * x).sum();
    value.backward();
    return value;
  });
  expect_near(loss.detach(), {4});
  expect_near(x.detach(), {1});
}

TEST(Optim, wrong_options_are_refused) {
  Tensor x = leaf({1});
  optim::SGDOptions sgd;
  sgd.nesterov = true;
  EXPECT_THROW(optim::SGD({x}, sgd), InvalidValueError);
  sgd = {};
  sgd.learning_rate = -1;
  EXPECT_THROW(optim::SGD({x}, sgd), InvalidValueError);
  optim::AdamOptions adam_options;
  adam_options.beta1 = 1;
  EXPECT_THROW(optim::Adam({x}, adam_options), InvalidValueError);
  adam_options = {};
  adam_options.eps = std::nan("");
  EXPECT_THROW(optim::Adam({x}, adam_options), InvalidValueError);
  EXPECT_THROW(optim::SGD({}), InvalidValueError);
  EXPECT_THROW(optim::SGD({x, x}), InvalidValueError);
  EXPECT_THROW(optim::SGD({x * 2}), InvalidValueError);
}

TEST(Optim, a_new_parameter_never_has_the_state_of_one_that_is_gone) {
  optim::SGDOptions options;
  options.learning_rate = 1;
  options.momentum = 0.9;
  optim::SGD sgd({leaf({1})}, options);
  for (int i = 0; i < 20; ++i) {
    Tensor x = leaf({0});
    x.set_grad(ones({1}, kFloat64));
    sgd.groups()[0].parameters = {x};
    sgd.step();
    expect_near(x.detach(), {-1});
    sgd.groups()[0].parameters.clear();
  }
}

TEST(Optim, a_small_network_learns) {
  manual_seed(0);
  nn::Sequential net(nn::make<nn::Linear>(2, 16), nn::make<nn::Tanh>(),
                     nn::make<nn::Linear>(16, 1));
  optim::AdamWOptions options;
  options.learning_rate = 0.05;
  optim::AdamW adamw(net.parameters(), options);
  const Tensor x = tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}});
  const Tensor y = tensor({{0.0}, {1.0}, {1.0}, {0.0}});
  double loss = 1;
  for (int i = 0; i < 200; ++i) {
    adamw.zero_grad();
    const Tensor value = mse_loss(net(x), y);
    value.backward();
    adamw.step();
    loss = value.item<double>();
  }
  EXPECT_LT(loss, 1e-2);
}

TEST(Optim, training_steps_do_not_leak) {
  manual_seed(0);
  nn::Linear net(4, 4);
  optim::Adam optimizer(net.parameters());
  const auto step = [&] {
    optimizer.zero_grad();
    net(ones({2, 4})).sum().backward();
    optimizer.step();
  };
  step();
  const int64_t handles = live_handles();
  const int64_t nodes = live_nodes();
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(live_handles(), handles);
  EXPECT_EQ(live_nodes(), nodes);
}

}  // namespace
