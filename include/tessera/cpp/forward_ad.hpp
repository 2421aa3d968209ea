// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode, and derivatives of functions: jvp, vjp, jacobian, jacrev, hessian.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/forward.h"

namespace tessera {

// ---- Forward mode ----

// A level of forward mode on this thread until the guard is destroyed. Guards may be nested: the
// tangent of a level may have tangents of the levels around it.
class DualLevel {
 public:
  [[nodiscard]] DualLevel() { check(tsr_forward_enter(&level_)); }
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;
  ~DualLevel() { detail::ignore(tsr_forward_exit(level_)); }

  int64_t number() const noexcept { return level_; }

 private:
  int64_t level_ = -1;
};

// Stands for the innermost level.
constexpr int64_t kInnermostLevel = -1;

// A new tensor on the primal's memory, with its history, that has a tangent.
inline Tensor make_dual(const Tensor& primal, const Tensor& tangent,
                        int64_t level = kInnermostLevel) {
  tsr_tensor dual = nullptr;
  check(tsr_make_dual(primal.handle(), tangent.handle(), level, &dual));
  return Tensor::take(dual);
}

struct UnpackedDual {
  Tensor primal;
  Tensor tangent;  // undefined: none, which means zero
};

inline UnpackedDual unpack_dual(const Tensor& dual, int64_t level = kInnermostLevel) {
  tsr_tensor primal = nullptr;
  tsr_tensor tangent = nullptr;
  check(tsr_unpack_dual(dual.handle(), level, &primal, &tangent));
  return {Tensor::take(primal), Tensor::take(tangent)};
}

// Inside, dual tensors count as ordinary ones: for the forward of a custom function.
class ForwardModeOff {
 public:
  [[nodiscard]] ForwardModeOff() { check(tsr_forward_mode_set(0, &previous_)); }
  ForwardModeOff(const ForwardModeOff&) = delete;
  ForwardModeOff& operator=(const ForwardModeOff&) = delete;
  ~ForwardModeOff() {
    int32_t ignored = 0;
    detail::ignore(tsr_forward_mode_set(previous_, &ignored));
  }

 private:
  int32_t previous_ = 0;
};

// ---- Derivatives of functions of one tensor ----

namespace detail {

inline Tensor or_zeros(Tensor tensor, const Tensor& like) {
  return tensor.defined() ? tensor : zeros_like(like);
}

// Calls each(direction) for the unit vectors of x and joins the results along a last axis.
template <class Each>
Tensor columns(const Tensor& x, const Each& each) {
  const Tensor directions = eye(x.numel(), std::nullopt, 0, x.dtype(), x.device());
  std::vector<Tensor> found;
  for (int64_t i = 0; i < x.numel(); ++i) {
    found.push_back(each(directions.select(0, i).reshape(x.shape())));
  }
  return stack(found, -1);
}

inline std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  for (const int64_t size : b) a.push_back(size);
  return a;
}

}  // namespace detail

// f(x), and the Jacobian of f at x times v; by forward mode.
template <class F>
std::pair<Tensor, Tensor> jvp(const F& f, const Tensor& x, const Tensor& v) {
  const DualLevel level;
  const UnpackedDual y = unpack_dual(f(make_dual(x, v)));
  return {y.primal, detail::or_zeros(y.tangent, y.primal)};
}

// f(x), and v times the Jacobian of f at x; by a backward.
template <class F>
std::pair<Tensor, Tensor> vjp(const F& f, const Tensor& x, const Tensor& v) {
  const bool recorded = is_grad_enabled();
  const EnableGradGuard on;
  Tensor leaf = recorded && x.requires_grad() ? x : x.detach();
  if (!leaf.requires_grad()) leaf.requires_grad_();
  const Tensor y = f(leaf);
  if (!y.requires_grad()) return {y, zeros_like(x)};
  BackwardOptions options;
  options.create_graph = recorded && x.requires_grad();
  options.allow_unused = true;
  const Tensor g = detail::or_zeros(grad(y, leaf, v, options).front(), x);
  return {options.create_graph ? y : y.detach(), g};
}

// The Jacobian of f at x, of the shape of f(x) and then that of x; by forward mode.
template <class F>
Tensor jacobian(const F& f, const Tensor& x) {
  if (x.numel() == 0) return zeros(detail::joined(f(x).shape(), x.shape()), x.dtype());
  std::vector<int64_t> shape;
  const Tensor found = detail::columns(x, [&](const Tensor& v) {
    Tensor column = jvp(f, x, v).second;
    shape = column.shape();
    return column;
  });
  return found.reshape(detail::joined(shape, x.shape()));
}

// As jacobian, by one batched backward: the better way where f(x) is smaller than x.
template <class F>
Tensor jacrev(const F& f, const Tensor& x) {
  const bool connected = is_grad_enabled() && x.requires_grad();
  const EnableGradGuard on;
  Tensor leaf = connected ? x : x.detach();
  if (!leaf.requires_grad()) leaf.requires_grad_();
  const Tensor y = f(leaf);
  const std::vector<int64_t> shape = detail::joined(y.shape(), x.shape());
  const int64_t rows = y.numel();
  if (rows == 0 || !y.requires_grad()) return zeros(shape, x.dtype(), x.device());
  BackwardOptions options;
  options.create_graph = connected;
  options.allow_unused = true;
  options.batched = true;
  const Tensor directions =
      eye(rows, std::nullopt, 0, y.dtype(), y.device()).reshape(detail::joined({rows}, y.shape()));
  const Tensor found = grad(y, leaf, directions, options).front();
  return found.defined() ? found.reshape(shape) : zeros(shape, x.dtype(), x.device());
}

// The second derivatives of f, a function to one number, of the shape of x twice: a batched
// backward over a recorded one.
template <class F>
Tensor hessian(const F& f, const Tensor& x) {
  const auto gradient = [&](const Tensor& at) {
    const Tensor y = f(at).reshape({});
    if (!y.requires_grad()) return zeros_like(at).detach();
    BackwardOptions options;
    options.create_graph = true;
    options.allow_unused = true;
    return detail::or_zeros(grad(y, at, {}, options).front(), at.detach());
  };
  return jacrev(gradient, x);
}

}  // namespace tessera
