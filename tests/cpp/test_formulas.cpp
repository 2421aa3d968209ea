// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers, optimizers and distributions that are made of operators, against the values of
// tests/conformance/formulas.txt.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <thread>

#include "support.hpp"
#include "support/places.h"

namespace test_formulas {

using namespace tessera;
using namespace tessera::test;
using namespace tessera::distributions;

namespace {

const std::map<std::string, Numbers>& table() {
  static const std::map<std::string, Numbers> rows = [] {
    std::map<std::string, Numbers> found;
    std::ifstream file(tsr::testing::source_path("tests/conformance/formulas.txt"));
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      std::string name;
      words >> name;
      for (double number = 0; words >> number;) found[name].push_back(number);
    }
    return found;
  }();
  return rows;
}

// Compares a tensor with a row.
void check_row(const std::string& name, const Tensor& found) {
  SCOPED_TRACE(name);
  const Numbers& wanted = table().at(name);
  double largest = 1;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  expect_near(found.detach().astype(kFloat64), wanted, 1e-9 * largest);
}

// The numbers sin(0.7 k + phase), as in make_formulas.py.
Tensor wave(const Shape& shape, double phase = 0) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return sin(arange(0, count, 1, kFloat64) * 0.7 + phase).reshape(shape);
}

Tensor doubles(std::initializer_list<double> values) {
  return tensor(values, kFloat64);
}

TEST(Formulas, padding_layers_give_the_values_of_the_table) {
  const Tensor one = wave({1, 2, 4}), two = wave({1, 1, 4, 3}), three = wave({1, 1, 3, 4, 3});
  check_row("zero_pad1d", nn::ZeroPad1d{1, 2}(one));
  check_row("constant_pad1d", nn::ConstantPad1d({1, 2}, 2.5)(one));
  check_row("reflection_pad1d", nn::ReflectionPad1d{1, 2}(one));
  check_row("replication_pad1d", nn::ReplicationPad1d{1, 2}(one));
  check_row("circular_pad1d", nn::CircularPad1d{1, 2}(one));
  check_row("zero_pad2d", nn::ZeroPad2d{1, 2, 0, 1}(two));
  check_row("constant_pad2d", nn::ConstantPad2d({1, 2, 0, 1}, 2.5)(two));
  check_row("reflection_pad2d", nn::ReflectionPad2d{1, 2, 0, 1}(two));
  check_row("replication_pad2d", nn::ReplicationPad2d{1, 2, 0, 1}(two));
  check_row("circular_pad2d", nn::CircularPad2d{1, 2, 0, 1}(two));
  check_row("zero_pad3d", nn::ZeroPad3d{1, 0, 2, 1, 0, 1}(three));
  check_row("constant_pad3d", nn::ConstantPad3d({1, 0, 2, 1, 0, 1}, 2.5)(three));
  check_row("reflection_pad3d", nn::ReflectionPad3d{1, 0, 2, 1, 0, 1}(three));
  check_row("replication_pad3d", nn::ReplicationPad3d{1, 0, 2, 1, 0, 1}(three));
  check_row("circular_pad3d", nn::CircularPad3d{1, 0, 2, 1, 0, 1}(three));
  EXPECT_EQ(nn::ZeroPad2d(1)(two).shape(), (Shape{1, 1, 6, 5}));
  EXPECT_THROW((nn::ZeroPad2d{1, 2, 3}), InvalidValueError);
}

TEST(Formulas, triplet_losses_take_a_distance) {
  const Tensor a = wave({4, 3}), b = wave({4, 3}, 0.4), c = wave({4, 3}, 1.1);
  const auto city = [](const Tensor& x, const Tensor& y) { return abs(x - y).sum(-1); };
  check_row("triplet_default", nn::TripletMarginWithDistanceLoss()(a, b, c));
  check_row("triplet_city", nn::TripletMarginWithDistanceLoss(city, 2)(a, b, c));
  check_row("triplet_swap", nn::TripletMarginWithDistanceLoss(city, 1, true, "none")(a, b, c));
}

