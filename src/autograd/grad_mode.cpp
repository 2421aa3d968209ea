// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/grad_mode.h"

#include "autograd/tensor_record.h"

namespace tsr {

constinit thread_local ForwardMode t_forward_mode;
constinit thread_local uint32_t t_record_mask = kRequiresGradFlag;

bool view_needs_grad(const Tensor& view) {
  TensorRecord& record = *record_of(view);
  refresh_view(view, record);
  return refreshed_view_needs_grad(view, record);
}

namespace detail {

uint32_t view_flags(const Tensor& view) {
  TensorRecord& record = *record_of(view);
  uint32_t flags = view.impl()->all_flags();
  if (grad_enabled()) {
    refresh_view(view, record);
    if (refreshed_view_needs_grad(view, record)) flags |= kRequiresGradFlag;
  }
  return looks_into_base(view, record) ? flags | (record.base.impl()->all_flags() & kDualFlag)
                                       : flags;
}

}  // namespace detail
}  // namespace tsr
