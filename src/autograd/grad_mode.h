// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Grad mode: whether ops record on this thread, and needs_grad, the one test every op makes.
#pragma once

#include <span>

#include "tensor/grad_mode.h"
#include "tensor/tensor.h"

namespace tsr {

struct ForwardLevel;

// Which tangents ops compute on this thread; see Note [Forward mode] in forward.h.
struct ForwardMode {
  ForwardLevel* level = nullptr;  // the innermost level that ops see; null: none
  uint32_t depth = 0;             // how many tangents are being computed around this call
  bool off = false;
};
extern constinit thread_local ForwardMode t_forward_mode;

// The flags for which ops on this thread record: kRequiresGradFlag in grad mode, kDualFlag while
// ops see a level of forward mode.
extern constinit thread_local uint32_t t_record_mask;

// All changes of t_grad_mode and t_forward_mode go through these two.
inline void update_record_mask() noexcept {
  const bool forward =
      t_forward_mode.level != nullptr && !t_forward_mode.off && !t_grad_mode.inference;
  t_record_mask = (t_grad_mode.record ? uint32_t{kRequiresGradFlag} : 0U) |
                  (forward ? uint32_t{kDualFlag} : 0U);
}
inline void set_grad_mode(GradMode mode) noexcept {
  t_grad_mode = mode;
  update_record_mask();
}

// Whether ops compute tangents on this thread.
[[nodiscard]] inline bool forward_enabled() noexcept {
  return (t_record_mask & kDualFlag) != 0;
}
// Whether ops on this thread record at all, for a backward or for forward mode.
[[nodiscard]] inline bool recording_enabled() noexcept {
  return t_record_mask != 0;
}

// Sets the mode for a scope and restores it also when the scope ends by an exception. Nestable.
class GradModeScope {
 public:
  explicit GradModeScope(GradMode mode) noexcept : previous_(t_grad_mode) { set_grad_mode(mode); }
  GradModeScope(const GradModeScope&) = delete;
  GradModeScope& operator=(const GradModeScope&) = delete;
  ~GradModeScope() { set_grad_mode(previous_); }

 private:
  GradMode previous_;
};

// Does not switch forward mode off.
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
// As view_needs_grad, for the flags of t_record_mask.
uint32_t view_flags(const Tensor& view);
inline uint32_t record_flags(const Tensor& tensor) {
  if (!tensor.defined()) return 0;
  return tensor.has(kViewFlag) ? view_flags(tensor) : tensor.impl()->all_flags();
}
}  // namespace detail

// True when an op on these inputs must record: one requires grad, in grad mode, or has a tangent.
// Undefined tensors need nothing. Checks every input, so that an ambiguous view throws here, before
// the op has written anything.
template <class... Tensors>
[[nodiscard]] inline bool needs_grad(const Tensor& first, const Tensors&... rest) {
  const uint32_t mask = t_record_mask;
  if (mask == 0) return false;
  uint32_t found = detail::record_flags(first);
  ((found |= detail::record_flags(rest)), ...);
  return (found & mask) != 0;
}
[[nodiscard]] inline bool needs_grad(std::span<const Tensor> tensors) {
  const uint32_t mask = t_record_mask;
  if (mask == 0) return false;
  uint32_t found = 0;
  for (const Tensor& tensor : tensors) found |= detail::record_flags(tensor);
  return (found & mask) != 0;
}
// True when the result of an op on these inputs gets a history. The part of needs_grad that has
// nothing to do with forward mode.
[[nodiscard]] inline bool needs_history(const Tensor& tensor) {
  return grad_enabled() && detail::one_needs_grad(tensor);
}
[[nodiscard]] inline bool needs_history(std::span<const Tensor> tensors) {
  if (!grad_enabled()) return false;
  bool found = false;
  for (const Tensor& tensor : tensors) found |= detail::one_needs_grad(tensor);
  return found;
}

}  // namespace tsr
