// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Alignment of elements in memory of others.
#pragma once

#include <cstdint>

#include "base/device.h"
#include "base/dtype.h"

namespace tsr {

// To how many bytes elements must be aligned. The CPU accesses the parts of a complex number one by
// one, other devices at once.
inline int64_t alignment_for(Device device, DType dtype) noexcept {
  return itemsize(device.is_cpu() ? real_dtype(dtype) : dtype);
}

// Whether kernels of the device may access elements of the dtype at this address.
inline bool is_aligned_for(Device device, DType dtype, const void* first) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(first);
  return address % static_cast<uintptr_t>(alignment_for(device, dtype)) == 0;
}

}  // namespace tsr
