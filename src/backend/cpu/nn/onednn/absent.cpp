// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Replaces conv.cpp and sgemm.cpp in a build without oneDNN (TSR_ONEDNN=OFF): there is no
// implementation.
#include "backend/cpu/nn/onednn/conv.h"
#include "backend/cpu/nn/onednn/sgemm.h"

namespace tsr::cpu::onednn {

std::optional<kernel::Status> conv(const kernel::ConvPlan&) {
  return std::nullopt;
}

bool sgemm(bool, bool, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*,
           int64_t, float, float*, int64_t) noexcept {
  return false;
}

}  // namespace tsr::cpu::onednn
