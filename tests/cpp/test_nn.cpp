// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers, models, their states, initial values, losses.
#include <cmath>
#include <cstdio>
#include <limits>

#include "gradient.hpp"
#include "support.hpp"

namespace test_nn {

using namespace tessera;
using namespace tessera::test;

namespace {

struct Block : nn::Module {
  nn::Linear inner{2, 2};
  Tensor scale = ones({2});
  Tensor count = zeros({}, kInt64);
  Tensor cache = zeros({1});

  Block() {
    register_module("inner", inner);
    register_parameter("scale", scale);
    register_buffer("count", count);
    register_buffer("cache", cache, false);
  }
  Tensor forward(const Tensor& x) override { return inner(x) * scale; }
};

struct Model : nn::Module {
  Block first, second;
  nn::Dropout dropout{0.5};

  Model() {
    register_module("first", first);
    register_module("second", second);
    register_module("dropout", dropout);
  }
  Tensor forward(const Tensor& x) override { return dropout(second(first(x).relu())); }
};

std::vector<std::string> names(const nn::NamedTensors& tensors) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : tensors) found.push_back(name);
  return found;
}

TEST(Nn, registration_names_everything_once) {
  Model model;
  EXPECT_EQ(names(model.named_parameters()),
            (std::vector<std::string>{"first.scale", "first.inner.weight", "first.inner.bias",
                                      "second.scale", "second.inner.weight", "second.inner.bias"}));
  EXPECT_EQ(
      names(model.named_buffers()),
      (std::vector<std::string>{"first.count", "first.cache", "second.count", "second.cache"}));
  EXPECT_EQ(model.parameters().size(), 6U);
  EXPECT_EQ(model.named_modules().size(), 6U);
  EXPECT_EQ(model.named_children().size(), 3U);
  for (const Tensor& parameter : model.parameters()) EXPECT_TRUE(parameter.requires_grad());
  Tensor shared = model.first.scale;
  model.second.scale = shared;
  EXPECT_EQ(model.parameters().size(), 5U);
}

TEST(Nn, wrong_registrations_are_refused) {
  Block block;
  Tensor x = ones({1});
  EXPECT_THROW(block.register_parameter("scale", x), InvalidValueError);
  EXPECT_THROW(block.register_buffer("inner", x), InvalidValueError);
  EXPECT_THROW(block.register_buffer("a.b", x), InvalidValueError);
  EXPECT_THROW(block.register_buffer("", x), InvalidValueError);
  nn::Module plain;
  EXPECT_THROW(plain(x), NotSupportedError);
}

TEST(Nn, a_shared_module_is_saved_under_each_of_its_names) {
  nn::Linear layer(2, 2);
  nn::Module model;
  model.register_modules({{"a", layer}, {"b", layer}, {"own", model}});
  TensorMap state = model.state_dict();
  std::vector<std::string> keys;
  for (const auto& [name, tensor] : state) keys.push_back(name);
  EXPECT_EQ(keys, (std::vector<std::string>{"a.bias", "a.weight", "b.bias", "b.weight"}));
  EXPECT_EQ(model.parameters().size(), 2U);
  state.at("b.bias") = full({2}, 3.0);
  state.at("a.bias") = full({2}, 3.0);
  const nn::StateDictKeys found = model.load_state_dict(state);
  EXPECT_TRUE(found.missing.empty() && found.unexpected.empty());
  EXPECT_EQ(layer.bias.max().item<float>(), 3.0F);
}

TEST(Nn, state_dict_round_trips_and_reports_what_does_not_fit) {
  manual_seed(1);
  Model a;
  Model b;
  TensorMap state = a.state_dict();
  EXPECT_EQ(state.size(), 8U) << "buffers that are not persistent stay out";
  const nn::StateDictKeys all = b.load_state_dict(state);
  EXPECT_TRUE(all.missing.empty() && all.unexpected.empty());
  a.eval();
  b.eval();
  const Tensor x = randn({3, 2});
  EXPECT_EQ(numbers(a(x)), numbers(b(x)));
  state.erase("first.scale");
  state["extra"] = ones({1});
  EXPECT_THROW(b.load_state_dict(state), InvalidValueError);
  const nn::StateDictKeys some = b.load_state_dict(state, false);
  EXPECT_EQ(some.missing, std::vector<std::string>{"first.scale"});
  EXPECT_EQ(some.unexpected, std::vector<std::string>{"extra"});
  state["second.scale"] = ones({3});
  try {
    b.load_state_dict(state, false);
    FAIL() << "nothing was thrown";
  } catch (const InvalidValueError& error) {
    EXPECT_NE(std::string(error.what()).find("'second.scale': expected shape [2], got shape [3]"),
              std::string::npos)
        << error.what();
  }
}

