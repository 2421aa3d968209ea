// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/gradient_ops.h"

#include "base/error.h"

namespace tsr {
namespace {
constinit GradientOps g_ops{};
}

void set_gradient_ops(const GradientOps& ops) {
  g_ops = ops;
}

const GradientOps& gradient_ops() {
  TSR_ASSERT(g_ops.add != nullptr, "set_gradient_ops was not called");
  return g_ops;
}

}  // namespace tsr
