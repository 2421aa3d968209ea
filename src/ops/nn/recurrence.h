// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One layer of a recurrent network in one direction over a whole sequence, as one op of the graph.
#pragma once

#include <vector>

#include "kernel/recurrent.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// Note [Packed sequences]
// A batch of sequences is stored time step by time step: `data` (total, features) has the rows of
// all sequences at the first step, then those at the second, and so on. sizes[t] is the number of
// sequences that are longer than t. The longest sequence stands first, so the numbers never rise,
// and row b of a step belongs to sequence b. A padded batch (time, batch, features) is the case of
// equal numbers.
struct RecurrenceSpec {
  kernel::GatesOp op = kernel::GatesOp::kTanh;
  bool reverse = false;  // from the last step to the first
  std::vector<int64_t> sizes;
};

// The number of blocks of `hidden` rows that the weights have: 4 for an LSTM, 3 for a GRU, else 1.
int64_t weight_blocks(kernel::GatesOp op);

// What a recurrence reads. Row-major or not; all have one dtype, float32 or float64, and one
// device. c is of an LSTM only; biases and w_hr, the projection of an LSTM's output, may be
// undefined.
struct RecurrenceInputs {
  Tensor x;           // (total, features)
  Tensor h, c;        // (batch, outputs), (batch, hidden)
  Tensor w_ih, w_hh;  // (blocks hidden, features), (blocks hidden, outputs)
  Tensor b_ih, b_hh;  // (blocks hidden)
  Tensor w_hr;        // (outputs, hidden)
};
inline constexpr size_t kRecurrenceInputs = 8;

struct RecurrenceOutputs {
  Tensor y;     // (total, outputs)
  Tensor h, c;  // the state after the last step of each sequence
};

// Computes all steps with fused kernels and records one node.
RecurrenceOutputs recurrence(const RecurrenceSpec& spec, const RecurrenceInputs& inputs);
// The same out of ordinary ops, which record themselves: for derivatives of derivatives.
RecurrenceOutputs composed_recurrence(const RecurrenceSpec& spec, const RecurrenceInputs& inputs);

}  // namespace tsr::ops
