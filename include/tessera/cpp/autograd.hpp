// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Gradients, recording modes, hooks and the graph. Callbacks run on the thread that called
// backward.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/autograd.h"
#include "tessera/cpp/ops.hpp"

namespace tessera {

// ---- Gradients ----

struct BackwardOptions {
  bool retain_graph = false;  // keep the tensors that the nodes saved, for a second backward
  bool create_graph = false;  // record the backward itself, for derivatives of derivatives
  bool allow_unused = false;  // grad only: an unused input gives an undefined Tensor
  bool batched =
      false;  // grad only: gradients have an axis of samples in front; so have the results
};

namespace detail {

inline int32_t backward_flags(const BackwardOptions& options) noexcept {
  return (options.retain_graph ? TSR_BACKWARD_RETAIN_GRAPH : 0) |
         (options.create_graph ? TSR_BACKWARD_CREATE_GRAPH : 0) |
         (options.allow_unused ? TSR_BACKWARD_ALLOW_UNUSED : 0) |
         (options.batched ? TSR_BACKWARD_BATCHED : 0);
}

}  // namespace detail

// Adds the gradients of the roots to the leaves they were computed from, or to `inputs` only. An
// undefined or missing gradient of a root means 1.
inline void backward(const TensorList& roots, const TensorList& gradients = {},
                     const TensorList& inputs = {}, const BackwardOptions& options = {}) {
  check(tsr_backward(roots.data(), roots.size(), gradients.data(), gradients.size(), inputs.data(),
                     inputs.size(), detail::backward_flags(options)));
}

// The gradients of the outputs with respect to the inputs; changes no accumulated gradient.
inline std::vector<Tensor> grad(const TensorList& outputs, const TensorList& inputs,
                                const TensorList& gradients = {},
                                const BackwardOptions& options = {}) {
  std::vector<tsr_tensor> handles(static_cast<size_t>(inputs.size()), nullptr);
  check(tsr_grad(outputs.data(), outputs.size(), gradients.data(), gradients.size(), inputs.data(),
                 inputs.size(), detail::backward_flags(options), handles.data()));
  std::vector<Tensor> results;
  results.reserve(handles.size());
  for (tsr_tensor handle : handles) results.push_back(Tensor::take(handle));
  return results;
}

inline void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph) const {
  BackwardOptions options;
  options.retain_graph = retain_graph;
  options.create_graph = create_graph;
  tessera::backward(*this, gradient.defined() ? TensorList(gradient) : TensorList(), {}, options);
}

// ---- Modes of this thread ----

inline bool is_grad_enabled() noexcept {
  return tsr_grad_mode() != 0;
}
inline bool is_inference_mode() noexcept {
  return tsr_inference_mode() != 0;
}

// Switches recording on or off until the guard is destroyed.
class GradModeGuard {
 public:
  [[nodiscard]] explicit GradModeGuard(bool enabled) {
    check(tsr_grad_mode_set(enabled, &previous_));
  }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;
  ~GradModeGuard() {
    int32_t ignored = 0;
    detail::ignore(tsr_grad_mode_set(previous_, &ignored));
  }

 private:
  int32_t previous_ = 0;
};

struct NoGradGuard : GradModeGuard {
  [[nodiscard]] NoGradGuard() : GradModeGuard(false) {}
};

struct EnableGradGuard : GradModeGuard {
  [[nodiscard]] EnableGradGuard() : GradModeGuard(true) {}
};

// Inside, results have no version counter and can never be differentiated.
class InferenceGuard {
 public:
  [[nodiscard]] explicit InferenceGuard(bool enabled = true) {
    check(tsr_inference_mode_set(enabled, &previous_));
  }
  InferenceGuard(const InferenceGuard&) = delete;
  InferenceGuard& operator=(const InferenceGuard&) = delete;
  ~InferenceGuard() {
    int32_t ignored = 0;
    detail::ignore(tsr_inference_mode_set(previous_, &ignored));
  }