TEST(Formulas, fractional_pooling_has_the_windows_of_its_samples) {
  nn::FractionalMaxPool2d two({2, 3}, {3, 2});
  const Tensor numbers = doubles({0.1, 0.6, 0.8, 0.3}).reshape({1, 2, 2});
  const Tensor x = wave({1, 2, 7, 6});
  const auto [values, positions] = two.with_positions(x, numbers);
  check_row("fractional_max_pool2d", values);
  check_row("fractional_max_pool2d_positions", positions);
  EXPECT_EQ(two(x.select(0, 0)).shape(), (Shape{2, 3, 2}));
  auto three = nn::FractionalMaxPool3d::of_ratio(2, {0.5, 0.6, 0.5});
  const Tensor number = doubles({0.1, 0.6, 0.9}).reshape({1, 1, 3});
  const auto [cubes, places] = three.with_positions(wave({1, 1, 6, 5, 7}), number);
  check_row("fractional_max_pool3d", cubes);
  check_row("fractional_max_pool3d_positions", places);
  EXPECT_THROW(two(wave({1, 3, 3})), ShapeError);
  EXPECT_THROW(two(wave({3, 3})), ShapeError);
  EXPECT_THROW(two.with_positions(x, number), ShapeError);
  // Sizes that are not to be computed in 64 bits.
  const int64_t large = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(nn::FractionalMaxPool2d({large, large}, {2, 2})(x), ShapeError);
  EXPECT_THROW(nn::FractionalMaxPool2d({2, 2}, {large, large})(x), ShapeError);
  EXPECT_THROW(nn::FractionalMaxPool2d::of_ratio(2, {1e300, 1})(x), ShapeError);
  EXPECT_THROW(nn::FractionalMaxPool2d::of_ratio(2, {std::nan(""), 0.5})(x), InvalidValueError);
  EXPECT_THROW(nn::FractionalMaxPool2d::of_ratio(2, {0.5, INFINITY})(x), InvalidValueError);
}

TEST(Formulas, fractional_pooling_of_16_bit_floats_has_the_windows_of_float64) {
  const nn::FractionalMaxPool2d layer({1, 2}, {2, 400});
  const Tensor samples = doubles({0.25, 0.5}).reshape({1, 1, 2});
  for (const DType dtype : {kFloat16, kBFloat16}) {
    const Tensor x = wave({1, 1, 2, 5000}).astype(dtype);
    const auto drawn = [&](DType of) {
      manual_seed(3);
      return layer.with_positions(x.astype(of)).second.to_vector<int64_t>();
    };
    EXPECT_EQ(drawn(dtype), drawn(kFloat32));
    const Tensor wanted = layer.with_positions(x.astype(kFloat64), samples).second;
    const Tensor found = layer.with_positions(x, samples.astype(dtype)).second;
    EXPECT_EQ(found.to_vector<int64_t>(), wanted.to_vector<int64_t>());
  }
}

