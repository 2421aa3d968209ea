// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Whole recurrent networks: checks the arguments and joins recurrences to layers.
#include "ops/nn/recurrent.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/nn/dropout.h"
#include "ops/nn/recurrence.h"
#include "ops/nn/recurrent_checks.h"
#include "ops/opmath.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::GatesOp;

struct NetworkOptions {
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional, batch_first;
  std::optional<DimsView> batch_sizes;
  Generator* generator;

  [[nodiscard]] int64_t directions() const { return bidirectional ? 2 : 1; }
};

// The arguments of a network as the recurrences take them, in opmath.
struct Network {
  RecurrenceSpec spec;
  std::vector<RecurrenceInputs> parts;  // per layer and direction; x and states are set later
  Tensor x;                             // packed
  Tensor h, c;                          // (parts, batch, outputs); undefined: zeros
  int64_t batch = 0, hidden = 0, outputs = 0;
  bool packed = false, single = false;
};

void check_options(const Tensor& input, const NetworkOptions& options) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(options.layers >= 1, Code::kValue, "num_layers", "expected at least 1, got ",
            options.layers);
  TSR_CHECK(options.dropout >= 0 && options.dropout <= 1, Code::kValue, "dropout",
            "expected a probability between 0 and 1, got ", options.dropout);
}

// Sets the steps, the batch and the packed input.
void set_steps(Network& net, const Tensor& input, const NetworkOptions& options) {
  if (options.batch_sizes) {
    net.packed = true;
    TSR_CHECK(input.ndim() == 2, Code::kShape, "input",
              "expected (total, features) for a packed batch, got shape ", input.sizes());
    net.spec.sizes.assign(options.batch_sizes->begin(), options.batch_sizes->end());
    check_batch_sizes(net.spec.sizes, input);
    net.batch = net.spec.sizes.front();
    net.x = in_opmath(input);
    return;
  }
  TSR_CHECK(input.ndim() == 2 || input.ndim() == 3, Code::kShape, "input",
            "expected (time, batch, features) or (time, features), got shape ", input.sizes());
  net.single = input.ndim() == 2;
  Tensor x = net.single ? expand_dims(input, 1) : input;
  if (options.batch_first && !net.single) x = transpose(x, 0, 1);
  TSR_CHECK(x.size(0) >= 1, Code::kShape, "input", "expected at least 1 time step, got shape ",
            input.sizes());
  net.batch = x.size(1);
  net.spec.sizes.assign(static_cast<size_t>(x.size(0)), net.batch);
  net.x = reshape(in_opmath(x), Dims{x.size(0) * net.batch, x.size(2)});
}

// Sets the parameters of each layer and direction, whose shapes must follow from each other.
void set_parameters(Network& net, const Tensor& input, std::span<const Tensor> params,
                    const NetworkOptions& options) {
  const auto given_count = static_cast<int64_t>(params.size());
  TSR_CHECK(options.layers <= given_count, Code::kValue, "params",
            "expected at least 2 tensors for each of ", options.layers, " layers, got ",
            given_count);
  const auto count = static_cast<size_t>(options.layers * options.directions());
  const size_t plain = options.has_biases ? 4 : 2;
  const bool projected = net.spec.op == GatesOp::kLstm && params.size() == count * (plain + 1);
  const size_t each = plain + (projected ? 1 : 0);
  TSR_CHECK(params.size() == count * each, Code::kValue, "params", "expected ", plain,
            " tensors for each of ", count, " layers and directions, got ", params.size());
  for (const Tensor& tensor : params) check_like(tensor, "params", input);
  TSR_CHECK(params[0].ndim() == 2, Code::kShape, "params",
            "expected matrices of weights, got shape ", params[0].sizes());
  net.hidden = params[0].size(0) / weight_blocks(net.spec.op);
  net.outputs = projected ? params[each - 1].size(0) : net.hidden;
  int64_t features = input.size(input.ndim() - 1);
  for (size_t i = 0; i < count; ++i) {
    if (i == static_cast<size_t>(options.directions()))
      features = options.directions() * net.outputs;
    const auto given = params.subspan(i * each, each);
    RecurrenceInputs part;
    part.w_ih = given[0];
    part.w_hh = given[1];
    if (options.has_biases) {
      part.b_ih = given[2];
      part.b_hh = given[3];
    }
    if (projected) part.w_hr = given[plain];
    check_weights(net.spec.op, part, "params", features, net.hidden, net.outputs);
    net.parts.push_back(in_opmath(part));
  }
}

Tensor checked_state(const Network& net, const Tensor& state, const Tensor& input, int64_t units) {
  if (!state.defined()) return state;
  check_like(state, "hx", input);
  Dims shape{static_cast<int64_t>(net.parts.size())};
  if (!net.single) shape.push_back(net.batch);
  shape.push_back(units);
  TSR_CHECK(state.sizes() == shape, Code::kShape, "hx", "expected shape ", shape,
            " for an input of shape ", input.sizes(), ", got ", state.sizes());
  return in_opmath(net.single ? expand_dims(state, 1) : state);
}

