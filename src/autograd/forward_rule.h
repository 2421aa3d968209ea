// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ForwardRule: how the RECORD step gets the tangents of an op's outputs from those of its inputs.
#pragma once

#include <memory>
#include <span>

#include "autograd/node.h"

namespace tsr {

// What a rule sees. Undefined means zero everywhere.
class Forward {
 public:
  // `node` may be null if `use` has what the derivative saves.
  Forward(const Node* node, const ForwardUse& use, std::span<const Tensor> tangents,
          std::span<Tensor> results) noexcept
      : node_(node), saves_(use.saves), tangents_(tangents), results_(results) {}
  Forward(const Forward&) = delete;
  Forward& operator=(const Forward&) = delete;

  [[nodiscard]] bool has(size_t i) const noexcept { return tangents_[i].defined(); }
  // The tangent of input i.
  [[nodiscard]] const Tensor& tangent(size_t i = 0) const noexcept { return tangents_[i]; }
  [[nodiscard]] std::span<const Tensor> tangents() const noexcept { return tangents_; }
  // As tangent, but zeros like `input` in place of undefined.
  [[nodiscard]] Tensor tangent_or_zeros(size_t i, const Tensor& input) const;
  // Item i of the list of saves. Rules of in-place forms read overwritten inputs only here.
  [[nodiscard]] Tensor saved(size_t i) const {
    return saves_ != nullptr ? *saves_[i] : node_->saved(i);
  }
  // The tangent of output k: any shape that broadcasts to the output's, and any dtype.
  void set(size_t k, Tensor tangent) noexcept { results_[k] = std::move(tangent); }
  // Adds to what was set.
  void add(size_t k, const Tensor& tangent);

 private:
  const Node* node_;
  const Tensor* const* saves_;
  std::span<const Tensor> tangents_;
  std::span<Tensor> results_;
};

// Note [Rules of forward mode]
// An op gives one of these to record:
// - nothing: the derivative is applied to a gradient that is a variable, and the result, which is
//   linear in it, is differentiated by it: the transpose of the derivative. Right for every op
//   whose derivative can be differentiated, at the price of about three times the forward.
// - kElementwise, for one output: each element depends on one element of each input (up to
//   broadcasting), so the derivative applied to the tangent in place of the gradient is the
//   tangent of the output. Complex functions must be holomorphic; then the derivative conjugates
//   its factor, and so both the tangent and the result are conjugated.
// - a callable `void(Forward&)`, mostly for what is linear in each input: the op itself applied to
//   the tangent. It runs before record returns, so it may refer to the op's local variables. Ops in
//   it are recorded as everywhere.
class ForwardRule {
 public:
  struct Elementwise {};
  // `derivative` is the one that the op records.
  template <class F>
  ForwardRule(Elementwise, const F& derivative) noexcept
      : object_(&derivative),
        derive_([](const void* object, Backward& ctx) { (*static_cast<const F*>(object))(ctx); }) {}
  template <class F>
  requires(std::is_invocable_v<const F&, Forward&>) ForwardRule(const F& rule)
  noexcept
      : object_(&rule),
        call_([](const void* object, Forward& ctx) { (*static_cast<const F*>(object))(ctx); }) {}

  [[nodiscard]] bool is_elementwise() const noexcept { return call_ == nullptr; }
  // Only for elementwise rules.
  void derive(Backward& ctx) const { derive_(object_, ctx); }
  // Only for callables.
  void operator()(Forward& ctx) const { call_(object_, ctx); }

 private:
  const void* object_;
  void (*call_)(const void*, Forward&) = nullptr;
  void (*derive_)(const void*, Backward&) = nullptr;
};
inline constexpr ForwardRule::Elementwise kElementwise{};

}  // namespace tsr