TEST(Formulas, the_adaptive_softmax_gives_the_values_of_the_table) {
  nn::AdaptiveLogSoftmaxWithLoss layer(8, 10, {3, 6}, 2, true, kFloat64);
  auto named = layer.named_parameters();
  std::sort(named.begin(), named.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  ASSERT_EQ(named.size(), 6u);
  EXPECT_EQ(named[2].first, "tail.0.0.weight");
  {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < named.size(); ++i) {
      named[i].second.copy_(wave(named[i].second.shape(), 0.3 * static_cast<double>(i)));
    }
  }
  const Tensor x = wave({5, 8}, 0.2);
  const auto found = layer(x, tensor({0, 4, 9, 2, 6}, kInt64));
  check_row("adaptive_output", found.output);
  check_row("adaptive_loss", found.loss);
  check_row("adaptive_log_prob", layer.log_prob(x));
  check_row("adaptive_log_prob", layer(x));
  check_row("adaptive_predict", layer.predict(x));
  const auto one = layer(x.select(0, 0), full({}, 0, kInt64));
  EXPECT_NEAR(one.output.item<double>(), table().at("adaptive_output")[0], 1e-9);
  EXPECT_EQ(message_of<OutOfRangeError>([&] {
              layer(x, tensor({1, 4, 10, 2, 6}, kInt64));
            }),
            "target: expected classes from 0 to 9, got numbers from 1 to 10");
  EXPECT_THROW(layer(x, tensor({0, 4}, kInt64)), ShapeError);
  EXPECT_EQ(message_of<InvalidValueError>([] {
              const nn::AdaptiveLogSoftmaxWithLoss falling(8, 10, {6, 3});
            }),
            "cutoffs: expected rising numbers from 1 to 9, got [6, 3]");
  EXPECT_THROW(nn::AdaptiveLogSoftmaxWithLoss(8, 10, {3, 6}, -1), InvalidValueError);
  // 1.1 goes 9 times into 11, although the quotient of these floats is 10.
  nn::AdaptiveLogSoftmaxWithLoss narrow(11, 20, {4, 10}, 1.1);
  EXPECT_EQ(narrow.state_dict().at("tail.0.0.weight").shape(), (Shape{9, 11}));
  EXPECT_EQ(narrow.state_dict().at("tail.1.0.weight").shape(), (Shape{9, 11}));
}

TEST(Formulas, lbfgs_makes_the_steps_of_the_table) {
  optim::LBFGSOptions plain, wolfe;
  plain.lr = 0.5;
  plain.max_iter = 4;
  plain.history_size = 3;
  wolfe.max_iter = 3;
  wolfe.line_search = true;
  for (const auto& [name, options] : {std::pair("lbfgs", plain), std::pair("lbfgs_wolfe", wolfe)}) {
    const std::vector<Tensor> parameters{wave({2}, 0.5).requires_grad_(),
                                         wave({1, 3}, 1).requires_grad_()};
    optim::LBFGS optimizer(parameters, options);
    const auto closure = [&] {
      Tensor loss = zeros({}, kFloat64);
      for (const Tensor& p : parameters) loss = loss + square(p * p - 2).sum() + cos(3 * p).sum();
      loss.backward();
      return loss;
    };
    std::vector<Tensor> found;
    for (int i = 0; i < 5; ++i) found.push_back(optimizer.step(closure).detach().reshape(1));
    for (const Tensor& p : parameters) found.push_back(p.detach().reshape(-1));
    check_row(name, concat(found));
  }
}

TEST(Formulas, a_step_of_lbfgs_ends_by_its_tolerances) {
  int calls = 0;
  // Takes a step for x^2 / 2.
  const auto step = [&](Tensor& x, const optim::LBFGSOptions& options, int steps = 1) {
    calls = 0;
    optim::LBFGS optimizer({x}, options);
    for (int i = 0; i < steps; ++i) {
      optimizer.step([&] {
        ++calls;
        const Tensor loss = square(x).sum() / 2;
        loss.backward();
        return loss;
      });
    }
    return x.detach().item<double>();
  };
  optim::LBFGSOptions options;
  // The first slope is almost 0: nothing moves, and the next step begins as this one did.
  Tensor small = leaf({1e-5});
  EXPECT_EQ(step(small, options, 2), 1e-5);
  EXPECT_EQ(calls, 2);
  // The gradient is flat enough at the beginning, and after the first iteration.
  options.tolerance_grad = 2;
  Tensor two = leaf({2});
  EXPECT_EQ(step(two, options), 2);
  EXPECT_EQ(calls, 1);
  options.tolerance_grad = 1.9;
  EXPECT_EQ(step(two, options), 1);
  EXPECT_EQ(calls, 2);
  // The parameters change by less than the tolerance.
  options = {};
  options.lr = 0.01;
  options.tolerance_change = 0.5;
  Tensor one = leaf({1});
  EXPECT_EQ(step(one, options), 0.99);
  EXPECT_EQ(calls, 2);
}

