// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers as arguments.
#pragma once

#include "capi/handle.h"
#include "optim/optimizer.h"

namespace tsr::capi {

inline optim::Optimizer& optimizer_arg(tsr_optimizer handle) {
  return *object_arg<optim::Optimizer>(handle, optim::kOptimizerTag, "optimizer", "optimizer");
}

}  // namespace tsr::capi