Network network_of(GatesOp op, const Tensor& input, const Tensor& h, const Tensor& c,
                   std::span<const Tensor> params, const NetworkOptions& options) {
  check_options(input, options);
  Network net;
  net.spec.op = op;
  set_steps(net, input, options);
  set_parameters(net, input, params, options);
  net.h = checked_state(net, h, input, net.outputs);
  net.c = checked_state(net, c, input, net.hidden);
  return net;
}

Tensor first_state(const Network& net, const Tensor& states, size_t part, int64_t units) {
  if (states.defined()) return select(states, 0, static_cast<int64_t>(part));
  return zeros(Dims{net.batch, units}, net.x.dtype(), net.x.device());
}

// The outputs of all layers; appends the last states.
Tensor run_layers(Network& net, const NetworkOptions& options, std::vector<Tensor>& h,
                  std::vector<Tensor>& c) {
  const auto directions = static_cast<size_t>(options.directions());
  Tensor x = net.x;
  for (size_t first = 0; first < net.parts.size(); first += directions) {
    if (first != 0 && options.dropout > 0)
      x = dropout(x, options.dropout, options.train, options.generator);
    std::vector<Tensor> outputs;
    for (size_t i = first; i < first + directions; ++i) {
      RecurrenceInputs& part = net.parts[i];
      part.x = x;
      part.h = first_state(net, net.h, i, net.outputs);
      if (net.spec.op == GatesOp::kLstm) part.c = first_state(net, net.c, i, net.hidden);
      net.spec.reverse = i != first;
      RecurrenceOutputs out = recurrence(net.spec, part);
      outputs.push_back(out.y);
      h.push_back(out.h);
      if (out.c.defined()) c.push_back(out.c);
    }
    x = directions == 1 ? outputs[0] : ops::concat(outputs, 1);
  }
  return x;
}

struct NetworkOutputs {
  Tensor y, h, c;
};

NetworkOutputs run(GatesOp op, const Tensor& input, const Tensor& h0, const Tensor& c0,
                   std::span<const Tensor> params, const NetworkOptions& options) {
  Network net = network_of(op, input, h0, c0, params, options);
  std::vector<Tensor> h;
  std::vector<Tensor> c;
  Tensor y = run_layers(net, options, h, c);
  if (!net.packed) {
    const auto steps = static_cast<int64_t>(net.spec.sizes.size());
    y = net.single ? y : reshape(y, Dims{steps, net.batch, y.size(1)});
    if (options.batch_first && !net.single) y = transpose(y, 0, 1);
  }
  const auto joined = [&](const std::vector<Tensor>& states) {
    if (states.empty()) return Tensor();
    const Tensor all = net.single ? ops::concat(states, 0) : stack(states);
    return astype(all, input.dtype());
  };
  return {astype(y, input.dtype()), joined(h), joined(c)};
}

std::tuple<Tensor, Tensor> run_plain(GatesOp op, const Tensor& input, const Tensor& hx,
                                     std::span<const Tensor> params,
                                     const NetworkOptions& options) {
  NetworkOutputs out = run(op, input, hx, {}, params, options);
  return {out.y, out.h};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, std::span<const Tensor> hx,
                                        std::span<const Tensor> params, bool has_biases,
                                        int64_t num_layers, double dropout, bool train,
                                        bool bidirectional, bool batch_first,
                                        std::optional<DimsView> batch_sizes, Generator* generator) {
  TSR_CHECK(hx.empty() || hx.size() == 2, Code::kValue, "hx",
            "expected the two states h and c or none, got ", hx.size(), " tensors");
  const Tensor none;
  NetworkOutputs out = run(
      GatesOp::kLstm, input, hx.empty() ? none : hx[0], hx.empty() ? none : hx[1], params,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes, generator});
  return {out.y, out.h, out.c};
}

std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx,
                               std::span<const Tensor> params, bool has_biases, int64_t num_layers,
                               double dropout, bool train, bool bidirectional, bool batch_first,
                               std::optional<DimsView> batch_sizes, Generator* generator) {
  return run_plain(
      GatesOp::kGru, input, hx, params,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes, generator});
}

std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx,
                                    std::span<const Tensor> params, bool has_biases,
                                    int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first,
                                    std::optional<DimsView> batch_sizes, Generator* generator) {
  return run_plain(
      GatesOp::kTanh, input, hx, params,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes, generator});
}

std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx,
                                    std::span<const Tensor> params, bool has_biases,
                                    int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first,
                                    std::optional<DimsView> batch_sizes, Generator* generator) {
  return run_plain(
      GatesOp::kRelu, input, hx, params,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes, generator});
}

}  // namespace tsr::ops