TEST(Nn, state_goes_through_safetensors) {
  const std::string path = temporary("model.safetensors");
  Model a;
  Model b;
  save_file(a.state_dict(), path);
  b.load_state_dict(load_file(path));
  EXPECT_EQ(numbers(a.first.inner.weight), numbers(b.first.inner.weight));
  EXPECT_TRUE(b.first.inner.weight.requires_grad());
  std::remove(path.c_str());
}

TEST(Nn, modes_conversion_and_gradients) {
  Model model;
  EXPECT_TRUE(model.is_training());
  model.eval();
  EXPECT_FALSE(model.first.inner.is_training() || model.dropout.is_training());
  model.train();
  EXPECT_TRUE(model.dropout.is_training());
  model(ones({1, 2})).sum().backward();
  EXPECT_TRUE(model.second.scale.grad().defined());
  model.zero_grad();
  EXPECT_FALSE(model.second.scale.grad().defined());
  model.to(kFloat64);
  EXPECT_EQ(model.first.inner.weight.dtype(), kFloat64);
  EXPECT_EQ(model.first.count.dtype(), kInt64) << "integers keep their dtype";
  EXPECT_TRUE(model.first.inner.weight.requires_grad() && model.first.inner.weight.is_leaf());
  EXPECT_EQ(model(ones({1, 2}, kFloat64)).dtype(), kFloat64);
  model.requires_grad_(false);
  EXPECT_FALSE(model(ones({1, 2}, kFloat64)).requires_grad());
}

// A weight shared by two layers, a mask, and a parameter that is float64 already.
struct Tied : nn::Module {
  nn::Linear in{3, 3}, out{3, 3};
  Tensor mask = tensor({true, false, true});
  Tensor fine = ones({1}, kFloat64);

  Tied() {
    register_module("in", in);
    register_module("out", out);
    register_buffer("mask", mask);
    register_parameter("fine", fine);
    out.weight = in.weight;
  }
};

TEST(Nn, conversion_keeps_what_is_shared_and_what_fits) {
  Tied model;
  const Tensor fine = model.fine;
  model.to(kFloat64);
  EXPECT_TRUE(model.in.weight.is_same(model.out.weight));
  EXPECT_EQ(model.in.weight.dtype(), kFloat64);
  EXPECT_TRUE(model.in.weight.requires_grad());
  EXPECT_EQ(model.mask.dtype(), kBool);
  EXPECT_TRUE(model.fine.is_same(fine));
  const Tensor weight = model.in.weight;
  model.to(kFloat64);
  model.to(Device::cpu());
  EXPECT_TRUE(model.in.weight.is_same(weight)) << "an optimizer would lose it";
}

TEST(Nn, conversion_keeps_parameters_and_an_optimizer_goes_on) {
  manual_seed(0);
  nn::Sequential net(nn::make<nn::Linear>(2, 4), nn::make<nn::Tanh>(), nn::make<nn::Linear>(4, 1));
  const std::vector<Tensor> before = net.parameters();
  optim::AdamOptions options;
  options.lr = 0.002;
  optim::Adam adam(before, options);
  const Tensor x = rand({8, 2});
  const auto step = [&](const Tensor& input) {
    adam.zero_grad();
    const Tensor loss = (net(input) * net(input)).mean();
    loss.backward();
    adam.step();
    return loss.item<double>();
  };
  step(x);
  net.to(kFloat64);
  const std::vector<Tensor> after = net.parameters();
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(before[i].is_same(after[i]));
    EXPECT_EQ(after[i].dtype(), kFloat64);
    EXPECT_EQ(after[i].grad().dtype(), kFloat64);
  }
  const double first = step(x.to(kFloat64));
  for (int i = 0; i < 10; ++i) step(x.to(kFloat64));
  EXPECT_LT(step(x.to(kFloat64)), first);
}

