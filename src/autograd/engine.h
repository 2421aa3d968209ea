// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The engine: walks the graph from roots to leaves and runs its nodes, newest first.
//
// The calling thread drives all of it, so host-language callbacks run on the thread that asked. Any
// number of threads may run backwards at once, also over shared nodes and leaves. A backward inside
// a node or hook nests on the caller's stack. After an error the engine is as usable as before; the
// gradients that leaves received until then stay.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "autograd/node.h"

namespace tsr {

// Nested deeper, a backward throws kAutograd.
inline constexpr int kMaxBackwardDepth = 1000;

struct BackwardOptions {
  // Keep what nodes saved, so that a second backward can run; absent: as create_graph.
  std::optional<bool> retain_graph = std::nullopt;
  // Record the backward itself, for derivatives of derivatives.
  bool create_graph = false;
  // For grad and grad_at_edges: `grads` have an axis of samples in front, and so have the results:
  // Note [Batched backward] in node.h. An undefined gradient is the same for each sample.
  bool batched = false;
};

// Adds d(roots)/d(leaf), weighted by `grads`, to the .grad of every leaf that requires grad, or,
// when `inputs` is not empty, of those tensors only. `grads` is empty or has one entry per root; an
// undefined entry means 1 and needs a root of one element. Throws kAutograd, kShape.
void backward(std::span<const Tensor> roots, std::span<const Tensor> grads = {},
              BackwardOptions options = {}, std::span<const Tensor> inputs = {});

// Returns the gradients of `inputs` and touches no .grad; runs only nodes on a path to them. An
// input that the outputs do not depend on throws kAutograd, or gives an undefined tensor with
// `allow_unused`.
std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         std::span<const Tensor> grads = {}, BackwardOptions options = {},
                         bool allow_unused = false);

// The same for edges in place of tensors: of a gradient_edge, or of a node and the number of one of
// its outputs. backward adds to the .grad of leaves and of tensors that retain theirs; other edges
// only make the graph run up to them. Throws kIndex for a number that is no output's.
void backward_to_edges(std::span<const Tensor> roots, std::span<const Tensor> grads,
                       BackwardOptions options, std::span<const Edge> inputs);
std::vector<Tensor> grad_at_edges(std::span<const Tensor> outputs, std::span<const Edge> inputs,
                                  std::span<const Tensor> grads = {}, BackwardOptions options = {},
                                  bool allow_unused = false);

// Runs `callback` when the innermost running backward of this thread has finished; callbacks may
// queue more. Throws kAutograd outside a backward.
void queue_callback(std::function<void()> callback);
// The same when the outermost running backward of this thread has finished.
void queue_last_callback(std::function<void()> callback);

// Tells backwards apart: the innermost one that runs on this thread; null outside. Another one may
// have the same value when it has finished.
[[nodiscard]] const void* current_backward() noexcept;
// The sample of that backward whose gradients tensor hooks see now; 0 if it is not batched.
[[nodiscard]] int64_t current_sample() noexcept;

// Whether the innermost running backward of this thread, and those around it, reach all leaves:
// false when one was asked for the gradients of given inputs. Throws kAutograd outside a backward.
[[nodiscard]] bool backward_reaches_all_leaves();

// How many backwards are nested on this thread now.
[[nodiscard]] int backward_depth() noexcept;

}  // namespace tsr
