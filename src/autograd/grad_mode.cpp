// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/grad_mode.h"

#include "autograd/tensor_record.h"

namespace tsr {

bool view_needs_grad(const Tensor& view) {
  refresh_view(view, *record_of(view));
  return view.requires_grad();
}

}  // namespace tsr
