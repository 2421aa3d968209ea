// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution by oneDNN. This folder is the only one that includes oneDNN's headers.
#pragma once

#include <optional>

#include "kernel/nn.h"

namespace tsr::cpu::onednn {

// Runs the plan; nullopt when oneDNN has no implementation for it. float32 and bfloat16; the weight
// is row-major. Any thread.
std::optional<kernel::Status> conv(const kernel::ConvPlan& plan);

}  // namespace tsr::cpu::onednn