TEST(Nn, running_statistics_stay_float32_in_half_modules) {
  for (const DType half : {kFloat16, kBFloat16}) {
    nn::BatchNorm2d norm(2);
    norm.to(half);
    nn::BatchNormOptions options;
    options.dtype = half;
    const nn::BatchNorm2d made(2, options);
    EXPECT_EQ(made.running_var.dtype(), kFloat32);
    EXPECT_EQ(norm.weight.dtype(), half);
    EXPECT_EQ(norm.running_mean.dtype(), kFloat32);
    const Tensor y = norm(ones({2, 2, 2, 2}, half));
    y.sum().backward();
    EXPECT_EQ(norm.weight.grad().dtype(), half);
    norm.to(kFloat64);
    EXPECT_EQ(norm.running_mean.dtype(), kFloat64);
  }
}

TEST(Nn, a_tensor_takes_over_other_data) {
  Tensor x = leaf({1, 2});
  const Tensor held = x;
  const Tensor y = (x * x).sum();
  x.set_data(ones({3}, kFloat32));
  EXPECT_EQ(held.dtype(), kFloat32);
  EXPECT_EQ(held.shape(), (std::vector<int64_t>{3}));
  EXPECT_TRUE(held.requires_grad());
  EXPECT_THROW(y.backward(), AutogradError) << "what was saved has changed";
  Tensor result = x * 2;
  EXPECT_THROW(result.set_data(ones({3})), AutogradError);
}

TEST(Nn, apply_visits_children_first) {
  Block block;
  std::vector<nn::Module*> order;
  block.apply([&](nn::Module& module) { order.push_back(&module); });
  EXPECT_EQ(order, (std::vector<nn::Module*>{&block.inner, &block}));
}

// Parameters and modules whose number is known only at run time.
struct Lists : nn::Module {
  nn::ParameterList scales;
  nn::ParameterDict shifts{{"left", zeros({2})}};
  nn::ModuleDict heads;
  Lists() {
    for (int i = 1; i <= 20; ++i) scales.append(full({2}, i * 0.5));
    shifts.insert("right", ones({2}));
    heads.insert<nn::Linear>("first", 2, 1);
    heads.insert("second", nn::make<nn::Tanh>());
    register_modules({{"scales", scales}, {"shifts", shifts}, {"heads", heads}});
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (const Tensor& scale : scales) y = y * scale;
    return heads["first"](y + shifts["right"]);
  }
};

TEST(Nn, parameters_in_lists_and_by_name) {
  Lists lists;
  std::vector<std::string> names;
  for (const auto& [name, parameter] : lists.named_parameters()) {
    names.push_back(name);
    EXPECT_TRUE(parameter.requires_grad()) << name;
  }
  ASSERT_EQ(names.size(), 24U);
  EXPECT_EQ(names[19], "scales.19");
  EXPECT_EQ(names[20], "shifts.left");
  EXPECT_EQ(names[22], "heads.first.weight");
  lists(ones({2})).sum().backward();
  EXPECT_TRUE(lists.scales[19].grad().defined());
  lists.to(kFloat64);
  EXPECT_EQ(lists.scales[0].dtype(), kFloat64);
  EXPECT_EQ(lists.state_dict().size(), 24U);

  EXPECT_EQ(lists.heads.size(), 2U);
  EXPECT_TRUE(lists.heads.contains("second"));
  for (auto& [name, head] : lists.heads) EXPECT_EQ(&lists.heads[name], head.get());
  for (auto& [name, shift] : lists.shifts) shift.set_grad({});
  EXPECT_FALSE(lists.shifts.contains("up"));
  EXPECT_EQ(message_of<OutOfRangeError>([&] { lists.scales[20]; }),
            "ParameterList: index: expected a number below 20, got 20");
  EXPECT_EQ(message_of<OutOfRangeError>([&] { lists.shifts["up"]; }),
            "ParameterDict: name: expected one of its names, got 'up'");
  EXPECT_EQ(message_of<OutOfRangeError>([&] { lists.heads["up"]; }),
            "ModuleDict: name: expected one of its names, got 'up'");
  EXPECT_THROW(nn::Sequential()[0], OutOfRangeError);
  EXPECT_THROW(lists.shifts.insert("left", ones({1})), InvalidValueError);
  EXPECT_THROW(lists.scales.append(arange(3)), DTypeError);
  EXPECT_EQ(lists.shifts.size() + lists.scales.size(), 22U) << "failures add nothing";
}

