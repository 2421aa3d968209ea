// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Collectives that return new tensors and have derivatives, which are collectives themselves.
#pragma once

#include "dist/collectives.h"

namespace tsr::dist::functional {

// Note [Derivatives between ranks]
// The ranks' losses are added up: the derivative is that of the sum of all of them. The derivative
// of a collective is a collective, so every rank must run its backward if one does. Therefore a
// result requires grad on all ranks if the input of one rank does; with grad mode on, ranks tell
// each other so while the data move. Grad mode must be equal on all ranks. A rank whose loss does
// not depend on a result leaves the others waiting in their backward. In the same way a result has
// a tangent on all ranks if the input of one does; all must have as many open levels.
//
// All wait for the results. Errors are those of the operations of Group.

// Any ReduceOp; those of bits have no derivative. Of equal extremes each gets the same share.
Tensor all_reduce(const GroupPtr& group, const Tensor& input, ReduceOp op);
// Zeros elsewhere than at the root. Sum or average; throws kNotImplemented for other operations on
// inputs that require grad.
Tensor reduce(const GroupPtr& group, const Tensor& input, ReduceOp op, int32_t root);
// The input of the root. The others' tell shape and dtype.
Tensor broadcast(const GroupPtr& group, const Tensor& input, int32_t root);
// The ranks' inputs behind each other along axis 0. Throws kShape for a scalar.
Tensor all_gather(const GroupPtr& group, const Tensor& input);
// This rank's part of the reduced inputs, along axis 0.
Tensor reduce_scatter(const GroupPtr& group, const Tensor& input, ReduceOp op);
// Parts along axis 0: `input_splits` has the rows for each rank, absent: equal parts;
// `output_splits` the rows from each rank, absent: what the ranks tell each other if `input_splits`
// is given, else equal parts.
Tensor all_to_all(const GroupPtr& group, const Tensor& input,
                  std::optional<std::span<const int64_t>> output_splits,
                  std::optional<std::span<const int64_t>> input_splits);
// A 0-dim zero that stands for the message: the gradient comes when a backward reaches it, so it is
// to be added to the loss. Does not wait for the receiver; several messages between two ranks need
// tags of their own.
Tensor send(const GroupPtr& group, const Tensor& input, int32_t peer, int32_t tag);
// A new tensor like `like`. `requires_grad`: the sender's tensor does, and waits for the gradient.
Tensor recv(const GroupPtr& group, const Tensor& like, int32_t peer, int32_t tag,
            bool requires_grad);

}  // namespace tsr::dist::functional
