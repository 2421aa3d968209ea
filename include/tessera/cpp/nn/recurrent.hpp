// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells; defaults, names and initial values are the same as in the Python
// package.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/nn/init.hpp"
#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;  // between two layers, in training
  bool bidirectional = false;
  std::optional<DType> dtype = std::nullopt;
  // LSTM only: projects the outputs to this many numbers; 0: no projection.
  int64_t proj_size = 0;
  // RNN only: relu in place of tanh.
  bool relu = false;
};

// The outputs of the last layer at all time steps, and the last state of every layer and direction.
struct RecurrentResult {
  Tensor output, h_n;
};

namespace detail {

inline void init_recurrent(Tensor& parameter, int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  init::uniform_(parameter, -bound, bound);
}

// Base class of the networks. Layer k has weight_ih_lk (blocks hidden_size, features),
// weight_hh_lk, bias_ih_lk and bias_hh_lk; with `bidirectional` also those with the suffix
// _reverse.
class Recurrent : public Module {
 public:
  // The parameters, layer by layer and direction by direction.
  const std::vector<Tensor>& weights() const noexcept { return weights_; }

 protected:
  Recurrent(int64_t blocks, int64_t input_size, int64_t hidden_size, const RecurrentOptions& given)
      : options_(given), hidden_size_(hidden_size) {
    check();
    const std::vector<std::string> suffixes = given.bidirectional
                                                  ? std::vector<std::string>{"", "_reverse"}
                                                  : std::vector<std::string>{""};
    weights_.reserve(static_cast<size_t>(rows()) * 5);  // registered tensors stay where they are
    for (int64_t layer = 0; layer < given.num_layers; ++layer) {
      const int64_t features = layer == 0 ? input_size : directions() * outputs();
      for (const std::string& suffix : suffixes) {
        add("weight_ih", layer, suffix, {blocks * hidden_size, features});
        add("weight_hh", layer, suffix, {blocks * hidden_size, outputs()});
        if (given.bias) add("bias_ih", layer, suffix, {blocks * hidden_size});
        if (given.bias) add("bias_hh", layer, suffix, {blocks * hidden_size});
        if (given.proj_size > 0) add("weight_hr", layer, suffix, {given.proj_size, hidden_size});
      }
    }
  }

  const RecurrentOptions& options() const noexcept { return options_; }
  // The state of zeros for an input: (layers directions, batch, hidden), without a batch for one
  // sequence.
  Tensor zero_state(const Tensor& input, const OptionalIntList& batch_sizes) const {
    const bool packed = batch_sizes.size() > 0;
    if (!packed && input.ndim() < 3) {
      return zeros({rows(), hidden_size_}, input.dtype(), input.device());
    }
    const int64_t batch = packed ? batch_sizes.data()[0] : input.size(options_.batch_first ? 0 : 1);
    return zeros({rows(), batch, hidden_size_}, input.dtype(), input.device());
  }
  // Calls an op of the form of gru.
  template <class Op>
  RecurrentResult call(const Op& op, const Tensor& input, const Tensor& hx,
                       const OptionalIntList& batch_sizes) const {
    const Tensor first = hx.defined() ? hx : zero_state(input, batch_sizes);
    auto result =
        op(input, first, weights_, options_.bias, options_.num_layers, options_.dropout,
           is_training(), options_.bidirectional, options_.batch_first, batch_sizes, Generator());
    return {result.output, result.h_n};
  }

 private:
  int64_t directions() const noexcept { return options_.bidirectional ? 2 : 1; }
  int64_t rows() const noexcept { return options_.num_layers * directions(); }
  int64_t outputs() const noexcept {
    return options_.proj_size > 0 ? options_.proj_size : hidden_size_;
  }

  void check() const {
    if (hidden_size_ < 1 || options_.num_layers < 1) {
      throw InvalidValueError("expected hidden_size and num_layers of at least 1, got " +
                              std::to_string(hidden_size_) + " and " +
                              std::to_string(options_.num_layers));
    }
    if (!(options_.dropout >= 0 && options_.dropout <= 1)) {
      throw InvalidValueError("dropout: expected a probability between 0 and 1, got " +
                              std::to_string(options_.dropout));
    }
    if (options_.proj_size < 0 || options_.proj_size >= hidden_size_) {
      throw InvalidValueError("proj_size: expected a number from 0 to " +
                              std::to_string(hidden_size_ - 1) + ", got " +
                              std::to_string(options_.proj_size));
    }
  }

  void add(const char* name, int64_t layer, const std::string& suffix, const IntList& sizes) {
    weights_.push_back(empty(sizes, options_.dtype));
    register_parameter(std::string(name) + "_l" + std::to_string(layer) + suffix, weights_.back());
    init_recurrent(weights_.back(), hidden_size_);
  }

  RecurrentOptions options_;
  int64_t hidden_size_;
  std::vector<Tensor> weights_;
};

// Base class of the cells, which compute one time step.
class Cell : public Module {
 public:
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  Cell(int64_t blocks, int64_t input_size, int64_t hidden_size, bool bias,
       std::optional<DType> dtype)
      : weight_ih(empty({blocks * hidden_size, input_size}, dtype)),
        weight_hh(empty({blocks * hidden_size, hidden_size}, dtype)),
        hidden_size_(hidden_size) {
    if (bias) bias_ih = empty({blocks * hidden_size}, dtype);
    if (bias) bias_hh = empty({blocks * hidden_size}, dtype);
    register_parameter("weight_ih", weight_ih);
    register_parameter("weight_hh", weight_hh);
    register_parameter("bias_ih", bias_ih);
    register_parameter("bias_hh", bias_hh);
    for (Tensor* parameter : {&weight_ih, &weight_hh, &bias_ih, &bias_hh}) {
      if (parameter->defined()) init_recurrent(*parameter, hidden_size);
    }
  }
  Tensor zero_state(const Tensor& input) const {
    if (input.ndim() == 1) return zeros({hidden_size_}, input.dtype(), input.device());
    return zeros({input.size(0), hidden_size_}, input.dtype(), input.device());
  }
  Tensor state_or_zeros(const Tensor& state, const Tensor& input) const {
    return state.defined() ? state : zero_state(input);
  }

