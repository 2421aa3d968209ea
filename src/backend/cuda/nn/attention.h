// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The gradients of attention, which the family's entry calls.
#pragma once

#include "kernel/attention.h"

namespace tsr::cuda {

kernel::Status attention_backward(const kernel::AttentionPlan& plan);

}  // namespace tsr::cuda
