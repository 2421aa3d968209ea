// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: values by hand, agreement of networks and cells, states, packed batches, names.
#include <cmath>

#include "support.hpp"

namespace test_recurrent {

using namespace tessera;
using namespace tessera::test;

namespace {

void fill(const std::vector<Tensor>& tensors, double value) {
  const NoGradGuard no_grad;
  for (Tensor tensor : tensors) tensor.detach().fill_(value);
}

TEST(Recurrent, plain_network_sums_its_inputs) {
  nn::RecurrentOptions options;
  options.relu = true;
  options.bias = false;
  nn::RNN layer(1, 1, options);
  fill(layer.weights(), 1);
  const auto result = layer.run(ones({3, 1, 1}));
  expect_near(result.output, {1, 2, 3});
  EXPECT_EQ(result.h_n.shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(result.h_n.item<float>(), 3);
}

// A network of one layer is its cell, step by step.
template <class Layer, class Cell, class Step>
void expect_steps(Layer& layer, Cell& cell, const Step& step) {
  const NoGradGuard no_grad;
  cell.weight_ih = layer.weights()[0];
  cell.weight_hh = layer.weights()[1];
  cell.bias_ih = layer.weights()[2];
  cell.bias_hh = layer.weights()[3];
  const Tensor x = rand({4, 2, 3}, kFloat32, {}, Generator(1));
  const auto result = layer.run(x);
  std::vector<Tensor> state(2);
  for (int64_t t = 0; t < 4; ++t) {
    step(cell, x.index({t}), state);
    expect_near(result.output.index({t}), numbers(state[0]), 1e-5);
  }
  expect_same(result.h_n.index({0}), result.output.index({3}));
}

TEST(Recurrent, networks_agree_with_their_cells) {
  nn::GRU gru(3, 5);
  nn::GRUCell gru_cell(3, 5);
  const auto plain = [](auto& cell, const Tensor& x, std::vector<Tensor>& state) {
    state[0] = cell.run(x, state[0]);
  };
  expect_steps(gru, gru_cell, plain);
  nn::RNN rnn(3, 5);
  nn::RNNCell rnn_cell(3, 5);
  expect_steps(rnn, rnn_cell, plain);
  nn::LSTM lstm(3, 5);
  nn::LSTMCell lstm_cell(3, 5);
  expect_steps(lstm, lstm_cell, [](auto& cell, const Tensor& x, std::vector<Tensor>& state) {
    const auto next = cell.run(x, state[0], state[1]);
    state = {next.h, next.c};
  });
}

TEST(Recurrent, layers_directions_and_projections_have_pytorchs_names_and_shapes) {
  nn::RecurrentOptions options;
  options.num_layers = 2;
  options.bidirectional = true;
  options.batch_first = true;
  options.proj_size = 2;
  nn::LSTM layer(3, 4, options);
  const auto named = layer.named_parameters();
  ASSERT_EQ(named.size(), 20U);
  EXPECT_EQ(named[0].first, "weight_ih_l0");
  EXPECT_EQ(named[4].first, "weight_hr_l0");
  EXPECT_EQ(named[5].first, "weight_ih_l0_reverse");
  EXPECT_EQ(named[10].second.shape(), (Shape{16, 4}));
  const auto result = layer.run(ones({5, 7, 3}));
  EXPECT_EQ(result.output.shape(), (Shape{5, 7, 4}));
  EXPECT_EQ(result.h_n.shape(), (Shape{4, 5, 2}));
  EXPECT_EQ(result.c_n.shape(), (Shape{4, 5, 4}));
  result.output.sum().backward();
  EXPECT_TRUE(named[19].second.grad().defined());
}

TEST(Recurrent, packed_batch_gives_what_each_sequence_gives_alone) {
  const NoGradGuard no_grad;
  nn::GRU layer(1, 3);
  const Tensor packed = tensor({1, 4, 2, 3}, kFloat32);  // the sequences 1 2 3 and 4
  const auto both = layer.run(packed.reshape({4, 1}), {}, {2, 1, 1});
  const auto longer = layer.run(tensor({1, 2, 3}, kFloat32).reshape({3, 1}));
  const auto shorter = layer.run(tensor({4}, kFloat32).reshape({1, 1}));
  expect_near(both.h_n.index({0, 0}), numbers(longer.h_n.index({0})));
  expect_near(both.h_n.index({0, 1}), numbers(shorter.h_n.index({0})));
}

TEST(Recurrent, wrong_options_throw) {
  nn::RecurrentOptions options;
  options.proj_size = 2;
  EXPECT_THROW(nn::GRU(3, 4, options), InvalidValueError);
  EXPECT_THROW(nn::LSTM(3, 2, options), InvalidValueError);
  EXPECT_THROW(nn::LSTM(3, 0), InvalidValueError);
  options = {};
  options.relu = true;
  EXPECT_THROW(nn::GRU(3, 4, options), InvalidValueError);
  EXPECT_THROW(nn::LSTM(3, 4, options), InvalidValueError);
  options = {};
  options.dropout = 2;
  EXPECT_THROW(nn::RNN(3, 4, options), InvalidValueError);
}

TEST(Recurrent, ctc_loss_sums_over_paths) {
  // Two steps, one label: the paths aa, _a and a_.
  const Tensor x = full({2, 1, 2}, std::log(0.5));
  nn::CTCLoss loss;
  const Tensor one = ones({1}, kInt64);
  EXPECT_NEAR(loss.forward(x, one, one * 2, one).item<float>(), -std::log(0.75), 1e-6);
}

}  // namespace
}  // namespace test_recurrent
