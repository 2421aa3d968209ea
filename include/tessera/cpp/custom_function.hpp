// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Differentiable functions written in C++: as a class, or as two lambdas.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/forward_ad.hpp"

namespace tessera {

// Passes values from forward to backward. Derive from it to add your own.
class FunctionContext {
 public:
  FunctionContext() = default;
  FunctionContext(const FunctionContext&) = delete;
  FunctionContext& operator=(const FunctionContext&) = delete;
  virtual ~FunctionContext() = default;

  // Saves inputs and outputs; backward fails if one was written in place since.
  void save_for_backward(std::vector<Tensor> tensors) { saved_ = std::move(tensors); }
  // Keeps tensors for jvp, which finds them in saved_for_forward().
  void save_for_forward(std::vector<Tensor> tensors) { forward_saved_ = std::move(tensors); }
  const std::vector<Tensor>& saved_for_forward() const { return forward_saved_; }
  // Marks the inputs that forward changed in place; forward must return them.
  void mark_dirty(std::vector<Tensor> tensors) { dirty_ = std::move(tensors); }
  // Marks the outputs that have no gradient.
  void mark_non_differentiable(std::vector<Tensor> tensors) { constant_ = std::move(tensors); }
  // Undefined gradients of outputs come as undefined Tensors instead of zeros.
  void pass_undefined_gradients() { flags_ |= TSR_NODE_UNDEFINED_GRADS; }
  // Backward cannot be differentiated.
  void mark_once_differentiable() { flags_ |= TSR_NODE_ONCE_DIFFERENTIABLE; }

  // Whether the gradient of this input is needed.
  bool needs_input_grad(size_t input) const { return needs_.at(input); }
  // In backward: the saved tensors, in order.
  std::vector<Tensor> saved_tensors() const {
    if (node_ == nullptr) return saved_;
    int64_t count = 0;
    check(tsr_node_saved_count(node_, &count));
    std::vector<Tensor> tensors;
    for (int64_t i = 0; i < count; ++i) {
      tsr_tensor saved = nullptr;
      check(tsr_node_saved(node_, i, &saved));
      tensors.push_back(Tensor::take(saved));
    }
    return tensors;
  }

 private:
  friend struct FunctionCall;

  std::vector<Tensor> saved_, forward_saved_, dirty_, constant_;
  std::vector<bool> needs_;
  int32_t flags_ = 0;
  // The node that owns this context, once it has the saved tensors. It never changes again, because
  // several threads may run the backward at once.
  tsr_node node_ = nullptr;
};

// One application of a custom function: the data that its node owns.
struct FunctionCall {
  using Backward = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  std::string name;
  std::shared_ptr<FunctionContext> context;
  Backward backward;
  Backward jvp = nullptr;        // gets and returns tangents; empty: none
  std::vector<bool> given = {};  // the inputs that are no absent tensors

  // Records which inputs there are and which need a gradient; forward asks the context for it.
  void begin(const std::vector<Tensor>& inputs) {
    const bool recording = is_grad_enabled();
    for (const Tensor& input : inputs) {
      given.push_back(input.defined());
      context->needs_.push_back(recording && input.defined() && input.requires_grad());
    }
  }

  // Makes the outputs the results of a new node if a gradient is needed. If inputs were changed in
  // place, always calls the library, which checks whether that is allowed.
  static std::vector<Tensor> finish(std::unique_ptr<FunctionCall> call,
                                    const std::vector<Tensor>& inputs,
                                    std::vector<Tensor> outputs) {
    FunctionContext& context = *call->context;
    const bool wanted =
        std::find(context.needs_.begin(), context.needs_.end(), true) != context.needs_.end();
    const bool forward_mode = tsr_forward_level() >= 0;
    if (!wanted && context.dirty_.empty() && !forward_mode) return outputs;
    alias_unchanged_inputs(context, inputs, outputs);
    tsr_node_vtable table{};
    table.struct_size = sizeof table;
    table.flags = static_cast<uint32_t>(context.flags_);
    table.backward = &FunctionCall::run;
    table.drop = [](void* user) { delete static_cast<FunctionCall*>(user); };
    if (call->jvp) table.jvp = &FunctionCall::run_jvp;
    std::vector<Tensor> present;  // the node has no places for absent ones
    std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(present),
                 [](const Tensor& input) { return input.defined(); });
    const TensorList sources(present);
    const std::string name = call->name;
    tsr_node handle = nullptr;
    // A failure drops the call too, so release it first; `kept` keeps the context alive.
    const std::shared_ptr<FunctionContext> kept = call->context;
    check(tsr_node_create(name.data(), detail::length(name), &table, call.release(), sources.data(),
                          sources.size(), &handle));
    const Node node = Node::take(handle);
    mark(node, context.dirty_, &tsr_node_mark_dirty);
    mark(node, context.constant_, &tsr_node_mark_non_differentiable);
    mark(node, context.saved_, &tsr_node_save);
    const TensorList results(outputs);
    check(tsr_node_attach(handle, results.data(), results.size()));
    context.node_ = handle;
    context.saved_.clear();  // the node keeps and checks them now
    context.forward_saved_.clear();
    context.dirty_.clear();
    context.constant_.clear();
    return outputs;
  }

