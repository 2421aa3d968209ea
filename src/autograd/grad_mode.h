// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Grad mode: whether ops record on this thread, and needs_grad, the one test every op makes.
#pragma once

#include <span>

#include "tensor/grad_mode.h"
#include "tensor/tensor.h"

namespace tsr {

// Sets the mode for a scope and restores it also when the scope ends by an exception. Nestable.
class GradModeScope {
 public:
  explicit GradModeScope(GradMode mode) noexcept : previous_(t_grad_mode) { t_grad_mode = mode; }
  GradModeScope(const GradModeScope&) = delete;
  GradModeScope& operator=(const GradModeScope&) = delete;
  ~GradModeScope() { t_grad_mode = previous_; }

 private:
  GradMode previous_;
};

struct NoGrad : GradModeScope {
  NoGrad() noexcept : GradModeScope({false, t_grad_mode.inference, t_grad_mode.record_outside}) {}
};
// Inside inference mode it changes nothing: tensors made there can never be differentiated.
struct EnableGrad : GradModeScope {
  EnableGrad() noexcept
      : GradModeScope({!t_grad_mode.inference, t_grad_mode.inference, t_grad_mode.record_outside}) {
  }
};
struct InferenceMode : GradModeScope {
  InferenceMode() noexcept : GradModeScope({false, true, t_grad_mode.record}) {}
};

// Out of line: whether a tracked view needs grad. A view starts to need grad when its base is
// written in place with a tensor that needs grad. Throws kAutograd for an ambiguous view
// (ViewKind).
bool view_needs_grad(const Tensor& view);

namespace detail {
inline bool one_needs_grad(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  return tensor.has(kViewFlag) ? view_needs_grad(tensor) : tensor.requires_grad();
}
}  // namespace detail

// True when an op on these inputs must record. Undefined tensors need nothing. Checks every input,
// so that an ambiguous view throws here, before the op has written anything.
template <class... Tensors>
[[nodiscard]] inline bool needs_grad(const Tensor& first, const Tensors&... rest) {
  if (!grad_enabled()) return false;
  bool found = detail::one_needs_grad(first);
  ((found |= detail::one_needs_grad(rest)), ...);
  return found;
}
[[nodiscard]] inline bool needs_grad(std::span<const Tensor> tensors) {
  if (!grad_enabled()) return false;
  bool found = false;
  for (const Tensor& tensor : tensors) found |= detail::one_needs_grad(tensor);
  return found;
}

}  // namespace tsr
