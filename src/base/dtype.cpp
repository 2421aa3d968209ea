// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

namespace tsr {

std::optional<DType> dtype_from_abi(int32_t bits) noexcept {
  for (int index = 0; index < kDTypeCount; ++index) {
    const auto dtype = static_cast<DType>(index);
    if (dtype_to_abi(dtype) == bits) return dtype;
  }
  return std::nullopt;
}

}  // namespace tsr
