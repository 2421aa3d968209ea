// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks on nodes and on several tensors, and edges of the graph as inputs of backward and grad.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"

namespace tessera {

namespace detail {

// Writes the gradients to the places of C if the hook has replaced any of them.
inline void give_replaced(const tsr_tensor* before, std::vector<Tensor>& after, int32_t count,
                          tsr_tensor* replacements, int32_t* replaced) {
  if (after.size() != static_cast<size_t>(count)) {
    throw AutogradError("a hook of a node: expected " + std::to_string(count) + " gradients, got " +
                            std::to_string(after.size()),
                        "hook");
  }
  bool changed = false;
  for (int32_t i = 0; i < count; ++i) {
    changed = changed || after[static_cast<size_t>(i)].handle() != before[i];
  }
  if (!changed) return;
  for (int32_t i = 0; i < count; ++i) replacements[i] = after[static_cast<size_t>(i)].release();
  *replaced = 1;
}

template <class Callable>
struct NodeCallback {
  static tsr_status pre(void* user, const tsr_tensor* grads, int32_t n_grads,
                        tsr_tensor* replacements, int32_t* replaced) noexcept {
    const ScopePause outside_scopes;
    try {
      std::vector<Tensor> given = borrow_all(grads, n_grads);
      (*static_cast<Callable*>(user))(given);
      give_replaced(grads, given, n_grads, replacements, replaced);
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }

  static tsr_status post(void* user, const tsr_tensor* results, int32_t n_results,
                         const tsr_tensor* grads, int32_t n_grads, tsr_tensor* replacements,
                         int32_t* replaced) noexcept {
    const ScopePause outside_scopes;
    try {
      std::vector<Tensor> made = borrow_all(results, n_results);
      const std::vector<Tensor> given = borrow_all(grads, n_grads);
      (*static_cast<Callable*>(user))(made, given);
      give_replaced(results, made, n_results, replacements, replaced);
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }

  static tsr_status all(void* user, const tsr_tensor* grads, int32_t n_grads) noexcept {
    const ScopePause outside_scopes;
    try {
      const std::vector<Tensor> given = borrow_all(grads, n_grads);
      (*static_cast<Callable*>(user))(given);
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }

  static tsr_status any(void* user, const tsr_tensor* grads, int32_t n_grads) noexcept {
    const ScopePause outside_scopes;
    try {
      for (int32_t i = 0; i < n_grads; ++i) {
        if (grads[i] != nullptr) (*static_cast<Callable*>(user))(Tensor::borrow(grads[i]));
      }
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }
};

template <class Callable>
HookHandle add_multi_hook(const TensorList& tensors, Callable callable, tsr_multi_hook_mode mode,
                          tsr_multi_hook_fn run) {
  auto owned = std::make_unique<Callable>(std::move(callable));
  tsr_multi_hook_vtable table{};
  table.struct_size = sizeof table;
  table.mode = mode;
  table.run = run;
  table.drop = &Callback<Callable>::drop;
  int64_t id = 0;
  check(tsr_multi_hook_add(tensors.data(), tensors.size(), &table, owned.release(), &id));
  return HookHandle(id);
}

// Edges as C's two lists.
struct EdgeLists {
  explicit EdgeLists(const std::vector<Node::Edge>& edges) {
    for (const Node::Edge& edge : edges) {
      nodes.push_back(edge.node.handle());
      numbers.push_back(edge.output);
    }
  }
  int32_t count() const noexcept { return static_cast<int32_t>(nodes.size()); }
  std::vector<tsr_node> nodes;
  std::vector<int64_t> numbers;
};

}  // namespace detail

// ---- Hooks on nodes ----

template <class Hook>
HookHandle Node::register_prehook(Hook hook) const {
  auto owned = std::make_unique<Hook>(std::move(hook));
  int64_t id = 0;
  check(tsr_node_prehook_add(handle_, &detail::NodeCallback<Hook>::pre, owned.release(),
                             &detail::Callback<Hook>::drop, &id));
  return HookHandle(id);
}

template <class Hook>
HookHandle Node::register_hook(Hook hook) const {
  auto owned = std::make_unique<Hook>(std::move(hook));
  int64_t id = 0;
  check(tsr_node_posthook_add(handle_, &detail::NodeCallback<Hook>::post, owned.release(),
                              &detail::Callback<Hook>::drop, &id));
  return HookHandle(id);
}

// ---- Hooks on several tensors ----

// Calls hook(gradients), a const std::vector<Tensor>&, once in each backward that reaches any of
// the tensors, with their gradients; undefined for those that get none. It runs when the last is
// there, or, if some get none, after the last node.
template <class Hook>
HookHandle register_multi_grad_hook(const TensorList& tensors, Hook hook) {
  return detail::add_multi_hook(tensors, std::move(hook), TSR_MULTI_HOOK_ALL,
                                &detail::NodeCallback<Hook>::all);
}

// Calls hook(gradient) once in each backward, with the first gradient of one of the tensors.
template <class Hook>
HookHandle register_any_grad_hook(const TensorList& tensors, Hook hook) {
  return detail::add_multi_hook(tensors, std::move(hook), TSR_MULTI_HOOK_ANY,
                                &detail::NodeCallback<Hook>::any);
}

// ---- Edges ----

// Where the gradient of the tensor goes; for a leaf, its AccumulateGrad node.
inline Node::Edge gradient_edge(const Tensor& tensor) {
  tsr_node node = nullptr;
  int64_t output = 0;
  check(tsr_tensor_gradient_edge(tensor.handle(), &node, &output));
  return {Node::take(node), output};
}

// As backward with inputs, for edges. At one that belongs to no leaf only hooks run.
inline void backward_to_edges(const TensorList& roots, const std::vector<Node::Edge>& inputs,
                              const TensorList& gradients = {},
                              const BackwardOptions& options = {}) {
  const detail::EdgeLists edges(inputs);
  check(tsr_backward_edges(roots.data(), roots.size(), gradients.data(), gradients.size(),
                           edges.nodes.data(), edges.count(), edges.numbers.data(), edges.count(),
                           detail::backward_flags(options)));
}

// As grad, for edges.
inline std::vector<Tensor> grad_at_edges(const TensorList& outputs,
                                         const std::vector<Node::Edge>& inputs,
                                         const TensorList& gradients = {},
                                         const BackwardOptions& options = {}) {
  const detail::EdgeLists edges(inputs);
  std::vector<tsr_tensor> handles(inputs.size(), nullptr);
  check(tsr_grad_edges(outputs.data(), outputs.size(), gradients.data(), gradients.size(),
                       edges.nodes.data(), edges.count(), edges.numbers.data(), edges.count(),
                       detail::backward_flags(options), handles.data()));
  std::vector<Tensor> results;
  results.reserve(handles.size());
  for (tsr_tensor handle : handles) results.push_back(Tensor::take(handle));
  return results;
}

// Says that the tensor's memory was written outside the library: raises its version.
inline void increment_version(const Tensor& tensor) {
  check(tsr_tensor_version_increment(tensor.handle()));
}

}  // namespace tessera
