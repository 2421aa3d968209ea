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
  Forward(Node& node, std::span<const Tensor> tangents, std::span<Tensor> results) noexcept
      : node_(node), tangents_(tangents), results_(results) {}
  Forward(const Forward&) = delete;
  Forward& operator=(const Forward&) = delete;

  [[nodiscard]] bool has(size_t i) const noexcept { return tangents_[i].defined(); }
  // The tangent of input i.
  [[nodiscard]] const Tensor& tangent(size_t i = 0) const noexcept { return tangents_[i]; }
  [[nodiscard]] std::span<const Tensor> tangents() const noexcept { return tangents_; }
  // As tangent, but zeros like `input` in place of undefined.
  [[nodiscard]] Tensor tangent_or_zeros(size_t i, const Tensor& input) const;
  // Item i of the list of saves. Rules of in-place forms read overwritten inputs only here.
  [[nodiscard]] Tensor saved(size_t i) const { return node_.saved(i); }
  // The tangent of output k: any shape that broadcasts to the output's, and any dtype.
  void set(size_t k, Tensor tangent) noexcept { results_[k] = std::move(tangent); }
  // Adds to what was set.
  void add(size_t k, const Tensor& tangent);

 private:
  Node& node_;
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
  ForwardRule(Elementwise) noexcept {}
  template <class F>
  requires(std::is_invocable_v<const F&, Forward&>) ForwardRule(const F& rule)
  noexcept
      : rule_(&rule),
        call_([](const void* object, Forward& ctx) { (*static_cast<const F*>(object))(ctx); }) {}

  [[nodiscard]] bool is_elementwise() const noexcept { return call_ == nullptr; }
  void operator()(Forward& ctx) const { call_(rule_, ctx); }

 private:
  const void* rule_ = nullptr;
  void (*call_)(const void*, Forward&) = nullptr;
};
inline constexpr ForwardRule::Elementwise kElementwise{};

}  // namespace tsr
