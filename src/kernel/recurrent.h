// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent family: the gates of recurrent networks at one time step, and the loss of alignments
// (connectionist temporal classification).
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

enum class GatesOp : int32_t { kTanh, kRelu, kLstm, kGru, kCount };

// How many numbers per hidden unit a row of `gates` has; of `grad_gates` a GRU has one less.
constexpr int64_t gates_width(GatesOp op) {
  return op == GatesOp::kLstm || op == GatesOp::kGru ? 4 : 1;
}

// One time step of a recurrent layer, elementwise in `rows` rows of `hidden` units. All tensors are
// of `dtype`, float32 or float64, and row-major without gaps, but the rows of y and grad_y are
// y_step elements apart. A row of `gates` has the blocks i f g o (LSTM) or r z n m (GRU), each of
// `hidden` numbers, or the one block of a plain network.
//
// Forward. `gates` holds the products of the layer's input, and for all but the GRU also those of
// the state; the GRU reads the latter from `product` (blocks r z n) and leaves its part of n in m.
// `bias` (null: zeros) has the blocks of a row of gates. The step writes the activated gates over
// `gates`, and the new state to h, c (LSTM) and y. The state of before, which the backward needs,
// goes to h_before and c_before. Each of h, y, h_before and c_before may be null; a GRU needs h.
//
// Backward. Reads gates, c_before (LSTM), h_before (GRU), and the gradient of
// the new state, grad_y + grad_h (either may be null), with that of c in grad_c. Writes grad_gates:
// the gradients of `gates` before the step, for the GRU without block m, and for it also
// grad_product, those of `product`. grad_c becomes the gradient of the old c. A GRU changes grad_h
// to the part of the old state's gradient that does not pass through the gates.
struct GatesPlan {
  GatesOp op;
  int32_t backward;
  int64_t rows, hidden;
  int64_t y_step;
  Place place;
  DType dtype;
  void* gates;
  const void* product;
  const void* bias;
  void* h;
  void* c;
  void* y;
  void* h_before;
  void* c_before;
  const void* grad_y;
  void* grad_h;
  void* grad_c;
  void* grad_gates;
  void* grad_product;
};
inline const char* name_of(const GatesPlan& plan) noexcept {
  if (plan.backward != 0)
    return name_in({"rnn_tanh_backward", "rnn_relu_backward", "lstm_backward", "gru_backward"},
                   plan.op);
  return name_in({"rnn_tanh_step", "rnn_relu_step", "lstm_step", "gru_step"}, plan.op);
}

// The loss of alignments of Graves et al., Connectionist Temporal Classification (2006): -log p of
// a label sequence, summed over all paths that become the sequence when repeated labels are merged
// and blanks removed. log_probs is row-major (time, batch, classes). Sequence b has
// input_lengths[b] time steps and the labels targets[target_starts[b] + j] for j below
// target_lengths[b], all within the classes. There is a blank between two labels and at both ends,
// so it has 2 target_lengths[b] + 1 states. `alpha` is row-major (batch, time, states): the log of
// the probability of all paths up to time t that end in state s.
// Forward writes alpha, total and loss (batch); an infinite loss becomes 0 with `zero_infinity`.
// Backward reads alpha, `grad` (batch) and `total` (batch), the loss before zero_infinity, uses
// `work` (batch, 3, states), and writes all of grad_input: -grad times the probability that a path
// is in a state of the class at that time; 0 after the end of a sequence and, with zero_infinity,
// where the total is infinite.
struct AlignLossPlan {
  int32_t backward;
  int32_t zero_infinity;
  int64_t time, batch, classes, states;
  int64_t blank;
  Place place;
  DType dtype;  // float32 or float64
  const void* log_probs;
  const int64_t* targets;
  const int64_t* target_starts;
  const int64_t* target_lengths;
  const int64_t* input_lengths;
  void* alpha;
  void* total;
  void* loss;
  void* work;
  const void* grad;
  void* grad_input;
};

}  // namespace tsr::kernel