TEST(Nn, containers) {
  manual_seed(0);
  nn::Sequential net(nn::make<nn::Linear>(2, 3), nn::make<nn::ReLU>());
  nn::Linear& last = net.append<nn::Linear>(3, 1);
  EXPECT_EQ(net.size(), 3U);
  const Tensor x = randn({4, 2});
  expect_same(net(x).detach(), last(relu(net[0](x))).detach());
  EXPECT_EQ(names(net.named_parameters()),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  EXPECT_THROW(net[3], OutOfRangeError);
}

TEST(Nn, a_function_is_a_module) {
  nn::Sequential net(nn::make<nn::Linear>(2, 2),
                     nn::make<nn::Functional>([](const Tensor& x) { return x * 2; }));
  const Tensor x = ones({1, 2});
  expect_same(net(x).detach(), (net[0](x) * 2).detach());
  EXPECT_EQ(net.parameters().size(), 2U);
}

TEST(Nn, lists_keep_the_type_of_their_modules) {
  struct Layers : nn::Module {
    nn::ModuleListOf<nn::Linear> hidden;
    nn::BatchNorm1d norm{2};
    Layers() {
      for (int i = 0; i < 2; ++i) hidden.append(2, 2);
      hidden.append(std::make_unique<nn::Linear>(2, 1, false));
      register_modules({{"hidden", hidden}, {"norm", norm}});
    }
  } layers;
  Shape widths;
  for (const nn::Linear& layer : layers.hidden) widths.push_back(layer.weight.size(0));
  EXPECT_EQ(widths, (Shape{2, 2, 1}));
  EXPECT_EQ(layers.hidden.begin()->weight.size(0), 2);
  EXPECT_EQ(std::distance(layers.hidden.begin(), layers.hidden.end()), 3);
  EXPECT_EQ(layers.named_parameters()[4].first, "hidden.2.weight");
  EXPECT_EQ(layers.buffers().size(), 3U);
  EXPECT_THROW(layers.register_modules({{"norm", layers.norm}}), InvalidValueError);
}

TEST(Nn, weights_without_elements_have_initial_values_too) {
  Tensor none = empty({0, 0});
  nn::init::xavier_uniform_(none);
  nn::init::xavier_normal_(none);
  nn::init::kaiming_normal_(none);
  EXPECT_EQ(nn::Linear(0, 3)(ones({2, 0})).shape(), (std::vector<int64_t>{2, 3}));
}

TEST(Nn, same_padding_keeps_the_size) {
  nn::ConvOptions options;
  options.same = true;
  options.dilation = 2;
  nn::Conv2d layer(1, 2, {3, 2}, options);
  EXPECT_EQ(layer(ones({1, 1, 5, 4})).shape(), (std::vector<int64_t>{1, 2, 5, 4}));
  const Tensor x = randn({2, 1, 5, 4});
  expect_same(layer(x),
              conv2d(x, layer.weight, layer.bias, std::nullopt, std::nullopt, {2, 2}, 1, true));
  EXPECT_THROW(nn::ConvTranspose2d(1, 1, 3, options), InvalidValueError);
  nn::ConvOptions padded = options;
  padded.padding = 1;
  EXPECT_THROW(nn::Conv2d(1, 1, 3, padded), InvalidValueError);
  nn::ConvOptions strided = options;
  strided.stride = {1, 2};
  EXPECT_THROW(nn::Conv2d(1, 1, 3, strided), InvalidValueError);
}

TEST(Nn, padding_mode_says_what_stands_around_the_input) {
  const Tensor x = randn({2, 1, 5, 4});
  for (const char* mode : {"reflect", "replicate", "circular"}) {
    nn::ConvOptions options;
    options.padding_mode = mode;
    options.padding = {2, 1};
    nn::Conv2d layer(1, 2, {3, 2}, options);
    expect_same(layer(x), conv2d(pad(x, {1, 1, 2, 2}, mode), layer.weight, layer.bias));
    options.padding = 0;
    options.same = true;
    nn::Conv2d same(1, 2, {4, 3}, options);
    expect_same(same(x), conv2d(pad(x, {1, 1, 1, 2}, mode), same.weight, same.bias));
    EXPECT_EQ(same(x).shape(), (std::vector<int64_t>{2, 2, 5, 4}));
    options.same = false;
    EXPECT_THROW(nn::ConvTranspose2d(1, 1, 3, options), InvalidValueError);
  }
  nn::ConvOptions wrong;
  wrong.padding_mode = "mirror";
  EXPECT_THROW(nn::Conv2d(1, 2, 3, wrong), InvalidValueError);
}

TEST(Nn, layers_pass_gradcheck) {
  manual_seed(2);
  nn::ConvOptions strided;
  strided.stride = 2;
  strided.padding = {1, 0};
  nn::ConvOptions grouped;
  grouped.groups = 2;
  nn::Linear dense(4, 3);
  nn::Conv2d conv(2, 4, 3, strided);
  nn::Conv2d groups(2, 4, {1, 2}, grouped);
  nn::ConvTranspose2d transposed(2, 3, 2, strided);
  nn::BatchNorm2d batch(2);
  nn::LayerNorm layer({3, 4});
  nn::GELU gelu("tanh");
  nn::LogSoftmax softmax;
  nn::AvgPool2d pool(2, nn::Pair(1));
  nn::AdaptiveAvgPool2d adaptive({2, 1});
  const Tensor x = randn({2, 2, 3, 4}, kFloat64);
  for (nn::Module* module : std::vector<nn::Module*>{&dense, &conv, &groups, &transposed, &batch,
                                                     &layer, &gelu, &softmax, &pool, &adaptive}) {
    module->to(kFloat64);
    expect_gradient(*module, x);
  }
}

TEST(Nn, layer_norm_takes_its_shape_in_every_spelling) {
  const int count = 4;
  const std::vector<int64_t> sizes{4};
  const Tensor x = randn({3, 4});
  const Tensor expected = layer_norm(x, {4});
  nn::LayerNorm braces({count}), number(count), list(sizes), named{{4}};
  for (nn::Module* layer : std::vector<nn::Module*>{&braces, &number, &list, &named}) {
    expect_near((*layer)(x).detach(), expected.to_vector<double>(), 1e-6);
  }
}

TEST(Nn, activations_are_their_functions) {
  const Tensor x = tensor({{-1.0, 0.5, 2.0}});
  expect_near(nn::ReLU()(x), {0, 0.5, 2});
  expect_near(nn::LeakyReLU(0.1)(x), {-0.1, 0.5, 2});
  expect_near(nn::SiLU()(x), {-0.268941, 0.311230, 1.761594});
  expect_near(nn::ELU(0.5)(x), {-0.31606, 0.5, 2});
  expect_near(nn::CELU(2)(x), {-0.786939, 0.5, 2});
  expect_same(nn::SELU()(x), selu(x));
  expect_same(nn::Mish()(x), mish(x));
  expect_near(nn::Hardswish()(x), {-0.333333, 0.291667, 1.666667});
  expect_near(nn::Hardsigmoid()(x), {0.333333, 0.583333, 0.833333});
  expect_near(nn::ReLU6()(x), {0, 0.5, 2});
  expect_near(nn::Hardtanh(-0.5, 1.5)(x), {-0.5, 0.5, 1.5});
  expect_near(nn::Softplus(2, 3)(x), {0.063464, 0.656631, 2});
  expect_near(nn::Softsign()(x), {-0.5, 0.333333, 0.666667});
  expect_same(nn::Tanhshrink()(x), tanhshrink(x));
  expect_near(nn::Softshrink(0.5)(x), {-0.5, 0, 1.5});
  expect_near(nn::Hardshrink(1)(x), {0, 0, 2});
  expect_same(nn::LogSigmoid()(x), logsigmoid(x));
  expect_near(nn::GLU()(tensor({3.0, 0.0})), {1.5});
  expect_near(nn::Softmin()(x).sum(), {1});
  expect_same(nn::Tanh()(x), x.tanh());
  expect_same(nn::Sigmoid()(x), x.sigmoid());
  expect_near(nn::Softmax()(x).sum(), {1});
  EXPECT_EQ(nn::Flatten()(zeros({2, 3, 4})).shape(), (Shape{2, 12}));
  EXPECT_TRUE(nn::Identity()(x).is_same(x));
  expect_near(nn::MaxPool2d(2)(arange(16).reshape({1, 1, 4, 4}).to(kFloat32)), {5, 7, 13, 15});
}

TEST(Nn, batch_norm_tracks_and_uses_statistics) {
  nn::BatchNorm2d norm(1);
  const Tensor x = tensor({1.0, 3.0}).reshape({2, 1, 1, 1});
  expect_near(norm(x), {-1, 1}, 1e-4);
  expect_near(norm.running_mean, {0.2});
  expect_near(norm.running_var, {0.9 + 0.1 * 2});
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 1);
  norm.eval();
  expect_near(norm(x), {(1 - 0.2) / std::sqrt(1.1 + 1e-5), (3 - 0.2) / std::sqrt(1.1 + 1e-5)});
  nn::BatchNormOptions cumulative;
  cumulative.momentum = std::nullopt;
  nn::BatchNorm2d averaging(1, cumulative);
  averaging(x);
  averaging(x + 2);
  expect_near(averaging.running_mean, {3});
  nn::BatchNormOptions plain;
  plain.affine = plain.track_running_stats = false;
  nn::BatchNorm2d without(1, plain);
  without.eval();
  EXPECT_TRUE(without.state_dict().empty());
  expect_near(without(x), {-1, 1}, 1e-4);
}

