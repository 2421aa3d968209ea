// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/grad_mode.h"

#include "autograd/tensor_record.h"

namespace tsr {

constinit thread_local ForwardMode t_forward_mode;
constinit thread_local uint32_t t_record_mask = kRequiresGradFlag;

bool view_needs_grad(const Tensor& view) {
  refresh_view(view, *record_of(view));
  return view.requires_grad();
}

namespace detail {

uint32_t view_flags(const Tensor& view) {
  const TensorRecord& record = *record_of(view);
  if (grad_enabled()) refresh_view(view, *record_of(view));
  const uint32_t flags = view.impl()->flags;
  return looks_into_base(view, record) ? flags | (record.base.impl()->flags & kDualFlag) : flags;
}

}  // namespace detail
}  // namespace tsr