TEST(Formulas, lbfgs_without_a_history_scales_the_gradient) {
  for (const int64_t size : {0, -1}) {
    Tensor x = leaf({1, 1});
    optim::LBFGSOptions options;
    options.max_iter = 3;
    options.history_size = size;
    optim::LBFGS({x}, options).step([&] {
      const Tensor loss = (square(x) * doubles({1, 2})).sum();
      loss.backward();
      return loss;
    });
    expect_near(x.detach(), {16.0 / 51, -1.0 / 51}, 1e-12);
  }
  EXPECT_EQ(message_of<InvalidValueError>([] { optim::LBFGS(std::vector<Tensor>{}); }),
            "params: expected at least one parameter, got an empty list");
}

TEST(Formulas, averages_of_models_are_those_of_the_table) {
  nn::Linear model(3, 2, true, kFloat64);
  for (const auto& [name, decay] :
       {std::pair("swa", std::optional<double>()), std::pair("ema", std::optional<double>(0.9))}) {
    nn::Linear copy(3, 2, true, kFloat64);
    optim::AveragedModel average(copy, {decay});
    for (int i = 0; i < 4; ++i) {
      {
        const NoGradGuard no_grad;
        model.weight.copy_(wave({2, 3}, i));
      }
      average.update(model);
    }
    check_row(name, copy.weight);
    expect_same(average(ones({1, 3}, kFloat64)), copy(ones({1, 3}, kFloat64)));
    EXPECT_EQ(average.state_dict().at("n_averaged").item<int64_t>(), 4);
    EXPECT_EQ(average.state_dict().count("module.bias"), 1u);
    EXPECT_TRUE(copy.weight.requires_grad());
  }
  nn::Linear other(4, 2);
  optim::AveragedModel average(other);
  EXPECT_EQ(message_of<InvalidValueError>([&] { average.update(model); }),
            "AveragedModel: parameter 0: expected shape [2, 4], got [2, 3]");
  EXPECT_EQ(message_of<InvalidValueError>([&] { optim::AveragedModel(other, {1.5}); }),
            "decay: expected a number between 0 and 1, got 1.500000");
}

TEST(Formulas, averages_of_models_copy_or_average_buffers) {
  for (const bool use_buffers : {false, true}) {
    nn::BatchNorm1d model(2), copy(2);
    optim::AveragedModelOptions options;
    options.use_buffers = use_buffers;
    optim::AveragedModel average(copy, options);
    for (const double value : {2.0, 4.0}) {
      const NoGradGuard no_grad;
      model.weight.fill_(value);
      model.running_mean.fill_(value);
      model.num_batches_tracked.fill_(value);
      average.update(model);
    }
    const double mean = use_buffers ? 3 : 4;
    expect_near(copy.weight.detach(), {3, 3});
    expect_near(copy.running_mean, {mean, mean});
    EXPECT_EQ(copy.num_batches_tracked.item<int64_t>(), static_cast<int64_t>(mean));
    // A model whose parameters fit and whose buffers do not changes nothing.
    nn::BatchNormOptions untracked;
    untracked.track_running_stats = false;
    nn::BatchNorm1d other(2, untracked);
    EXPECT_EQ(message_of<InvalidValueError>([&] { average.update(other); }),
              "AveragedModel: expected a model with 3 buffers, got 0");
    expect_near(copy.weight.detach(), {3, 3});
    EXPECT_EQ(average.n_averaged.item<int64_t>(), 2);
  }
}

// The rows of one distribution; `make` gets the first parameter.
template <class Make, class Kind>
void check_distribution(const std::string& name, const Tensor& first, Make make, const Kind& other,
                        const Tensor& values) {
  Kind p = make(first);
  check_row(name + ".log_prob", p.log_prob(values));
  check_row(name + ".entropy", p.entropy());
  check_row(name + ".kl", kl_divergence(p, other));
  if (name != "categorical") {
    check_row(name + ".mean", p.mean());
    check_row(name + ".variance", p.variance());
  }
  manual_seed(7);
  check_row(name + ".sample", p.sample({2}));
  Tensor start = first.detach();
  start.requires_grad_();
  p = make(start);
  EXPECT_FALSE(p.sample({2}).requires_grad());
  if (table().count(name + ".gradient") == 0) {
    EXPECT_EQ(message_of<NotSupportedError>([&] { static_cast<void>(p.rsample({2})); }),
              name == "bernoulli" ? "Bernoulli has no rsample" : "Categorical has no rsample");
    return;
  }
  manual_seed(7);
  const Tensor drawn = p.rsample({2});
  (name == "dirichlet" ? square(drawn) : drawn).sum().backward();
  check_row(name + ".gradient", start.grad());
}

