// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Checkpoints: calls that save only their arguments; the backward runs them again.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"

namespace tessera {

struct CheckpointOptions {
  // The second run gets the random numbers of the first.
  bool preserve_random = true;
  // The second run ends when it has computed the last tensor that is needed, by a CancelledError
  // that passes through the function.
  bool early_stop = true;
  // The two runs must save tensors of the same number, sizes, dtypes and devices.
  bool check = true;
};

namespace detail {

// Takes off the hooks of a first run.
struct CheckpointEnd {
  CheckpointEnd() = default;
  CheckpointEnd(const CheckpointEnd&) = delete;
  CheckpointEnd& operator=(const CheckpointEnd&) = delete;
  ~CheckpointEnd() { ignore(tsr_saved_hooks_pop()); }
};

template <class Function>
tsr_status run_again(void* user, const tsr_tensor* inputs, int32_t count) noexcept {
  const ScopePause outside_scopes;
  try {
    std::vector<Tensor> tensors;
    for (int32_t i = 0; i < count; ++i) tensors.push_back(Tensor::borrow(inputs[i]));
    static_cast<void>((*static_cast<Function*>(user))(std::as_const(tensors)));
    return TSR_OK;
  } catch (...) {
    return report_exception();
  }
}

}  // namespace detail

// Returns function(inputs) without keeping what its nodes save: the backward calls the function
// again, with tensors of the same values. The function must do the same each time. It is copied
// into the graph, with what it captures. For derivatives of any order; checkpoints can be nested.
//
//   Tensor y = checkpoint([&](const std::vector<Tensor>& in) { return block(in[0]); }, {x});
template <class Function>
auto checkpoint(Function function, const std::vector<Tensor>& inputs,
                CheckpointOptions options = {}) {
  if (!is_grad_enabled()) return function(inputs);
  std::vector<tsr_tensor> handles;
  for (const Tensor& input : inputs) handles.push_back(input.handle());
  const int32_t flags = (options.preserve_random ? 0 : TSR_CHECKPOINT_FRESH_RANDOM) |
                        (options.early_stop ? 0 : TSR_CHECKPOINT_RUN_TO_END) |
                        (options.check ? 0 : TSR_CHECKPOINT_UNCHECKED);
  auto copy = std::make_unique<Function>(function);
  // A failure drops the function too, so release it first.
  check(tsr_checkpoint_begin(
      handles.data(), static_cast<int32_t>(handles.size()), &detail::run_again<Function>,
      copy.release(), [](void* user) { delete static_cast<Function*>(user); }, flags));
  const detail::CheckpointEnd end;
  return function(inputs);
}

}  // namespace tessera