 private:
  using Mark = tsr_status (*)(tsr_node, const tsr_tensor*, int32_t);

  static void mark(const Node& node, const std::vector<Tensor>& tensors, Mark function) {
    const TensorList list(tensors);
    if (!tensors.empty()) check(function(node.handle(), list.data(), list.size()));
  }

  static bool contains(const std::vector<Tensor>& tensors, const Tensor& wanted) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const Tensor& each) { return each.is_same(wanted); });
  }

  // An input that is returned unchanged would lose its history, so return an alias of it.
  static void alias_unchanged_inputs(const FunctionContext& context,
                                     const std::vector<Tensor>& inputs,
                                     std::vector<Tensor>& outputs) {
    for (Tensor& output : outputs) {
      if (output.defined() && contains(inputs, output) && !contains(context.dirty_, output))
        output = output.detach();
    }
  }

  static tsr_status run_jvp(void* user, tsr_node /*node*/, const tsr_tensor* tangents,
                            int32_t n_tangents, tsr_tensor* results, int32_t n_results) noexcept {
    const detail::ScopePause outside_scopes;
    auto& call = *static_cast<FunctionCall*>(user);
    try {
      std::vector<Tensor> known = detail::borrow_all(tangents, n_tangents);
      for (size_t i = 0; i < call.given.size(); ++i) {
        if (!call.given[i]) known.insert(known.begin() + static_cast<std::ptrdiff_t>(i), Tensor());
      }
      std::vector<Tensor> found = call.jvp(known);
      if (found.size() != static_cast<size_t>(n_results)) {
        throw AutogradError(call.name + ": expected " + std::to_string(n_results) +
                                " tangents, one for each output, got " +
                                std::to_string(found.size()),
                            call.name);
      }
      for (size_t k = 0; k < found.size(); ++k) results[k] = found[k].release();
      return TSR_OK;
    } catch (...) {
      return detail::report_exception();
    }
  }

  static tsr_status run(void* user, tsr_node /*node*/, const tsr_tensor* grad_out,
                        int32_t n_grad_out, tsr_tensor* grad_in, int32_t /*n_grad_in*/) noexcept {
    const detail::ScopePause outside_scopes;
    auto& call = *static_cast<FunctionCall*>(user);
    try {
      std::vector<Tensor> found = call.backward(detail::borrow_all(grad_out, n_grad_out));
      if (found.size() != call.given.size()) {
        throw AutogradError(call.name + ": expected " + std::to_string(call.given.size()) +
                                " gradients, one for each input, got " +
                                std::to_string(found.size()),
                            call.name);
      }
      for (size_t i = 0; i < found.size(); ++i) {
        if (!call.given[i]) continue;
        if (call.context->needs_[i]) *grad_in = found[i].release();
        ++grad_in;
      }
      return TSR_OK;
    } catch (...) {
      return detail::report_exception();
    }
  }
};

// A function as two lambdas: forward(context, inputs) returns the outputs; backward(context,
// gradients of the outputs) returns one gradient for each input (an undefined Tensor for none).
template <class Forward, class Backward>
std::vector<Tensor> apply_function(std::string_view name, const std::vector<Tensor>& inputs,
                                   Forward forward, Backward backward) {
  auto call = std::make_unique<FunctionCall>();
  call->name = name;
  call->context = std::make_shared<FunctionContext>();
  FunctionContext* context = call->context.get();
  call->backward = [context, backward](const std::vector<Tensor>& gradients) mutable {
    return backward(*context, gradients);
  };
  call->begin(inputs);
  std::vector<Tensor> outputs;
  {
    const NoGradGuard no_grad;
    const ForwardModeOff no_tangents;
    outputs = forward(*context, inputs);
  }
  return FunctionCall::finish(std::move(call), inputs, std::move(outputs));
}