TEST(Formulas, distributions_have_the_values_of_the_table) {
  const Tensor scale = doubles({0.5, 1, 2}), high = doubles({2, 1, 3}), b = doubles({1.5, 1, 4});
  const Tensor shared = wave({2, 3}, 1), inverse = doubles({1, 2, 0.5});
  check_distribution(
      "normal", wave({3}), [&](const Tensor& loc) { return Normal(loc, scale); },
      Normal(doubles({0.3}), 1.5), shared);
  check_distribution(
      "uniform", doubles({-1, 0, 0.5}), [&](const Tensor& low) { return Uniform(low, high); },
      Uniform(doubles({-2}), 4), doubles({0, 0.5, 1, 1.5, 0.25, 2.5}).reshape({2, 3}));
  check_distribution(
      "bernoulli", doubles({0.2, 0.5, 0.9}), [](const Tensor& probs) { return Bernoulli(probs); },
      Bernoulli::of_logits(doubles({0.3, -1, 2})), doubles({0, 1, 1, 1, 0, 0}).reshape({2, 3}));
  check_distribution(
      "categorical", doubles({1, 2, 3, 4, 4, 3, 2, 1}).reshape({2, 4}),
      [](const Tensor& weights) { return Categorical(weights); },
      Categorical::of_logits(wave({2, 4})), tensor({0, 3, 2, 1, 3, 0}, kInt64).reshape({3, 2}));
  check_distribution(
      "beta", doubles({0.5, 2, 3}), [&](const Tensor& a) { return Beta(a, b); },
      Beta(doubles({2}), 3), doubles({0.1, 0.5, 0.9, 0.3, 0.2, 0.6}).reshape({2, 3}));
  const Tensor positive = doubles({0.2, 1, 4, 0.7, 2, 3}).reshape({2, 3});
  check_distribution(
      "gamma", doubles({0.5, 2, 3}), [&](const Tensor& a) { return Gamma(a, inverse); },
      Gamma(doubles({1.5}), 2), positive);
  check_distribution(
      "exponential", doubles({0.5, 1, 3}), [](const Tensor& rate) { return Exponential(rate); },
      Exponential(doubles({2})), positive);
  check_distribution(
      "dirichlet", doubles({0.5, 2, 3, 1, 1, 1}).reshape({2, 3}),
      [](const Tensor& a) { return Dirichlet(a); }, Dirichlet(doubles({1, 2, 3})),
      doubles({0.2, 0.3, 0.5, 0.6, 0.1, 0.3}).reshape({2, 3}));
  const Tensor a = wave({3, 3});
  const Tensor covariance = matmul(a, matrix_transpose(a)) + eye(3, std::nullopt, 0, kFloat64);
  const Tensor lower = doubles({1, 0, 0, 0.5, 2, 0, -0.3, 0.2, 0.7}).reshape({3, 3});
  check_distribution(
      "multivariate_normal", wave({3}),
      [&](const Tensor& loc) { return MultivariateNormal(loc, covariance); },
      MultivariateNormal::of_scale_tril(zeros({3}, kFloat64), lower), shared);
}