TEST(Nn, embedding_looks_up_and_pads) {
  nn::Embedding table(5, 3, -1);
  const Tensor rows = table(tensor({{0, 4}}));
  EXPECT_EQ(rows.shape(), (Shape{1, 2, 3}));
  expect_near(rows.index({0, 1}), {0, 0, 0});
  rows.sum().backward();
  EXPECT_EQ(table.weight.grad()[4].sum().item<double>(), 0);
  EXPECT_EQ(table.weight.grad()[0].sum().item<double>(), 3);
  EXPECT_THROW(nn::Embedding(5, 3, 5), InvalidValueError);
}

TEST(Nn, dropout_scales_and_only_trains) {
  manual_seed(0);
  nn::Dropout dropout(0.25);
  const Tensor x = ones({1000});
  const Tensor y = dropout(x);
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.1);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.75, 1e-6);
  dropout.eval();
  EXPECT_EQ(numbers(dropout(x)), numbers(x));
  EXPECT_THROW(nn::Dropout(1.5), InvalidValueError);
  EXPECT_THROW(nn::Dropout(std::nan("")), InvalidValueError);
}

TEST(Nn, initial_values_have_pytorchs_bounds) {
  manual_seed(0);
  const nn::Linear dense(100, 50);
  EXPECT_LE(dense.weight.abs().max().item<double>(), 0.1);
  EXPECT_GT(dense.weight.abs().max().item<double>(), 0.095);
  EXPECT_LE(dense.bias.abs().max().item<double>(), 0.1);
  const nn::Conv2d conv(4, 8, 5);
  EXPECT_LE(conv.weight.abs().max().item<double>(), 0.1);
  Tensor weight = zeros({200, 300});
  nn::init::xavier_uniform_(weight);
  EXPECT_NEAR(weight.abs().max().item<double>(), std::sqrt(6.0 / 500), 1e-3);
  nn::init::xavier_normal_(weight, 2);
  EXPECT_NEAR(weight.std().item<double>(), 2 * std::sqrt(2.0 / 500), 2e-3);
  nn::init::kaiming_normal_(weight, 0, nn::init::Mode::kFanOut, "relu");
  EXPECT_NEAR(weight.std().item<double>(), std::sqrt(2.0 / 200), 2e-3);
  nn::init::ones_(weight);
  EXPECT_EQ(weight.min().item<double>(), 1);
  nn::init::zeros_(weight);
  EXPECT_EQ(weight.max().item<double>(), 0);
  EXPECT_THROW(nn::init::calculate_gain("unknown"), InvalidValueError);
  Tensor flat = zeros({3});
  EXPECT_THROW(nn::init::kaiming_uniform_(flat), InvalidValueError);
}

