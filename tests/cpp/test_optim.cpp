// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers, compared with their formulas.
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "support.hpp"

namespace test_optim {

using namespace tessera;
using namespace tessera::test;

namespace {

// Gradients that differ for each step, without randomness.
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
  options.lr = 0.1;
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

// In C++20 such a struct can be written in the call: Adam(parameters, {.lr = 0.1}).
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
    options.lr = 0.1;
    options.weight_decay = 0.02;
    options.amsgrad = amsgrad;
    optim::Adam plain({x}, options);
    EXPECT_NEAR(after_steps(plain, x, 20), adam(0.02, false, amsgrad), 1e-12);
    optim::AdamWOptions decoupled;
    EXPECT_EQ(decoupled.weight_decay, 0.01);
    decoupled.lr = 0.1;
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
  options.lr = 0.1;
  optim::SGD sgd({slow, idle}, options);
  options.lr = 1;
  sgd.add_group({fast}, options);
  slow.set_grad(ones({1}, kFloat64));
  fast.set_grad(ones({1}, kFloat64));
  sgd.step();
  expect_near(slow.detach(), {0.9});
  expect_near(fast.detach(), {0});
  expect_near(idle.detach(), {1});
  sgd.set_lr(0.5);
  EXPECT_EQ(sgd.options(1).lr, 0.5);
  sgd.step();
  expect_near(fast.detach(), {-0.5});
  sgd.zero_grad();
  EXPECT_FALSE(fast.grad().defined());
}

// Every kind: one with a changed rate, resumed by one with the defaults.
template <class Optimizer, class Options>
void expect_to_resume(const Options& changed) {
  const std::string path = temporary("optimizer.safetensors");
  Tensor x = tensor({{1.0}}, kFloat64).requires_grad_();
  Optimizer whole(x, changed);
  const auto run = [](Optimizer& optimizer, Tensor& p) {
    for (int step = 0; step < 5; ++step) {
      p.set_grad(tensor({{gradient_at(step)}}, kFloat64));
      optimizer.step();
    }
    return p.item<double>();
  };
  run(whole, x);
  whole.save(path);
  Tensor from_file = tensor({{x.item<double>()}}, kFloat64).requires_grad_();
  Tensor from_state = tensor({{x.item<double>()}}, kFloat64).requires_grad_();
  Optimizer second(from_file);
  Optimizer third(from_state);
  second.load(path);
  third.load_state(whole.state());
  EXPECT_EQ(second.options().lr, changed.lr);
  const double expected = run(whole, x);
  EXPECT_EQ(run(second, from_file), expected);
  EXPECT_EQ(run(third, from_state), expected);
  std::remove(path.c_str());
}

template <class... Options>
void expect_all_to_resume() {
  const auto changed = [](auto options) {
    options.lr = 0.1;
    options.weight_decay = 0.3;
    options.maximize = true;
    return options;
  };
  (expect_to_resume<optim::Optimizer<Options>>(changed(Options{})), ...);
}

TEST(Optim, state_continues_where_it_was) {
  expect_all_to_resume<optim::SGDOptions, optim::AdamOptions, optim::AdamWOptions,
                       optim::RMSpropOptions, optim::AdagradOptions, optim::AdadeltaOptions,
                       optim::AdamaxOptions, optim::NAdamOptions, optim::RAdamOptions,
                       optim::LAMBOptions, optim::LionOptions, optim::MuonOptions,
                       optim::ASGDOptions>();
  optim::RpropOptions changed;
  changed.lr = 0.1;
  changed.maximize = true;
  expect_to_resume<optim::Rprop>(changed);
}

TEST(Optim, states_that_do_not_fit_are_refused) {
  Tensor x = leaf({1});
  optim::Adam adam(x);
  optim::State state = adam.state();
  EXPECT_TRUE(state.tensors.empty());
  state.tensors.emplace("1.0.exp_avg", ones({1}));
  EXPECT_THROW(adam.load_state(state), InvalidValueError);
  EXPECT_THROW(adam.load_state(optim::SGD(x).state()), InvalidValueError);
  EXPECT_THROW(adam.load("/no/such/file"), FileError);
}

// The defaults of the structs are those of the C function.
template <class Options>
void expect_defaults() {
  tsr_optimizer_options defaults{};
  defaults.struct_size = sizeof(defaults);
  check(tsr_optimizer_defaults(Options::kKind, &defaults));
  const Options options;
  Options::each(options, defaults, [](const auto& ours, const auto& theirs) {
    EXPECT_EQ(static_cast<double>(ours), static_cast<double>(theirs));
  });
}

TEST(Optim, defaults_are_those_of_the_core) {
  expect_defaults<optim::SGDOptions>();
  expect_defaults<optim::AdamOptions>();
  expect_defaults<optim::AdamWOptions>();
  expect_defaults<optim::RMSpropOptions>();
  expect_defaults<optim::AdagradOptions>();
  expect_defaults<optim::AdadeltaOptions>();
  expect_defaults<optim::AdamaxOptions>();
  expect_defaults<optim::NAdamOptions>();
  expect_defaults<optim::RAdamOptions>();
  expect_defaults<optim::LAMBOptions>();
  expect_defaults<optim::LionOptions>();
  expect_defaults<optim::MuonOptions>();
  expect_defaults<optim::RpropOptions>();
  expect_defaults<optim::ASGDOptions>();
}

TEST(Optim, gradients_may_be_given) {
  Tensor x = leaf({1});
  Tensor y = leaf({1});
  optim::SGDOptions options;
  options.lr = 0.5;
  optim::SGD sgd({x, y}, options);
  sgd.step_with({ones({1}, kFloat64), Tensor()});
  expect_near(x.detach(), {0.5});
  expect_near(y.detach(), {1});
}

TEST(Optim, parameters_that_join_later_have_their_own_steps) {
  Tensor early = leaf({1});
  Tensor late = leaf({1});
  optim::SGDOptions options;
  options.lr = 1;
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
  options.lr = 0.25;
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
  sgd.lr = -1;
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
  options.lr = 1;
  options.momentum = 0.9;
  optim::SGD sgd({leaf({1})}, options);
  for (int i = 0; i < 20; ++i) {
    Tensor x = leaf({0});
    x.set_grad(ones({1}, kFloat64));
    sgd.set_parameters(x);
    EXPECT_EQ(sgd.parameters().size(), 1U);
    sgd.step();
    expect_near(x.detach(), {-1});
    sgd.set_parameters({});
  }
}

TEST(Optim, a_small_network_learns) {
  manual_seed(0);
  nn::Sequential net(nn::make<nn::Linear>(2, 16), nn::make<nn::Tanh>(),
                     nn::make<nn::Linear>(16, 1));
  optim::AdamWOptions options;
  options.lr = 0.05;
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
}  // namespace test_optim