TEST(Formulas, distributions_refuse_wrong_parameters_and_values) {
  const Tensor minus = doubles({-1, 1}), ones2 = doubles({1, 1});
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Normal(0, 0), InvalidValueError);
  EXPECT_THROW(Normal(nan, 1), InvalidValueError);
  EXPECT_THROW(Uniform(1, 1), InvalidValueError);
  EXPECT_THROW(Bernoulli(1.5), InvalidValueError);
  EXPECT_THROW((Categorical(minus)), InvalidValueError);
  EXPECT_THROW((Categorical(doubles({-1, -2}))), InvalidValueError);
  EXPECT_THROW((Categorical(doubles({INFINITY, 1}))), InvalidValueError);
  EXPECT_THROW((Categorical(zeros({2, 0}))), ShapeError);
  EXPECT_THROW(Categorical::of_logits(zeros({0})), ShapeError);
  EXPECT_EQ(
      message_of<InvalidValueError>([] { Beta(0, 1); }),
      "Beta: concentration1: expected numbers above 0, got one outside in a tensor of shape []");
  EXPECT_EQ(
      message_of<InvalidValueError>([] { Beta(1, 0); }),
      "Beta: concentration0: expected numbers above 0, got one outside in a tensor of shape []");
  EXPECT_THROW(Normal(Tensor(), 1), InvalidArgumentError);
  EXPECT_THROW(Gamma(1, -1), InvalidValueError);
  EXPECT_THROW((Dirichlet(minus)), InvalidValueError);
  EXPECT_THROW(Exponential(0), InvalidValueError);
  EXPECT_THROW(MultivariateNormal::of_scale_tril(minus, ones({2, 2}, kFloat64)), InvalidValueError);
  EXPECT_THROW(MultivariateNormal(minus, minus), ShapeError);
  EXPECT_THROW(Categorical(full({}, 1.0)), ShapeError);
  EXPECT_THROW(Exponential(1).log_prob(minus), InvalidValueError);
  EXPECT_THROW(Bernoulli(0.5).log_prob(doubles({0.5})), InvalidValueError);
  EXPECT_THROW(Categorical(ones2).log_prob(tensor({2}, kInt64)), InvalidValueError);
  EXPECT_THROW(Beta(1, 1).log_prob(minus), InvalidValueError);
  EXPECT_THROW(Dirichlet(ones2).log_prob(minus), InvalidValueError);
  EXPECT_EQ(message_of<DTypeError>([] {
              Bernoulli(tensor({0, 1}, kInt64));
            }),
            "a parameter: expected a floating dtype, got int64");
  // Numbers take the dtype of the tensor beside them, or the default one.
  EXPECT_EQ(Normal(minus, 1).sample().dtype(), kFloat64);
  EXPECT_EQ(Normal(0, 1).sample({4}).dtype(), kFloat32);
  EXPECT_EQ(Categorical(ones2).sample({0}).shape(), Shape{0});
  EXPECT_EQ(distributions::detail::limits(kBFloat16)->max, 3.3895313892515355e38);
}

TEST(Formulas, values_have_the_axes_of_one_value) {
  const Dirichlet shares(doubles({1, 2, 3}));
  EXPECT_EQ(message_of<ShapeError>([&] { static_cast<void>(shares.log_prob(doubles({1}))); }),
            "Dirichlet: value: expected a shape that ends in [3], got [1]");
  EXPECT_THROW(static_cast<void>(shares.log_prob(full({}, 1.0))), ShapeError);
  const MultivariateNormal vectors(zeros({3}), eye(3));
  EXPECT_THROW(static_cast<void>(vectors.log_prob(zeros({3, 1}))), ShapeError);
  EXPECT_EQ(vectors.log_prob(zeros({4, 3})).shape(), Shape{4});
  const MultivariateNormal others(zeros({2}), eye(2));
  EXPECT_EQ(message_of<ShapeError>([&] { static_cast<void>(kl_divergence(vectors, others)); }),
            "kl_divergence: expected vectors of one length, got 3 and 2");
}