 private:
  int64_t hidden_size_;
};

}  // namespace detail

// In all networks: forward(input) returns the outputs alone, run(input, state) also the last state.
// The input is (time, batch, input_size), with batch_first (batch, time, input_size), or (time,
// input_size) for one sequence; with batch_sizes it is packed. An undefined state is zeros.

// h = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or relu in place of tanh.
class RNN : public detail::Recurrent {
 public:
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& given = {})
      : Recurrent(1, input_size, hidden_size, given) {
    if (given.proj_size != 0) throw InvalidValueError("RNN: expected no option proj_size");
  }
  RecurrentResult run(const Tensor& input, const Tensor& hx = {},
                      const OptionalIntList& batch_sizes = std::nullopt) {
    if (options().relu) {
      return call([](const auto&... given) { return rnn_relu(given...); }, input, hx, batch_sizes);
    }
    return call([](const auto&... given) { return rnn_tanh(given...); }, input, hx, batch_sizes);
  }
  Tensor forward(const Tensor& input) override { return run(input).output; }
};

// Gated recurrent units, blocks r z n.
class GRU : public detail::Recurrent {
 public:
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& given = {})
      : Recurrent(3, input_size, hidden_size, given) {
    if (given.proj_size != 0) throw InvalidValueError("GRU: expected no option proj_size");
    if (given.relu) throw InvalidValueError("GRU: expected no option relu");
  }
  RecurrentResult run(const Tensor& input, const Tensor& hx = {},
                      const OptionalIntList& batch_sizes = std::nullopt) {
    return call([](const auto&... given) { return gru(given...); }, input, hx, batch_sizes);
  }
  Tensor forward(const Tensor& input) override { return run(input).output; }
};

// Long short-term memory, blocks i f g o. hx is empty or {h, c}. With proj_size, weight_hr_lk
// (proj_size, hidden_size) projects h.
class LSTM : public detail::Recurrent {
 public:
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& given = {})
      : Recurrent(4, input_size, hidden_size, given) {
    if (given.relu) throw InvalidValueError("LSTM: expected no option relu");
  }
  LstmResult run(const Tensor& input, const TensorList& hx = {},
                 const OptionalIntList& batch_sizes = std::nullopt) {
    return lstm(input, hx, weights(), options().bias, options().num_layers, options().dropout,
                is_training(), options().bidirectional, options().batch_first, batch_sizes);
  }
  Tensor forward(const Tensor& input) override { return run(input).output; }
};

// One step of RNN: input (batch, input_size) or (input_size), state (batch, hidden_size) or
// (hidden_size); an undefined state is zeros.
class RNNCell : public detail::Cell {
 public:
  RNNCell(int64_t input_size, int64_t hidden_size, bool bias = true, bool relu = false,
          std::optional<DType> dtype = std::nullopt)
      : Cell(1, input_size, hidden_size, bias, dtype), relu_(relu) {}
  Tensor run(const Tensor& input, const Tensor& hx = {}) {
    const Tensor state = state_or_zeros(hx, input);
    return relu_ ? rnn_relu_cell(input, state, weight_ih, weight_hh, bias_ih, bias_hh)
                 : rnn_tanh_cell(input, state, weight_ih, weight_hh, bias_ih, bias_hh);
  }
  Tensor forward(const Tensor& input) override { return run(input); }

 private:
  bool relu_;
};

// One step of GRU.
class GRUCell : public detail::Cell {
 public:
  GRUCell(int64_t input_size, int64_t hidden_size, bool bias = true,
          std::optional<DType> dtype = std::nullopt)
      : Cell(3, input_size, hidden_size, bias, dtype) {}
  Tensor run(const Tensor& input, const Tensor& hx = {}) {
    return gru_cell(input, state_or_zeros(hx, input), weight_ih, weight_hh, bias_ih, bias_hh);
  }
  Tensor forward(const Tensor& input) override { return run(input); }
};

// One step of LSTM.
class LSTMCell : public detail::Cell {
 public:
  LSTMCell(int64_t input_size, int64_t hidden_size, bool bias = true,
           std::optional<DType> dtype = std::nullopt)
      : Cell(4, input_size, hidden_size, bias, dtype) {}
  LstmCellResult run(const Tensor& input, const Tensor& h = {}, const Tensor& c = {}) {
    return lstm_cell(input, {state_or_zeros(h, input), state_or_zeros(c, input)}, weight_ih,
                     weight_hh, bias_ih, bias_hh);
  }
  Tensor forward(const Tensor& input) override { return run(input).h; }
};

// Connectionist temporal classification of log-probabilities (time, batch, classes).
class CTCLoss : public Module {
 public:
  explicit CTCLoss(int64_t blank = 0, std::string reduction = "mean", bool zero_infinity = false)
      : reduction_(std::move(reduction)), blank_(blank), zero_infinity_(zero_infinity) {}
  using Module::forward;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths) {
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank_, reduction_,
                    zero_infinity_);
  }

 private:
  std::string reduction_;
  int64_t blank_;
  bool zero_infinity_;
};

}  // namespace tessera::nn