namespace detail {

// What backward and jvp of a class return: a list, or the one Tensor of it.
inline std::vector<Tensor> as_list(std::vector<Tensor> tensors) {
  return tensors;
}
inline std::vector<Tensor> as_list(Tensor tensor) {
  std::vector<Tensor> tensors;
  tensors.push_back(std::move(tensor));
  return tensors;
}

template <class Derived, class Context, class = void>
struct HasJvp : std::false_type {};
template <class Derived, class Context>
struct HasJvp<Derived, Context,
              std::void_t<decltype(Derived::jvp(std::declval<Context&>(),
                                                std::declval<const std::vector<Tensor>&>()))>>
    : std::true_type {};

// Whether a range, such as a map, a list or a TensorList, has tensors as elements, whose gradients
// would get lost.
template <class Range, class = void>
struct Elements {
  using type = void;
};
template <class Range>
struct Elements<Range, std::void_t<decltype(*std::begin(std::declval<const Range&>()))>> {
  using type = std::decay_t<decltype(*std::begin(std::declval<const Range&>()))>;
};
template <class Kind>
struct IsTensor : std::is_base_of<Tensor, Kind> {};
template <class First, class Second>
struct IsTensor<std::pair<First, Second>>
    : std::bool_constant<IsTensor<std::decay_t<First>>::value || IsTensor<Second>::value> {};
template <class Other>
constexpr bool holds_tensors() {
  return IsTensor<Other>::value || IsTensor<typename Elements<Other>::type>::value;
}

}  // namespace detail

// Base class of functions that are classes. Derived has
//   static Tensor forward(Context&, arguments...)        or std::vector<Tensor>
//   static std::vector<Tensor> backward(Context&, const std::vector<Tensor>& gradients)   or Tensor
// and is called as Derived::apply(arguments...). backward returns one gradient for each argument
// that is a Tensor or std::optional<Tensor>, and for each entry of a std::vector or std::array of
// Tensors. For forward mode add
//   static std::vector<Tensor> jvp(Context&, const std::vector<Tensor>& tangents)
// which gets a tangent, or an undefined Tensor, for each Tensor argument, and returns one for each
// result; also a Tensor if there is one result. To pass other values than tensors from forward to
// backward, derive a Context with members of your own from FunctionContext.
template <class Derived, class Context = FunctionContext>
class Function {
 public:
  template <class... Arguments>
  static auto apply(const Arguments&... arguments) {
    std::vector<Tensor> inputs;
    (collect(inputs, arguments), ...);
    auto call = std::make_unique<FunctionCall>();
    auto context = std::make_shared<Context>();
    call->name = function_name();
    call->context = context;
    call->backward = [raw = context.get()](const std::vector<Tensor>& gradients) {
      return detail::as_list(Derived::backward(*raw, gradients));
    };
    if constexpr (detail::HasJvp<Derived, Context>::value) {
      call->jvp = [raw = context.get()](const std::vector<Tensor>& tangents) {
        return detail::as_list(Derived::jvp(*raw, tangents));
      };
    }
    call->begin(inputs);
    using Result = decltype(Derived::forward(*context, arguments...));
    if constexpr (std::is_same_v<Result, Tensor>) {
      std::vector<Tensor> outputs{without_recording(*context, arguments...)};
      return FunctionCall::finish(std::move(call), inputs, std::move(outputs)).front();
    } else {
      std::vector<Tensor> outputs = without_recording(*context, arguments...);
      return FunctionCall::finish(std::move(call), inputs, std::move(outputs));
    }
  }

  // The text of Node::name(); Derived may replace this function.
  static std::string name() { return "CustomFunction"; }

 private:
  template <class... Arguments>
  static auto without_recording(Context& context, const Arguments&... arguments) {
    const NoGradGuard no_grad;
    const ForwardModeOff no_tangents;
    return Derived::forward(context, arguments...);
  }

  static std::string function_name() { return Derived::name() + "Backward"; }

  static void collect(std::vector<Tensor>& inputs, const Tensor& tensor) {
    inputs.push_back(tensor);
  }
  static void collect(std::vector<Tensor>& inputs, const std::vector<Tensor>& tensors) {
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
  }
  template <size_t kSize>
  static void collect(std::vector<Tensor>& inputs, const std::array<Tensor, kSize>& tensors) {
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
  }
  // An absent tensor has a place among the inputs, as an undefined one has.
  static void collect(std::vector<Tensor>& inputs, const std::optional<Tensor>& tensor) {
    inputs.push_back(tensor.value_or(Tensor()));
  }
  template <class Other>
  static void collect(std::vector<Tensor>& /*inputs*/, const Other& /*no tensor*/) {
    static_assert(
        !detail::holds_tensors<Other>(),
        "apply: give tensors as Tensor, std::optional, std::vector or std::array of them");
  }
};

}  // namespace tessera