TEST(Formulas, covariances_are_symmetric_and_positive_definite) {
  const Tensor loc = doubles({0, 0});
  const auto refused = [&](std::initializer_list<double> matrix) {
    const Tensor covariance = doubles(matrix).reshape({2, 2});
    return message_of<InvalidValueError>([&] { MultivariateNormal(loc, covariance); });
  };
  const std::string outside = ", got one outside in a tensor of shape ";
  EXPECT_EQ(
      refused({1, 2, 2, 1}),
      "MultivariateNormal: covariance: expected a positive definite matrix (eigenvalues above "
      "0)" +
          outside + "[2]");
  EXPECT_EQ(refused({1, 0.5, 0.4, 1}),
            "MultivariateNormal: covariance: expected a symmetric matrix" + outside + "[2, 2]");
  EXPECT_EQ(refused({2e4, 1e4, 1e4 + 0.05, 2e4}), "no error");  // the difference is 5e-6 of these
}

TEST(Formulas, divergences_are_infinite_where_a_value_is_excluded) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor all = doubles({0, 0.5, 1});
  EXPECT_EQ(numbers(kl_divergence(Bernoulli(all), Bernoulli(doubles({0})))),
            (Numbers{0, infinity, infinity}));
  EXPECT_EQ(numbers(kl_divergence(Bernoulli(all), Bernoulli(doubles({1})))),
            (Numbers{infinity, infinity, 0}));
  const Categorical some(doubles({0, 1, 1})), first(doubles({1, 1, 0})), rest(doubles({0, 1, 3}));
  EXPECT_EQ(kl_divergence(some, first).item<double>(), infinity);
  EXPECT_NEAR(kl_divergence(some, rest).item<double>(), 0.5 * std::log(4.0 / 3), 1e-12);
  EXPECT_EQ(numbers(kl_divergence(Uniform(doubles({0, 1}), 2), Uniform(doubles({0.5}), 3)))[0],
            infinity);
}

// Two ranks with batches of 3 and 5 samples against one layer with all 8.
void compare_ranks(const nn::BatchNormOptions& options, const std::string& address) {
  Tensor whole = wave({8, 2, 3});
  whole.requires_grad_();
  const Tensor weights = wave({8, 2, 3}, 2), later = wave({8, 2, 3}, 4);
  nn::BatchNorm1d layer(2, options);
  const Tensor expected = layer(whole);
  (expected * weights).sum().backward();
  layer(later);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      distributed::GroupOptions group;
      group.rank = rank;
      group.size = 2;
      group.address = address;
      nn::SyncBatchNorm own(2, distributed::Group("threads", group), options);
      const auto part = [rank](const Tensor& t) {
        return t.detach().narrow(0, rank == 0 ? 0 : 3, rank == 0 ? 3 : 5).clone();
      };
      Tensor x = part(whole);
      x.requires_grad_();
      const Tensor found = own(x);
      (found * part(weights)).sum().backward();
      expect_near(found.detach(), numbers(part(expected)), 1e-12);
      expect_near(x.grad(), numbers(part(whole.grad())), 1e-12);
      own(part(later));
      EXPECT_EQ(own.running_mean.defined(), options.track_running_stats);
      EXPECT_EQ(own.weight.defined(), options.affine);
      if (options.track_running_stats) {
        expect_near(own.running_mean, numbers(layer.running_mean), 1e-12);
        expect_near(own.running_var, numbers(layer.running_var), 1e-12);
      }
      EXPECT_EQ(message_of<InvalidValueError>([&] {
                  own(zeros({1 - rank, 2}, kFloat64));
                }),
                "SyncBatchNorm: expected more than 1 value for each channel, got 1");
      own.eval();
      EXPECT_EQ(own(x).shape(), x.shape());  // no other rank is needed
      EXPECT_THROW(own(wave({2, 3})), ShapeError);
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST(Formulas, sync_batch_norm_is_the_batch_norm_of_the_whole_batch) {
  nn::BatchNormOptions options;
  options.dtype = kFloat64;
  compare_ranks(options, "cpp sync norm");
  options.momentum = std::nullopt;  // the mean of all batches
  compare_ranks(options, "cpp sync norm of means");
  options.affine = false;
  compare_ranks(options, "cpp sync norm without parameters");
  options.track_running_stats = false;
  compare_ranks(options, "cpp sync norm without statistics");
}

}  // namespace
}  // namespace test_formulas