 private:
  int32_t previous_ = 0;
};

// ---- Hooks ----

// Removes a hook on request; destroying the handle does not remove it. Copies are the same handle,
// and a default-constructed one has no hook.
class HookHandle {
 public:
  HookHandle() noexcept = default;
  HookHandle(Tensor tensor, int64_t id) : hook_(new Hook{std::move(tensor), id}) {}
  // The hook of a node or of several tensors, which it does not keep alive.
  explicit HookHandle(int64_t id) : HookHandle(Tensor(), id) {}

  // Does nothing the second time, also if a copy was the first.
  void remove() {
    if (hook_ == nullptr) return;
    const int64_t id = std::exchange(hook_->id, 0);
    if (id == 0) return;
    const Tensor tensor = std::move(hook_->tensor);
    check(tensor.defined() ? tsr_tensor_hook_remove(tensor.handle(), id) : tsr_hook_remove(id));
  }

 private:
  struct Hook {
    Tensor tensor;
    int64_t id;
  };
  std::shared_ptr<Hook> hook_;
};

namespace detail {

// A callable as C's pair of a function and a user pointer.
template <class Callable>
struct Callback {
  static void drop(void* user) noexcept { delete static_cast<Callable*>(user); }

  static tsr_status hook(void* user, tsr_tensor grad, tsr_tensor* replacement) noexcept {
    const ScopePause outside_scopes;
    try {
      Callable& callable = *static_cast<Callable*>(user);
      if constexpr (std::is_void_v<std::invoke_result_t<Callable&, const Tensor&>>) {
        callable(Tensor::borrow(grad));
        static_cast<void>(replacement);
      } else {
        Tensor changed = callable(Tensor::borrow(grad));
        *replacement = changed.release();
      }
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }

  static tsr_status accumulate_hook(void* user, tsr_tensor leaf) noexcept {
    try {
      (*static_cast<Callable*>(user))(Tensor::borrow(leaf));
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }

  static tsr_status final(void* user) noexcept {
    try {
      (*static_cast<Callable*>(user))();
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }
};

}  // namespace detail

template <class Hook>
HookHandle Tensor::register_hook(Hook hook) const {
  auto owned = std::make_unique<Hook>(std::move(hook));
  int64_t id = 0;
  // A failure drops the hook too, so release it first.
  check(tsr_tensor_hook_add(handle_, &detail::Callback<Hook>::hook, owned.release(),
                            &detail::Callback<Hook>::drop, &id));
  return {*this, id};
}

template <class Hook>
HookHandle Tensor::register_post_accumulate_grad_hook(Hook hook) const {
  auto owned = std::make_unique<Hook>(std::move(hook));
  int64_t id = 0;
  check(tsr_tensor_accumulate_hook_add(handle_, &detail::Callback<Hook>::accumulate_hook,
                                       owned.release(), &detail::Callback<Hook>::drop, &id));
  return {*this, id};
}

// Runs the callable when the running backward of this thread has finished.
template <class Callable>
void queue_callback(Callable callable) {
  auto owned = std::make_unique<Callable>(std::move(callable));
  check(tsr_backward_queue(&detail::Callback<Callable>::final, owned.release(),
                           &detail::Callback<Callable>::drop));
}

// ---- The graph ----

// A node of the graph; an undefined one means "none".
class Node {
 public:
  struct Edge;
  struct Output;

  Node() noexcept = default;
  Node(const Node& other) noexcept : handle_(other.handle_) { tsr_node_retain(handle_); }
  Node(Node&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Node& operator=(Node other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Node() { tsr_node_release(handle_); }

  static Node take(tsr_node handle) noexcept {
    Node made;
    made.handle_ = handle;
    return made;
  }
  tsr_node handle() const noexcept { return handle_; }
  bool defined() const noexcept { return handle_ != nullptr; }

  // For example AddBackward.
  std::string name() const {
    const char* text = nullptr;
    int64_t length = 0;
    check(tsr_node_name(handle_, &text, &length));
    return {text, static_cast<size_t>(length)};
  }
  uint64_t sequence() const {
    uint64_t number = 0;
    check(tsr_node_sequence(handle_, &number));
    return number;
  }
  // The leaf that an AccumulateGrad node adds to; undefined for other nodes.
  Tensor variable() const {
    tsr_tensor leaf = nullptr;
    check(tsr_node_variable(handle_, &leaf));
    return Tensor::take(leaf);
  }
  // The destinations of the gradients of the inputs.
  std::vector<Edge> next() const;

  // The derivative of this node alone: the gradients of the function's inputs for these of its
  // outputs. An undefined tensor stands for a gradient that is zero, or not needed. No hook of the
  // node runs, and what it saved is kept. The AccumulateGrad node of a leaf adds to its gradient.
  std::vector<Tensor> run(const TensorList& grads) const;

  // Defined in graph.hpp.
  std::vector<Output> outputs() const;
  // What the node saved for the backward, and the name of each: the argument that it was, or
  // "result" for an output. Throw after a backward has freed them.
  std::vector<Tensor> saved() const;
  std::vector<std::string> saved_names() const;
  Tensor saved(std::string_view name) const;
  // Texts that belong to the node, by key; anomaly mode stores the stack of the forward as "stack".
  std::optional<std::string> metadata(std::string_view key) const;
  void set_metadata(std::string_view key, std::string_view text) const;
  // The same for values of C++; null if the key has none.
  std::any* metadata_value(std::string_view key) const;
  void set_metadata_value(std::string_view key, std::any value) const;
  void remove_metadata(std::string_view key) const;
  std::vector<std::string> metadata_keys() const;

  // Calls hook(gradients), a std::vector<Tensor>&, before a backward runs this node, and
  // hook(results, gradients), a vector that may change and one that may not, after it. What a hook
  // puts into the vector replaces the gradient. Defined in hooks.hpp.
  template <class Hook>
  HookHandle register_prehook(Hook hook) const;
  template <class Hook>
  HookHandle register_hook(Hook hook) const;
  // Keeps what pack(tensor) returns in place of saved tensor `index`, from now on, as the hooks of
  // SavedTensorHooks do for all. It must have no hooks yet. Defined in saved_tensors.hpp.
  template <class Pack, class Unpack>
  void set_saved_hooks(size_t index, Pack pack, Unpack unpack) const;

  friend bool operator==(const Node& a, const Node& b) noexcept { return a.handle_ == b.handle_; }
  friend bool operator!=(const Node& a, const Node& b) noexcept { return !(a == b); }

 private:
  tsr_node handle_ = nullptr;
};

struct Node::Edge {
  Node node;       // undefined if the gradient is not needed
  int64_t output;  // the number of that node's output that was the input
};

inline std::vector<Node::Edge> Node::next() const {
  int64_t count = 0;
  check(tsr_node_next_count(handle_, &count));
  std::vector<Edge> edges;
  for (int64_t i = 0; i < count; ++i) {
    tsr_node node = nullptr;
    int64_t output = 0;
    check(tsr_node_next(handle_, i, &node, &output));
    edges.push_back({take(node), output});
  }
  return edges;
}

inline std::vector<Tensor> Node::run(const TensorList& grads) const {
  int64_t count = 0;
  check(tsr_node_next_count(handle_, &count));
  std::vector<tsr_tensor> handles(static_cast<size_t>(count), nullptr);
  check(tsr_node_run(handle_, grads.data(), grads.size(), static_cast<int32_t>(count),
                     handles.data()));
  std::vector<Tensor> results;
  results.reserve(handles.size());
  for (tsr_tensor handle : handles) results.push_back(Tensor::take(handle));
  return results;
}

inline Node Tensor::grad_fn() const {
  tsr_node node = nullptr;
  check(tsr_tensor_grad_fn(handle_, &node));
  return Node::take(node);
}

}  // namespace tessera
