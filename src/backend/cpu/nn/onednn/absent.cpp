// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Replaces conv.cpp in a build without oneDNN (TSR_ONEDNN=OFF): no plan has an implementation.
#include "backend/cpu/nn/onednn/conv.h"

namespace tsr::cpu::onednn {

std::optional<kernel::Status> conv(const kernel::ConvPlan&) {
  return std::nullopt;
}

}  // namespace tsr::cpu::onednn