TEST(Nn, losses) {
  const Tensor logits = tensor({{2.0, 0.0}, {0.0, 0.0}});
  const Tensor classes = tensor({0, 1});
  const double first = std::log(1 + std::exp(-2.0));
  nn::CrossEntropyLoss cross;
  expect_near(cross(logits, classes), {(first + std::log(2.0)) / 2});
  expect_near(nn::CrossEntropyLoss({}, -100, "none")(logits, classes), {first, std::log(2.0)});
  expect_near(nn::CrossEntropyLoss({}, 1, "sum")(logits, classes), {first});
  expect_near(nn::CrossEntropyLoss(tensor({1.0, 0.0}))(logits, classes), {first});
  expect_near(nn::NLLLoss()(log_softmax(logits), classes), {(first + std::log(2.0)) / 2});
  expect_near(nn::MSELoss("sum")(logits, zeros({2, 2})), {4});
  expect_near(nn::BCEWithLogitsLoss()(zeros({2}), ones({2})), {std::log(2.0)});
  expect_near(nn::BCEWithLogitsLoss({}, "mean", tensor({3.0, 3.0}))(zeros({2}), ones({2})),
              {3 * std::log(2.0)});
  EXPECT_THROW(nn::MSELoss("average"), InvalidValueError);
}

TEST(Nn, misfits_raise) {
  nn::ConvOptions options;
  options.groups = 3;
  EXPECT_THROW(nn::Conv2d(4, 6, 3, options), InvalidValueError);
  options.groups = 0;
  EXPECT_THROW(nn::Conv2d(4, 6, 3, options), InvalidValueError);
  EXPECT_THROW(nn::BatchNorm2d(3)(zeros({2, 3})), ShapeError);
  EXPECT_THROW(nn::Linear(3, 2)(zeros({2, 4})), ShapeError);
}

