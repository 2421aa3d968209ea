// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks on several tensors: one callable that runs once in each backward that reaches any of them.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "autograd/hooks.h"

namespace tsr {

enum class MultiHookMode : uint8_t {
  kAll,  // with the gradients of all tensors: when the last one is there, or, if some get none in
         // this backward, after its last node
  kAny,  // when the first of them is there, with that one
};

// Gets one entry for each tensor, in their order; undefined where there is no gradient.
using MultiHook = std::function<void(std::span<const Tensor> grads)>;

// What keeps the user data of a hook alive on behalf of one of its tensors.
struct MultiHookOwner {
  std::shared_ptr<void> owner;
  HostData host;
};

// Registers one hook on every tensor; a second backward, also one on another thread or inside this
// one, counts by itself, and so does each sample of a batched backward. Throws kAutograd if a
// tensor does not require grad, kInvalidArgument if there are none. `owners` is empty, or has one
// entry for each tensor: the callable is called only while one of them is alive, and that one is
// kept alive for the call.
HookHandle add_multi_hook(std::span<const Tensor> tensors, MultiHookMode mode, MultiHook hook,
                          std::span<const MultiHookOwner> owners = {});

}  // namespace tsr
