// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Collectives that return new tensors and have derivatives, which are collectives themselves: the
// derivative is that of the sum of all ranks' losses. They wait for their results. A result
// requires grad on all ranks if the input of one rank does; the backward must then run on every
// rank, and grad mode must be equal on all.
#pragma once

#include "tessera/cpp/dist.hpp"

namespace tessera::distributed::functional {

namespace detail {
inline int32_t count_of(const std::optional<std::vector<int64_t>>& splits) {
  return splits ? static_cast<int32_t>(splits->size()) : -1;
}
template <class Function, class... Args>
Tensor made(Function function, Args... args) {
  tsr_tensor out = nullptr;
  check(function(args..., &out));
  return Tensor::take(out);
}
}  // namespace detail

inline Tensor all_reduce(const Group& group, const Tensor& input, ReduceOp op = ReduceOp::Sum) {
  return detail::made(tsr_collective_all_reduce, group.handle(), input.handle(),
                      static_cast<tsr_reduce_op>(op));
}
// Zeros elsewhere than at the root. Sum or Avg, where an input requires grad.
inline Tensor reduce(const Group& group, const Tensor& input, int64_t root,
                     ReduceOp op = ReduceOp::Sum) {
  return detail::made(tsr_collective_reduce, group.handle(), input.handle(),
                      static_cast<tsr_reduce_op>(op), root);
}
// The root's input; the others' tell shape and dtype.
inline Tensor broadcast(const Group& group, const Tensor& input, int64_t root) {
  return detail::made(tsr_collective_broadcast, group.handle(), input.handle(), root);
}
// The ranks' inputs behind each other along axis 0.
inline Tensor all_gather(const Group& group, const Tensor& input) {
  return detail::made(tsr_collective_all_gather, group.handle(), input.handle());
}
// This rank's part of the reduced inputs, along axis 0.
inline Tensor reduce_scatter(const Group& group, const Tensor& input, ReduceOp op = ReduceOp::Sum) {
  return detail::made(tsr_collective_reduce_scatter, group.handle(), input.handle(),
                      static_cast<tsr_reduce_op>(op));
}
// Parts along axis 0. Without `input_splits` they are equal; without `output_splits` the ranks tell
// each other.
inline Tensor all_to_all(const Group& group, const Tensor& input,
                         const std::optional<std::vector<int64_t>>& output_splits = {},
                         const std::optional<std::vector<int64_t>>& input_splits = {}) {
  return detail::made(
      tsr_collective_all_to_all, group.handle(), input.handle(),
      output_splits ? output_splits->data() : nullptr, detail::count_of(output_splits),
      input_splits ? input_splits->data() : nullptr, detail::count_of(input_splits));
}
// A 0-dim zero that stands for the message, to be added to the loss: a backward that reaches it
// waits for the gradient. Several messages between two ranks need tags of their own.
inline Tensor send(const Group& group, const Tensor& input, int64_t peer, int64_t tag = 0) {
  return detail::made(tsr_collective_send, group.handle(), input.handle(), peer, tag);
}
// A new tensor like `like`, with what `peer` sends. `requires_grad`: its tensor requires grad.
inline Tensor recv(const Group& group, const Tensor& like, int64_t peer, int64_t tag = 0,
                   bool requires_grad = true) {
  return detail::made(tsr_collective_recv, group.handle(), like.handle(), peer, tag,
                      static_cast<int32_t>(requires_grad));
}

}  // namespace tessera::distributed::functional