TEST(Nn, clip_norm_scales_all_tensors) {
  Tensor a = tensor({3.0});
  Tensor b = tensor({4.0});
  expect_near(clip_norm({a, b}, 1), {5});
  expect_near(a, {0.6}, 1e-5);
  expect_near(b, {0.8}, 1e-5);
  EXPECT_THROW(clip_norm({leaf({3})}, 1), AutogradError);
}

TEST(Nn, clip_grad_norm_of_parameters_leaves_their_values) {
  Tensor a = leaf({3});
  Tensor b = leaf({4});
  const Tensor frozen = ones({1});
  (a * 3 + b * 4).sum().backward();
  expect_near(nn::utils::clip_grad_norm_({a, frozen, b}, 1), {5});
  expect_near(a.grad(), {0.6}, 1e-5);
  expect_near(b.grad(), {0.8}, 1e-5);
  expect_near(a.detach(), {3});
  expect_near(nn::utils::clip_grad_norm_(frozen, 1), {0});
  expect_near(clip_grad_norm({a, b}, 0.5), {1});  // the same function under its C name
  expect_near(a.detach(), {3});
  EXPECT_THROW(nn::utils::clip_grad_norm_(a, -1), InvalidValueError);
}

TEST(Nn, clip_grad_norm_can_refuse_a_norm_that_is_not_finite) {
  const double endless = std::numeric_limits<double>::infinity();
  Tensor a = leaf({3});
  a.set_grad(full({1}, endless, kFloat64));
  EXPECT_THROW(nn::utils::clip_grad_norm_(a, 1, 2, true), InvalidValueError);
  EXPECT_EQ(a.grad().item<double>(), endless);
}

TEST(Nn, clip_grad_value_clips_each_element) {
  Tensor a = leaf({9, 9});
  a.set_grad(tensor({3.0, -8.0}, kFloat64));
  nn::utils::clip_grad_value_(a, 2);
  expect_near(a.grad(), {2, -2});
  expect_near(a.detach(), {9, 9});
}

}  // namespace
}  // namespace test_nn
