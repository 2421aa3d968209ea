// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A recurrence out of ordinary ops, the formulas of backend/common/gate_step.h once more for
// derivatives of derivatives.
#include "ops/linalg/linalg.h"
#include "ops/nn/recurrence.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::GatesOp;

struct State {
  Tensor h, c;
};

Tensor block(const Tensor& gates, int64_t index, int64_t hidden) {
  return narrow(gates, 1, index * hidden, hidden);
}

// One step from the products of the input and of the state.
State step(GatesOp op, const Tensor& x, const Tensor& p, const State& before, const Tensor& w_hr) {
  switch (op) {
    case GatesOp::kTanh:
      return {tanh(add(x, p)), {}};
    case GatesOp::kRelu:
      return {relu(add(x, p)), {}};
    case GatesOp::kLstm: {
      const int64_t n = x.size(1) / 4;
      const Tensor all = add(x, p);
      const Tensor kept = multiply(sigmoid(block(all, 1, n)), before.c);
      const Tensor c = add(kept, multiply(sigmoid(block(all, 0, n)), tanh(block(all, 2, n))));
      const Tensor h = multiply(sigmoid(block(all, 3, n)), tanh(c));
      return {w_hr.defined() ? linear(h, w_hr, {}) : h, c};
    }
    default: {
      const int64_t n = x.size(1) / 3;
      const Tensor r = sigmoid(add(block(x, 0, n), block(p, 0, n)));
      const Tensor z = sigmoid(add(block(x, 1, n), block(p, 1, n)));
      const Tensor candidate = tanh(add(block(x, 2, n), multiply(r, block(p, 2, n))));
      return {add(candidate, multiply(z, subtract(before.h, candidate))), {}};
    }
  }
}

// The first rows of a state.
State head(const State& state, int64_t rows) {
  if (rows == state.h.size(0)) return state;
  return {narrow(state.h, 0, 0, rows), state.c.defined() ? narrow(state.c, 0, 0, rows) : state.c};
}

// `state` with its first rows replaced.
Tensor with_head(const Tensor& state, const Tensor& rows) {
  const int64_t count = rows.size(0);
  if (count == state.size(0)) return rows;
  const Tensor parts[] = {rows, narrow(state, 0, count, state.size(0) - count)};
  return ops::concat(parts, 0);
}

}  // namespace

RecurrenceOutputs composed_recurrence(const RecurrenceSpec& spec, const RecurrenceInputs& in) {
  const Tensor x = linear(in.x, in.w_ih, in.b_ih);
  const auto steps = spec.sizes.size();
  std::vector<int64_t> starts(steps, 0);
  for (size_t t = 1; t < steps; ++t) starts[t] = starts[t - 1] + spec.sizes[t - 1];
  std::vector<Tensor> outputs(steps);
  State state{in.h, in.c};
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = spec.reverse ? steps - 1 - i : i;
    const State before = head(state, spec.sizes[t]);
    const State now = step(spec.op, narrow(x, 0, starts[t], spec.sizes[t]),
                           linear(before.h, in.w_hh, in.b_hh), before, in.w_hr);
    outputs[t] = now.h;
    state.h = with_head(state.h, now.h);
    if (now.c.defined()) state.c = with_head(state.c, now.c);
  }
  return {ops::concat(outputs, 0), state.h, state.c};
}

}  // namespace tsr::ops
